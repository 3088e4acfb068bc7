//! Workspaces, tabs and panes: how they are made and removed, and which of them
//! has the focus.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;

use super::Model;
use super::detector::{Detector, Foreground};
use super::geometry::{Direction, Rect};
use super::layout::Layout;
use super::screen::Screen;
use super::terminal::Terminal;
use super::tokens::Tokens;

#[derive(Debug, Clone)]
pub(super) struct Workspace {
    /// The public number, which never changes.
    pub(super) key: u64,
    /// The name that the user has given it.
    pub(super) label: Option<String>,
    /// Empty only while the workspace's only pane moves to a new tab of it.
    pub(super) tabs: Vec<Tab>,
    /// The place of the active tab.
    pub(super) active: usize,
    next_pane_number: u64,
    next_tab_number: u64,
    pub(super) tokens: Tokens,
    /// The sequence marks of `workspace.report_metadata`.
    pub(super) token_marks: BTreeMap<String, u64>,
}

#[derive(Debug, Clone)]
pub(super) struct Tab {
    /// The public number, which never changes.
    pub(super) number: u64,
    pub(super) label: Option<String>,
    pub(super) layout: Layout,
    /// The tab's first pane, or the first of the rest if that one is gone.
    pub(super) root: u64,
    pub(super) zoomed: bool,
}

impl Tab {
    fn new(number: u64, label: Option<String>, pane: u64) -> Self {
        Self { number, label, layout: Layout::of(pane), root: pane, zoomed: false }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Pane {
    /// The number within the workspace.
    pub(super) number: u64,
    pub(super) terminal_id: u64,
    pub(super) terminal: Terminal,
    pub(super) detector: Detector,
    pub(super) foreground: Foreground,
    /// Whether the user has looked at the pane since its agent became idle.
    pub(super) seen: bool,
    pub(super) label: Option<String>,
    pub(super) cwd: String,
    pub(super) screen: Screen,
    pub(super) revision: u64,
    /// Whether a real terminal is behind the pane.
    pub(super) attached: bool,
    /// Typed bytes that the real terminal has not received yet.
    pub(super) typed: Vec<u8>,
    /// The times at which Enter follows a typed prompt.
    pub(super) enters: Vec<Duration>,
}

/// The place of a tab: indexes into the workspaces and into their tabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) workspace: usize,
    pub(super) tab: usize,
}

/// The ids of the tab and the workspace that closed with their last pane.
#[derive(Debug, Default)]
pub(super) struct Closed {
    pub(super) tab: Option<String>,
    pub(super) workspace: Option<String>,
}

impl Model {
    /// Makes a workspace for a pane that has no place yet. The first workspace always
    /// gets the focus.
    pub(super) fn add_workspace(
        &mut self,
        pane: u64,
        label: Option<String>,
        tab_label: Option<String>,
        focus: bool,
    ) -> Place {
        let key = self.next_workspace;
        self.next_workspace += 1;
        self.workspaces.push(Workspace {
            key,
            label,
            tabs: vec![Tab::new(1, tab_label, pane)],
            active: 0,
            next_pane_number: 2,
            next_tab_number: 2,
            tokens: Tokens::default(),
            token_marks: BTreeMap::new(),
        });
        if let Some(pane) = self.panes.get_mut(&pane) {
            pane.number = 1;
        }
        let place = Place { workspace: self.workspaces.len() - 1, tab: 0 };
        if focus || self.focus.is_none() {
            self.focus_tab(place);
        }
        place
    }

    /// Makes a tab for a pane that has no place yet.
    pub(super) fn add_tab(
        &mut self,
        workspace: usize,
        pane: u64,
        label: Option<String>,
        focus: bool,
    ) -> Place {
        let entry = &mut self.workspaces[workspace];
        let number = entry.next_tab_number;
        entry.next_tab_number += 1;
        entry.tabs.push(Tab::new(number, label, pane));
        let place = Place { workspace, tab: entry.tabs.len() - 1 };
        if focus {
            self.focus_tab(place);
        }
        place
    }

    /// Puts a pane that has no place yet beside another pane.
    pub(super) fn add_beside(
        &mut self,
        beside: u64,
        pane: u64,
        direction: Direction,
        ratio: f32,
        focus: bool,
    ) {
        let Some(place) = self.place_of(beside) else { return };
        let tab = self.tab_mut(place);
        tab.layout.split(beside, pane, direction, ratio);
        tab.zoomed = false;
        if focus {
            tab.layout.focus(pane);
            self.focus_tab(place);
        }
    }

    /// Gives a pane the next number of a workspace. A number is never used twice,
    /// even if its pane has moved away.
    pub(super) fn number_pane(&mut self, workspace: usize, pane: u64) {
        let entry = &mut self.workspaces[workspace];
        let number = entry.next_pane_number;
        entry.next_pane_number += 1;
        if let Some(pane) = self.panes.get_mut(&pane) {
            pane.number = number;
        }
    }

    /// Makes a pane that starts in a folder, or at home if the folder does not exist.
    pub(super) fn new_pane(&mut self, cwd: Option<String>) -> u64 {
        let cwd = cwd.filter(|cwd| (self.folders.name)(cwd).is_some());
        let pane = self.next_pane;
        self.next_pane += 1;
        let terminal_id = self.new_terminal_id();
        self.panes.insert(
            pane,
            Pane {
                number: 0,
                terminal_id,
                terminal: Terminal::default(),
                detector: Detector::default(),
                foreground: Foreground::default(),
                seen: true,
                label: None,
                cwd: cwd.unwrap_or_else(|| self.folders.home.clone()),
                screen: Screen::default(),
                revision: 0,
                attached: false,
                typed: Vec::new(),
                enters: Vec::new(),
            },
        );
        pane
    }

    pub(super) fn new_terminal_id(&mut self) -> u64 {
        let id = self.next_terminal;
        self.next_terminal += 1;
        id
    }

    /// Takes a pane out of its tab and returns what closed because it became empty.
    /// With `keep`, an empty workspace stays open.
    pub(super) fn detach(&mut self, pane: u64, keep: bool) -> Closed {
        let Some(place) = self.place_of(pane) else {
            return Closed::default();
        };
        let tab_id = self.tab_id(place);
        let workspace_id = self.workspace_id(place.workspace);
        let entry = &mut self.workspaces[place.workspace];
        let tab = &mut entry.tabs[place.tab];
        if let Some(rest) = tab.layout.without(pane) {
            if tab.root == pane {
                tab.root = rest.ids()[0];
            }
            tab.layout = rest;
            tab.zoomed = false;
            return Closed::default();
        }
        entry.tabs.remove(place.tab);
        if entry.active >= place.tab {
            entry.active = entry.active.saturating_sub(1);
        }
        if keep || !entry.tabs.is_empty() {
            return Closed { tab: Some(tab_id), workspace: None };
        }
        let removed = self.workspaces.remove(place.workspace);
        if self.focus == Some(removed.key) {
            let next = place.workspace.min(self.workspaces.len().saturating_sub(1));
            self.focus = self.workspaces.get(next).map(|workspace| workspace.key);
        }
        Closed { tab: Some(tab_id), workspace: Some(workspace_id) }
    }

    /// Puts the focus on a tab by command, which marks its panes as seen. A focus
    /// that moves because something else was closed does not.
    pub(super) fn focus_tab(&mut self, place: Place) {
        let entry = &mut self.workspaces[place.workspace];
        entry.active = place.tab;
        self.focus = Some(entry.key);
        for pane in entry.tabs[place.tab].layout.ids() {
            if let Some(pane) = self.panes.get_mut(&pane) {
                pane.seen = true;
            }
        }
    }

    pub(super) fn focus_pane(&mut self, pane: u64) {
        if let Some(place) = self.place_of(pane) {
            self.focus_tab(place);
            self.tab_mut(place).layout.focus(pane);
        }
    }

    /// The area of a tab beside the sidebar on a server without a client. Once there
    /// are tabs, their bar takes the first line.
    pub(super) fn area(&self) -> Rect {
        let bar = u16::from(self.shows_tabs);
        Rect { x: 26, y: bar, width: 94, height: 40 - bar }
    }

    /// Ends a turn of the server, which draws the tab bar and emits the focus events
    /// if the focus has changed since the last ones.
    pub(super) fn finish_turn(&mut self) {
        self.shows_tabs = self.focus.is_some();
        let now = self.focused_workspace().zip(self.focused_pane());
        if now == std::mem::replace(&mut self.announced_focus, now) {
            return;
        }
        let Some((workspace, pane)) = now else {
            return;
        };
        let tab_id = self.tab_id(Place { workspace, tab: self.workspaces[workspace].active });
        let pane_id = self.pane_id(pane);
        let workspace_id = self.workspace_id(workspace);
        self.emit("workspace_focused", json!({ "workspace_id": workspace_id }));
        self.emit("tab_focused", json!({ "tab_id": tab_id, "workspace_id": workspace_id }));
        self.emit("pane_focused", json!({ "pane_id": pane_id, "workspace_id": workspace_id }));
    }
}
