//! How workspaces, tabs and panes are found and named (protocol 2.3).

use super::Model;
use super::failure::Failure;
use super::ids::{self, PaneName};
use super::topology::{Place, Tab};

impl Model {
    /// Finds a pane by any spelling of its id, or by an id from before a move.
    pub(super) fn find_pane(&self, id: &str) -> Result<u64, Failure> {
        self.resolve_pane(id).ok_or_else(|| Failure::pane_not_found(id))
    }

    /// Finds a pane only by its current public id, as the `agent.*` methods do.
    pub(super) fn find_current_pane(&self, id: &str) -> Option<u64> {
        self.resolve_pane(id).filter(|pane| self.pane_id(*pane).as_deref() == Some(id))
    }

    pub(super) fn find_or_focused(&self, id: Option<&str>) -> Result<u64, Failure> {
        match id {
            Some(id) => self.find_pane(id),
            None => self.focused_pane().ok_or_else(|| Failure::pane_not_found("with the focus")),
        }
    }

    fn resolve_pane(&self, id: &str) -> Option<u64> {
        if let Some(pane) = self.aliases.get(id) {
            return self.panes.contains_key(pane).then_some(*pane);
        }
        match ids::pane_name(id)? {
            PaneName::Raw { workspace, number } => {
                let place = self.place_of(number)?;
                let named = workspace.map(|name| self.find_workspace(name).ok());
                named.is_none_or(|named| named == Some(place.workspace)).then_some(number)
            }
            PaneName::Numbered { workspace, number } => {
                let workspace = self.find_workspace(workspace).ok()?;
                self.panes_of(workspace).into_iter().find(|pane| self.panes[pane].number == number)
            }
        }
    }

    /// Finds the place of a workspace in the list, by its id or by its position from 1.
    pub(super) fn find_workspace(&self, name: &str) -> Result<usize, Failure> {
        let by_id = (0..self.workspaces.len()).find(|place| self.workspace_id(*place) == name);
        let found = by_id.or(ids::place(name).filter(|place| *place < self.workspaces.len()));
        found.ok_or_else(|| Failure::workspace_not_found(name))
    }

    /// Finds a tab by its public number (`w1:t1`) or its position (`w1:1`, `t_w1_1`).
    pub(super) fn find_tab(&self, id: &str) -> Result<Place, Failure> {
        let find = || {
            let (workspace, tab) = match id.strip_prefix("t_") {
                Some(rest) => rest.rsplit_once('_')?,
                None => id.rsplit_once(':')?,
            };
            let workspace = self.find_workspace(workspace).ok()?;
            let tabs = &self.workspaces[workspace].tabs;
            let number = tab.strip_prefix('t').filter(|_| !id.starts_with("t_"));
            let tab = match number.map(ids::decode) {
                Some(number) => tabs.iter().position(|tab| Some(tab.number) == number)?,
                None => tab.parse::<usize>().ok()?.checked_sub(1)?,
            };
            (tab < tabs.len()).then_some(Place { workspace, tab })
        };
        find().ok_or_else(|| Failure::tab_not_found(id))
    }

    pub(super) fn place_of(&self, pane: u64) -> Option<Place> {
        self.workspaces.iter().enumerate().find_map(|(workspace, entry)| {
            let holds = |tab: &Tab| tab.layout.ids().contains(&pane);
            let tab = entry.tabs.iter().position(holds)?;
            Some(Place { workspace, tab })
        })
    }

    /// Every tab, workspace by workspace.
    pub(super) fn places(&self) -> impl Iterator<Item = Place> {
        self.workspaces.iter().enumerate().flat_map(|(workspace, entry)| {
            (0..entry.tabs.len()).map(move |tab| Place { workspace, tab })
        })
    }

    /// The panes of a workspace, tab by tab.
    pub(super) fn panes_of(&self, workspace: usize) -> Vec<u64> {
        self.workspaces[workspace].tabs.iter().flat_map(|tab| tab.layout.ids()).collect()
    }

    /// Every pane, workspace by workspace.
    pub(super) fn all_panes(&self) -> Vec<u64> {
        (0..self.workspaces.len()).flat_map(|workspace| self.panes_of(workspace)).collect()
    }

    /// The current public id of a pane.
    pub(super) fn pane_id(&self, pane: u64) -> Option<String> {
        let place = self.place_of(pane)?;
        let workspace = self.workspace_id(place.workspace);
        Some(format!("{workspace}:p{}", ids::encode(self.panes.get(&pane)?.number)))
    }

    pub(super) fn workspace_id(&self, place: usize) -> String {
        format!("w{}", ids::encode(self.workspaces[place].key))
    }

    pub(super) fn tab(&self, place: Place) -> &Tab {
        &self.workspaces[place.workspace].tabs[place.tab]
    }

    pub(super) fn tab_mut(&mut self, place: Place) -> &mut Tab {
        &mut self.workspaces[place.workspace].tabs[place.tab]
    }

    pub(super) fn tab_id(&self, place: Place) -> String {
        let number = self.tab(place).number;
        format!("{}:t{}", self.workspace_id(place.workspace), ids::encode(number))
    }

    /// The place of the focused workspace.
    pub(super) fn focused_workspace(&self) -> Option<usize> {
        let focus = self.focus?;
        self.workspaces.iter().position(|workspace| workspace.key == focus)
    }

    pub(super) fn focused_pane(&self) -> Option<u64> {
        self.focused_in(self.focused_workspace()?)
    }

    /// The focused pane of a workspace's active tab.
    pub(super) fn focused_in(&self, workspace: usize) -> Option<u64> {
        let workspace = &self.workspaces[workspace];
        workspace.tabs.get(workspace.active).map(|tab| tab.layout.focused())
    }

    /// Whether the user looks at a tab. On a headless server this is always the
    /// active tab of the focused workspace.
    pub(super) fn is_looked_at(&self, place: Place) -> bool {
        self.focused_workspace() == Some(place.workspace)
            && self.workspaces[place.workspace].active == place.tab
    }
}
