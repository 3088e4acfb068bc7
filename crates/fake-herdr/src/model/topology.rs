//! Workspaces, tabs and panes: how they are made and removed.

use std::collections::BTreeMap;

use super::Model;
use super::events::Event;
use super::layout::{Direction, Layout};
use super::screen::Screen;
use super::state::State;
use super::terminal::Terminal;
use super::tokens::Tokens;
use super::view::PaneProcess;

#[derive(Debug, Clone)]
pub(super) struct Workspace {
    /// Its public number for life.
    pub(super) key: u64,
    pub(super) label: String,
    /// Never empty.
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
    pub(super) focused: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Pane {
    /// Its number within its workspace.
    pub(super) number: u64,
    pub(super) terminal_id: u64,
    pub(super) terminal: Terminal,
    /// Whether the user has looked at the pane since its agent became idle.
    pub(super) seen: bool,
    pub(super) label: Option<String>,
    pub(super) cwd: String,
    pub(super) screen: Screen,
    pub(super) revision: u64,
    /// Whether a real terminal is behind the pane, and what was typed for it.
    pub(super) attached: bool,
    pub(super) typed: Vec<u8>,
    /// The shell behind the pane, if a real one is.
    pub(super) shell_pid: Option<u32>,
    pub(super) foreground: Vec<PaneProcess>,
    /// Since when its shell has waited at the prompt; `None` while a program runs.
    pub(super) idle_since: Option<std::time::Duration>,
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
    pub(super) fn create_workspace(
        &mut self,
        cwd: Option<String>,
        label: Option<String>,
        focus: bool,
    ) -> u64 {
        let cwd = cwd.or_else(|| self.focused_cwd()).unwrap_or_else(|| "/".to_owned());
        let pane = self.new_pane(cwd);
        self.add_workspace(pane, label, None, focus);
        self.emit_pane(pane, "pane_created");
        self.emit_layout_of(pane);
        pane
    }

    pub(super) fn focused_cwd(&self) -> Option<String> {
        self.panes.get(&self.focused_pane()?).map(|pane| pane.cwd.clone())
    }

    /// A new workspace around a pane that is nowhere yet. The first one has the
    /// focus in any case.
    pub(super) fn add_workspace(
        &mut self,
        pane: u64,
        label: Option<String>,
        tab_label: Option<String>,
        focus: bool,
    ) {
        let key = self.next_workspace;
        self.next_workspace += 1;
        let tab = Tab { number: 1, label: tab_label, layout: Layout::Pane(pane), focused: pane };
        let fallback = self.panes.get(&pane).and_then(|pane| pane.cwd.rsplit('/').next());
        let fallback = fallback.filter(|name| !name.is_empty()).unwrap_or("shell").to_owned();
        self.workspaces.push(Workspace {
            key,
            label: label.unwrap_or(fallback),
            tabs: vec![tab],
            active: 0,
            next_pane_number: 2,
            next_tab_number: 2,
            tokens: Tokens::default(),
            token_marks: BTreeMap::new(),
        });
        if let Some(pane) = self.panes.get_mut(&pane) {
            pane.number = 1;
        }
        let workspace = self.workspaces.len() - 1;
        self.emit_workspace(workspace, "workspace_created");
        self.emit_tab(Place { workspace, tab: 0 }, "tab_created");
        if focus || workspace == 0 {
            self.focus_tab(Place { workspace, tab: 0 });
        }
    }

    /// A new tab around a pane that is nowhere yet.
    pub(super) fn add_tab(
        &mut self,
        workspace: usize,
        pane: u64,
        label: Option<String>,
        focus: bool,
        number: bool,
    ) -> Place {
        if number {
            self.number_pane(workspace, pane);
        }
        let entry = &mut self.workspaces[workspace];
        let tab_number = entry.next_tab_number;
        entry.next_tab_number += 1;
        let layout = Layout::Pane(pane);
        entry.tabs.push(Tab { number: tab_number, label, layout, focused: pane });
        let place = Place { workspace, tab: entry.tabs.len() - 1 };
        self.emit_tab(place, "tab_created");
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
        ratio: f64,
        focus: bool,
    ) {
        let Some(place) = self.place_of(beside) else {
            return;
        };
        let tab = &mut self.workspaces[place.workspace].tabs[place.tab];
        tab.layout.split(beside, pane, direction, ratio);
        if focus {
            tab.focused = pane;
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

    pub(super) fn new_pane(&mut self, cwd: String) -> u64 {
        let pane = self.next_pane;
        self.next_pane += 1;
        let terminal_id = self.new_terminal_id();
        self.panes.insert(
            pane,
            Pane {
                number: 0,
                terminal_id,
                terminal: Terminal::of(&self.profile),
                seen: true,
                label: None,
                cwd,
                screen: Screen::default(),
                revision: 0,
                attached: false,
                typed: Vec::new(),
                shell_pid: None,
                foreground: Vec::new(),
                idle_since: None,
            },
        );
        pane
    }

    pub(super) fn new_terminal_id(&mut self) -> u64 {
        let id = self.next_terminal;
        self.next_terminal += 1;
        id
    }

    /// Takes a pane out of its tab and says what became empty and closed.
    pub(super) fn detach(&mut self, pane: u64) -> Closed {
        let Some(place) = self.place_of(pane) else {
            return Closed::default();
        };
        let tab_id = self.tab_id(place);
        if self.shrink(pane, place) {
            return Closed::default();
        }
        let entry = &mut self.workspaces[place.workspace];
        if entry.tabs.len() > 1 {
            entry.tabs.remove(place.tab);
            if entry.active >= place.tab && entry.active > 0 {
                entry.active -= 1;
            }
            return Closed { tab: Some(tab_id), workspace: None };
        }
        let workspace_id = self.workspace_id(place.workspace);
        let removed = self.workspaces.remove(place.workspace);
        if self.focus == Some(removed.key) {
            let next = place.workspace.min(self.workspaces.len().saturating_sub(1));
            self.focus = self.workspaces.get(next).map(|workspace| workspace.key);
        }
        Closed { tab: Some(tab_id), workspace: Some(workspace_id) }
    }

    /// Takes a pane out of a tab that has others; `false` if it has not.
    fn shrink(&mut self, pane: u64, place: Place) -> bool {
        let tab = &mut self.workspaces[place.workspace].tabs[place.tab];
        let Some(rest) = tab.layout.clone().without(pane) else {
            return false;
        };
        if tab.focused == pane {
            tab.focused = rest.panes()[0].0;
        }
        tab.layout = rest;
        true
    }

    /// A command puts the focus on a tab: its panes are seen. A focus that goes
    /// there by itself, because something else was closed, sees nothing.
    pub(super) fn focus_tab(&mut self, place: Place) {
        let entry = &mut self.workspaces[place.workspace];
        entry.active = place.tab;
        self.focus = Some(entry.key);
        // Only the next work of an agent ends its being done on TUIOS.
        if self.profile.tuios {
            return;
        }
        for (pane, _) in entry.tabs[place.tab].layout.panes() {
            if let Some(pane) = self.panes.get_mut(&pane) {
                pane.seen = true;
            }
        }
    }

    /// Tells where the focus is if it is elsewhere than when that was last told.
    /// The server does so after each turn, whatever moved the focus.
    pub(super) fn tell_focus(&mut self) {
        let now = self.focused_workspace().zip(self.focused_pane());
        if now == std::mem::replace(&mut self.told_focus, now) {
            return;
        }
        let Some((workspace, pane)) = now else {
            return;
        };
        let place = Place { workspace, tab: self.workspaces[workspace].active };
        let workspace_id = self.workspace_id(workspace);
        let tab_id = self.tab_id(place);
        let pane_id = self.pane_id(pane);
        let told = [
            ("workspace_focused", serde_json::json!({ "workspace_id": workspace_id })),
            ("tab_focused", serde_json::json!({ "tab_id": tab_id, "workspace_id": workspace_id })),
            (
                "pane_focused",
                serde_json::json!({ "pane_id": pane_id, "workspace_id": workspace_id }),
            ),
        ];
        for (kind, data) in told {
            self.events.push(Event::new(kind, data));
        }
    }

    /// How long the shown state of a pane's agent is what it is now: the number
    /// of the change that made it.
    pub(super) fn count_state_change(&mut self, pane: u64, before: State) {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        if entry.terminal.state() != before {
            self.state_changes += 1;
            entry.terminal.state_change_seq = Some(self.state_changes);
        }
    }
}
