//! Workspaces, tabs and panes: creating them, removing them, and the focus.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;

use super::Model;
use super::detector::{Detector, Foreground};
use super::layout::{Direction, Layout, Rect};
use super::screen::Screen;
use super::terminal::Terminal;
use super::tokens::Tokens;

#[derive(Debug, Clone)]
pub(super) struct Workspace {
    /// Its public number, which never changes.
    pub(super) key: u64,
    /// The name that a person gave it.
    pub(super) label: Option<String>,
    /// Empty only while its only pane is being moved to a new tab.
    pub(super) tabs: Vec<Tab>,
    /// The position of the active tab.
    pub(super) active: usize,
    next_pane_number: u64,
    next_tab_number: u64,
    pub(super) tokens: Tokens,
    /// The sequence marks of `workspace.report_metadata`, which are separate from those of
    /// panes.
    pub(super) token_marks: BTreeMap<String, u64>,
}

#[derive(Debug, Clone)]
pub(super) struct Tab {
    /// Its public number, which never changes.
    pub(super) number: u64,
    pub(super) label: Option<String>,
    pub(super) layout: Layout,
    /// The pane with which it began, or the pane that replaced it.
    pub(super) root: u64,
    pub(super) zoomed: bool,
}

impl Tab {
    fn around(number: u64, label: Option<String>, pane: u64) -> Self {
        Self { number, label, layout: Layout::of(pane), root: pane, zoomed: false }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Pane {
    /// Its number within its workspace.
    pub(super) number: u64,
    pub(super) terminal_id: u64,
    pub(super) terminal: Terminal,
    pub(super) detector: Detector,
    pub(super) foreground: Foreground,
    /// Whether the user has seen the pane since its agent became idle.
    pub(super) seen: bool,
    pub(super) label: Option<String>,
    pub(super) cwd: String,
    pub(super) screen: Screen,
    pub(super) revision: u64,
    /// Whether a real terminal is attached, and the bytes that were typed for it.
    pub(super) attached: bool,
    pub(super) typed: Vec<u8>,
    /// When the Enters of typed prompts are due.
    pub(super) enters: Vec<Duration>,
}

/// The place of a pane: positions in the lists of workspaces and tabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) workspace: usize,
    pub(super) tab: usize,
}

/// The tab and the workspace that closed with their last pane, by their ids.
#[derive(Debug, Default)]
pub(super) struct Closed {
    pub(super) tab: Option<String>,
    pub(super) workspace: Option<String>,
}

impl Model {
    /// Adds a workspace around a pane that is not in a tab yet. The first workspace always gets
    /// the focus.
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
            tabs: vec![Tab::around(1, tab_label, pane)],
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

    /// Adds a tab around a pane that is not in a tab yet.
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
        entry.tabs.push(Tab::around(number, label, pane));
        let place = Place { workspace, tab: entry.tabs.len() - 1 };
        if focus {
            self.focus_tab(place);
        }
        place
    }

    /// Adds a pane that is not in a tab yet beside another one.
    pub(super) fn add_beside(
        &mut self,
        beside: u64,
        pane: u64,
        direction: Direction,
        ratio: f32,
        focus: bool,
    ) {
        let Some(place) = self.place_of(beside) else { return };
        let tab = &mut self.workspaces[place.workspace].tabs[place.tab];
        tab.layout.split(beside, pane, direction, ratio);
        tab.zoomed = false;
        if focus {
            tab.layout.focus(pane);
            self.focus_tab(place);
        }
    }

    /// Gives a pane the next number in a workspace. Numbers are never used again, even if a
    /// move has freed one.
    pub(super) fn number_pane(&mut self, workspace: usize, pane: u64) {
        let entry = &mut self.workspaces[workspace];
        let number = entry.next_pane_number;
        entry.next_pane_number += 1;
        if let Some(pane) = self.panes.get_mut(&pane) {
            pane.number = number;
        }
    }

    /// Creates a pane that starts in a folder, or in the home folder if that does not exist.
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

    /// Removes a pane from its tab and returns what closed because it became empty. With
    /// `keep`, the workspace of its only pane stays open.
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

    /// Focuses a tab by a command, which marks its panes as seen. When the focus moves because
    /// something was closed, panes are not marked.
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
            self.workspaces[place.workspace].tabs[place.tab].layout.focus(pane);
        }
    }

    /// The area of a tab beside the sidebar of a server without clients. The first line is used
    /// for tabs if there are several.
    pub(super) fn area(&self) -> Rect {
        let bar = u16::from(self.shows_tabs);
        Rect { x: 26, y: bar, width: 94, height: 40 - bar }
    }

    /// The server's work at the end of each turn: it draws, and emits events if the focus has
    /// changed since the last ones.
    pub(super) fn settle_view(&mut self) {
        self.shows_tabs = self.focus.is_some();
        let now = self.focused_workspace().zip(self.focused_pane());
        if now == std::mem::replace(&mut self.told_focus, now) {
            return;
        }
        let Some((workspace, pane)) = now else {
            return;
        };
        let tab_id = self.tab_id(Place { workspace, tab: self.workspaces[workspace].active });
        let pane_id = self.pane_id(pane);
        let workspace_id = self.workspace_id(workspace);
        self.tell("workspace_focused", json!({ "workspace_id": workspace_id }));
        self.tell("tab_focused", json!({ "tab_id": tab_id, "workspace_id": workspace_id }));
        self.tell("pane_focused", json!({ "pane_id": pane_id, "workspace_id": workspace_id }));
    }
}
