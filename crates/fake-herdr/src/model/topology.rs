//! Workspaces, tabs and panes: how they are made and removed, and where the
//! focus is.

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
    /// Its public number for life.
    pub(super) key: u64,
    /// The name a person gave it.
    pub(super) label: Option<String>,
    /// Empty only while its only pane is on the way to a tab of its own.
    pub(super) tabs: Vec<Tab>,
    /// The place of the active tab.
    pub(super) active: usize,
    next_pane_number: u64,
    next_tab_number: u64,
    pub(super) tokens: Tokens,
    /// The third set of marks, that of `workspace.report_metadata`.
    pub(super) token_marks: BTreeMap<String, u64>,
}

#[derive(Debug, Clone)]
pub(super) struct Tab {
    /// Its public number for life.
    pub(super) number: u64,
    pub(super) label: Option<String>,
    pub(super) layout: Layout,
    /// The pane that it began with, or what took its place.
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
    /// Whether the user has looked at the pane since its agent became idle.
    pub(super) seen: bool,
    pub(super) label: Option<String>,
    pub(super) cwd: String,
    pub(super) screen: Screen,
    pub(super) revision: u64,
    /// Whether a real terminal is behind the pane, and what was typed for it.
    pub(super) attached: bool,
    pub(super) typed: Vec<u8>,
    /// When Enter follows a prompt that was typed.
    pub(super) enters: Vec<Duration>,
}

/// Where a pane is: places in the list of workspaces and of tabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) workspace: usize,
    pub(super) tab: usize,
}

/// What went with the last pane in it, by its id.
#[derive(Debug, Default)]
pub(super) struct Closed {
    pub(super) tab: Option<String>,
    pub(super) workspace: Option<String>,
}

impl Model {
    /// A new workspace around a pane that is nowhere yet. The first one has the
    /// focus in any case.
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

    /// A new tab around a pane that is nowhere yet.
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

    /// Puts a pane that is nowhere yet beside another one.
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

    /// Gives a pane the next number of a workspace. A number is never given
    /// twice, also when a move has freed it.
    pub(super) fn number_pane(&mut self, workspace: usize, pane: u64) {
        let entry = &mut self.workspaces[workspace];
        let number = entry.next_pane_number;
        entry.next_pane_number += 1;
        if let Some(pane) = self.panes.get_mut(&pane) {
            pane.number = number;
        }
    }

    /// A pane that starts in a folder, or at home where there is no such folder.
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

    /// Takes a pane out of its tab and says what became empty and closed. The
    /// workspace of its only pane stays where `keep` says so.
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

    /// A command puts the focus on a tab: its panes are seen. A focus that goes
    /// there by itself, because something else was closed, sees nothing.
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

    /// The cells that a tab has beside the sidebar of a server without a client.
    /// Its first line is for the tabs, once there are any.
    pub(super) fn area(&self) -> Rect {
        let bar = u16::from(self.shows_tabs);
        Rect { x: 26, y: bar, width: 94, height: 40 - bar }
    }

    /// What the server does at the end of each turn: it draws, and tells where
    /// the focus is if it is elsewhere than when that was last told.
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
