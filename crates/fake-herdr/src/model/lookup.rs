//! How workspaces, tabs and panes are found and named (protocol 2.3).

use super::Model;
use super::failure::Failure;
use super::ids::{self, PaneName, WorkspaceName};
use super::topology::{Place, Tab};
use super::tuios;

impl Model {
    /// Finds a pane by any spelling of its id, also by one from before a move.
    pub(super) fn find_pane(&self, id: &str) -> Result<u64, Failure> {
        self.resolve_pane(id).ok_or_else(|| Failure::pane_not_found(id))
    }

    /// Finds a pane by its present public id only, as the `agent.*` methods do.
    pub(super) fn find_current_pane(&self, id: &str) -> Option<u64> {
        self.resolve_pane(id).filter(|pane| self.pane_id(*pane).as_deref() == Some(id))
    }

    fn resolve_pane(&self, id: &str) -> Option<u64> {
        if let Some(pane) = self.aliases.get(id) {
            return self.panes.contains_key(pane).then_some(*pane);
        }
        if self.profile.tuios {
            return self
                .panes
                .keys()
                .copied()
                .find(|pane| self.pane_id(*pane).as_deref() == Some(id));
        }
        match ids::pane_name(id)? {
            PaneName::Raw { workspace, number } => {
                let place = self.place_of(number)?;
                let named = workspace.map(|name| self.find_workspace(name));
                named.is_none_or(|named| named == Some(place.workspace)).then_some(number)
            }
            PaneName::Numbered { workspace, number } => {
                let workspace = self.find_workspace(workspace)?;
                self.panes_of(workspace).find(|pane| self.panes[pane].number == number)
            }
        }
    }

    /// The place of a workspace in the list, by id or by that place itself.
    pub(super) fn find_workspace(&self, name: &str) -> Option<usize> {
        ids::workspace_names(name).find_map(|name| match name {
            WorkspaceName::Id(id) => {
                (0..self.workspaces.len()).find(|place| self.workspace_id(*place) == id)
            }
            WorkspaceName::Place(place) => (place < self.workspaces.len()).then_some(place),
        })
    }

    pub(super) fn find_tab(&self, id: &str) -> Option<Place> {
        let (workspace, number) = id.rsplit_once(":t")?;
        let workspace = self.find_workspace(workspace)?;
        let tabs = &self.workspaces[workspace].tabs;
        let tab = tabs.iter().position(|tab| self.spell(tab.number) == number)?;
        Some(Place { workspace, tab })
    }

    pub(super) fn place_of(&self, pane: u64) -> Option<Place> {
        self.workspaces.iter().enumerate().find_map(|(workspace, entry)| {
            let holds = |tab: &Tab| tab.layout.panes().iter().any(|(here, _)| *here == pane);
            let tab = entry.tabs.iter().position(holds)?;
            Some(Place { workspace, tab })
        })
    }

    /// The panes of a workspace, tab by tab.
    pub(super) fn panes_of(&self, workspace: usize) -> impl Iterator<Item = u64> {
        self.workspaces[workspace]
            .tabs
            .iter()
            .flat_map(|tab| tab.layout.panes())
            .map(|(pane, _)| pane)
    }

    /// The present public id of a pane.
    pub(super) fn pane_id(&self, pane: u64) -> Option<String> {
        let place = self.place_of(pane)?;
        let workspace = self.workspace_id(place.workspace);
        Some(format!("{workspace}:p{}", self.spell(self.panes.get(&pane)?.number)))
    }

    pub(super) fn workspace_id(&self, place: usize) -> String {
        format!("w{}", self.spell(self.workspaces[place].key))
    }

    fn spell(&self, number: u64) -> String {
        if self.profile.tuios { tuios::spell(number) } else { ids::encode(number) }
    }

    pub(super) fn tab_id(&self, place: Place) -> String {
        let number = self.workspaces[place.workspace].tabs[place.tab].number;
        format!("{}:t{}", self.workspace_id(place.workspace), self.spell(number))
    }

    /// The place of the workspace that the user looks at.
    pub(super) fn focused_workspace(&self) -> Option<usize> {
        let focus = self.focus?;
        self.workspaces.iter().position(|workspace| workspace.key == focus)
    }

    pub(super) fn focused_pane(&self) -> Option<u64> {
        let workspace = &self.workspaces[self.focused_workspace()?];
        Some(workspace.tabs[workspace.active].focused)
    }

    /// Whether the user looks at the tab that a pane is in. A headless server
    /// counts as one whose window has the focus.
    pub(super) fn is_looked_at(&self, place: Place) -> bool {
        self.focused_workspace() == Some(place.workspace)
            && self.workspaces[place.workspace].active == place.tab
    }
}
