//! The `workspace.*` and `tab.*` methods, and their objects.

use super::Model;
use super::events::Event;
use super::failure::Failure;
use super::layout::Layout;
use super::params::{InWorkspace, TabCreate, TabTarget, WorkspaceCreate, WorkspaceTarget};
use super::topology::Place;
use super::view::{LayoutPane, LayoutView, Outcome, TabView, WorkspaceView};

impl Model {
    pub(super) fn workspace_create(&mut self, params: WorkspaceCreate) -> Result<Outcome, Failure> {
        let pane = self.create_workspace(params.cwd, params.label, params.focus);
        let place = self.place_of(pane).unwrap_or(Place { workspace: 0, tab: 0 });
        match (self.workspace_view(place.workspace), self.pane_info(pane, self.now)) {
            (Some(workspace), Some(root_pane)) => {
                Ok(Outcome::WorkspaceCreated { workspace, tab: self.tab_view(place), root_pane })
            }
            _ => Err(Failure::new("internal_error", "the workspace could not be made")),
        }
    }

    pub(super) fn workspace_list(&self) -> Outcome {
        Outcome::WorkspaceList {
            workspaces: (0..self.workspaces.len())
                .filter_map(|workspace| self.workspace_view(workspace))
                .collect(),
        }
    }

    pub(super) fn workspace_get(&self, params: &WorkspaceTarget) -> Result<Outcome, Failure> {
        self.find_workspace(&params.workspace_id)
            .and_then(|workspace| self.workspace_view(workspace))
            .map(|workspace| Outcome::WorkspaceInfo { workspace })
            .ok_or_else(|| Failure::workspace_not_found(&params.workspace_id))
    }

    pub(super) fn workspace_focus(&mut self, params: &WorkspaceTarget) -> Result<Outcome, Failure> {
        let workspace = self
            .find_workspace(&params.workspace_id)
            .ok_or_else(|| Failure::workspace_not_found(&params.workspace_id))?;
        let tab = self.workspaces[workspace].active;
        self.focus_tab(Place { workspace, tab });
        self.workspace_get(params)
    }

    pub(super) fn workspace_close(&mut self, params: &WorkspaceTarget) -> Result<Outcome, Failure> {
        let workspace = self
            .find_workspace(&params.workspace_id)
            .ok_or_else(|| Failure::workspace_not_found(&params.workspace_id))?;
        self.close_workspace(workspace);
        Ok(Outcome::Ok)
    }

    pub(super) fn tab_create(&mut self, params: TabCreate) -> Result<Outcome, Failure> {
        let workspace = match params.workspace_id.as_deref() {
            Some(id) => self.find_workspace(id).ok_or_else(|| Failure::workspace_not_found(id))?,
            None => self
                .focused_workspace()
                .ok_or_else(|| Failure::workspace_not_found("with the focus"))?,
        };
        let cwd = params.cwd.or_else(|| self.focused_cwd()).unwrap_or_else(|| "/".to_owned());
        let pane = self.new_pane(cwd);
        let place = self.add_tab(workspace, pane, params.label, params.focus, true);
        self.emit_pane(pane, "pane_created");
        self.emit_layout(place);
        self.pane_info(pane, self.now)
            .map(|root_pane| Outcome::TabCreated { tab: self.tab_view(place), root_pane })
            .ok_or_else(|| Failure::new("internal_error", "the tab could not be made"))
    }

    pub(super) fn tab_list(&self, params: &InWorkspace) -> Result<Outcome, Failure> {
        let only = params
            .workspace_id
            .as_deref()
            .map(|id| self.find_workspace(id).ok_or_else(|| Failure::workspace_not_found(id)))
            .transpose()?;
        let places = self.workspaces.iter().enumerate().flat_map(|(workspace, entry)| {
            (0..entry.tabs.len()).map(move |tab| Place { workspace, tab })
        });
        Ok(Outcome::TabList {
            tabs: places
                .filter(|place| only.is_none_or(|only| only == place.workspace))
                .map(|place| self.tab_view(place))
                .collect(),
        })
    }

    pub(super) fn tab_get(&self, params: &TabTarget) -> Result<Outcome, Failure> {
        let place = self.find_tab(&params.tab_id).ok_or_else(|| tab_not_found(&params.tab_id))?;
        Ok(Outcome::TabInfo { tab: self.tab_view(place) })
    }

    pub(super) fn tab_focus(&mut self, params: &TabTarget) -> Result<Outcome, Failure> {
        let place = self.find_tab(&params.tab_id).ok_or_else(|| tab_not_found(&params.tab_id))?;
        self.focus_tab(place);
        self.tab_get(params)
    }

    pub(super) fn tab_close(&mut self, params: &TabTarget) -> Result<Outcome, Failure> {
        let place = self.find_tab(&params.tab_id).ok_or_else(|| tab_not_found(&params.tab_id))?;
        let workspace_id = self.workspace_id(place.workspace);
        let tab_id = self.tab_id(place);
        self.emit_tab_closed(&tab_id, &workspace_id);
        if self.workspaces[place.workspace].tabs.len() == 1 {
            self.close_workspace(place.workspace);
        } else {
            let panes = self.workspaces[place.workspace].tabs[place.tab].layout.panes();
            for (pane, _) in panes {
                self.take_away(pane);
            }
        }
        Ok(Outcome::Ok)
    }

    /// Closes a workspace with all that is in it. The only event has it as it was
    /// before.
    fn close_workspace(&mut self, workspace: usize) {
        let view = self.workspace_view(workspace);
        for pane in self.panes_of(workspace).collect::<Vec<_>>() {
            self.take_away(pane);
        }
        self.emit_workspace_closed(view);
    }

    pub(super) fn workspace_view(&self, place: usize) -> Option<WorkspaceView> {
        let entry = self.workspaces.get(place)?;
        Some(WorkspaceView {
            workspace_id: self.workspace_id(place),
            number: place + 1,
            label: entry.label.clone(),
            focused: self.focused_workspace() == Some(place),
            pane_count: self.panes_of(place).count(),
            tab_count: entry.tabs.len(),
            active_tab_id: self.tab_id(Place { workspace: place, tab: entry.active }),
            agent_status: self.roll_up(self.panes_of(place)),
            tokens: entry.tokens.values(self.now),
        })
    }

    pub(super) fn tab_view(&self, place: Place) -> TabView {
        let tab = &self.workspaces[place.workspace].tabs[place.tab];
        let panes = tab.layout.panes();
        TabView {
            tab_id: self.tab_id(place),
            workspace_id: self.workspace_id(place.workspace),
            number: tab.number,
            label: tab.label.clone().unwrap_or_else(|| (place.tab + 1).to_string()),
            focused: self.is_looked_at(place),
            pane_count: panes.len(),
            agent_status: self.roll_up(panes.into_iter().map(|(pane, _)| pane)),
        }
    }

    pub(super) fn layout_view(&self, place: Place) -> LayoutView {
        let tab = &self.workspaces[place.workspace].tabs[place.tab];
        let id = |pane| self.pane_id(pane).unwrap_or_default();
        LayoutView {
            workspace_id: self.workspace_id(place.workspace),
            tab_id: self.tab_id(place),
            zoomed: false,
            area: Layout::area(),
            focused_pane_id: id(tab.focused),
            panes: tab
                .layout
                .panes()
                .into_iter()
                .map(|(pane, rect)| LayoutPane {
                    pane_id: id(pane),
                    focused: pane == tab.focused,
                    rect,
                })
                .collect(),
            splits: tab.layout.splits(),
        }
    }

    pub(super) fn emit_workspace(&mut self, workspace: usize, kind: &'static str) {
        if let Some(view) = self.workspace_view(workspace) {
            self.events.push(Event::new(kind, serde_json::json!({ "workspace": view })));
        }
    }

    pub(super) fn emit_tab(&mut self, place: Place, kind: &'static str) {
        let view = self.tab_view(place);
        self.events.push(Event::new(kind, serde_json::json!({ "tab": view })));
    }

    pub(super) fn emit_workspace_closed(&mut self, before: Option<WorkspaceView>) {
        if let Some(workspace) = before {
            let data = serde_json::json!({
                "workspace_id": workspace.workspace_id,
                "workspace": workspace,
            });
            self.events.push(Event::new("workspace_closed", data));
        }
    }

    pub(super) fn emit_tab_closed(&mut self, tab_id: &str, workspace_id: &str) {
        let data = serde_json::json!({ "tab_id": tab_id, "workspace_id": workspace_id });
        self.events.push(Event::new("tab_closed", data));
    }

    pub(super) fn emit_layout_of(&mut self, pane: u64) {
        if let Some(place) = self.place_of(pane) {
            self.emit_layout(place);
        }
    }

    pub(super) fn emit_layout(&mut self, place: Place) {
        let view = self.layout_view(place);
        self.events.push(Event::new("layout_updated", serde_json::json!({ "layout": view })));
    }
}

fn tab_not_found(id: &str) -> Failure {
    Failure::new("tab_not_found", format!("there is no tab {id}"))
}
