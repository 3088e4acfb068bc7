//! The `workspace.*` and `tab.*` methods, and the views and events of workspaces
//! and tabs.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Model;
use super::call::{Create, TabCreate, TabRename, WorkspaceFilter, WorkspaceRename};
use super::dispatch::{Outcome, ok, without_unset};
use super::events::Event;
use super::failure::Failure;
use super::ids;
use super::state::Status;
use super::topology::Place;

impl Model {
    pub(super) fn workspace_create(&mut self, create: Create) -> Outcome {
        check_env(&create.env)?;
        let focused = self.focused_pane().and_then(|pane| self.panes.get(&pane));
        let cwd = create.cwd.or_else(|| focused.map(|pane| pane.cwd.clone()));
        let pane = self.new_pane(cwd);
        let place = self.add_workspace(pane, create.label, None, create.focus);
        let workspace = self.workspace_view(place.workspace);
        self.emit("workspace_created", json!({ "workspace": workspace }));
        let (tab, root_pane) = self.emit_created(place, pane);
        Ok(json!({
            "type": "workspace_created",
            "workspace": workspace,
            "tab": tab,
            "root_pane": root_pane,
        }))
    }

    pub(super) fn workspace_list(&self) -> Value {
        json!({ "type": "workspace_list", "workspaces": self.workspace_views() })
    }

    pub(super) fn workspace_get(&self, id: &str) -> Outcome {
        let workspace = self.workspace_view(self.find_workspace(id)?);
        Ok(json!({ "type": "workspace_info", "workspace": workspace }))
    }

    pub(super) fn workspace_focus(&mut self, id: &str) -> Outcome {
        let workspace = self.find_workspace(id)?;
        self.focus_tab(Place { workspace, tab: self.workspaces[workspace].active });
        self.workspace_get(id)
    }

    pub(super) fn workspace_rename(&mut self, rename: WorkspaceRename) -> Outcome {
        let workspace = self.find_workspace(&rename.workspace_id)?;
        let id = self.workspace_id(workspace);
        self.emit("workspace_renamed", json!({ "workspace_id": id, "label": rename.label }));
        self.workspaces[workspace].label = Some(rename.label);
        self.workspace_get(&id)
    }

    pub(super) fn workspace_close(&mut self, id: &str) -> Outcome {
        let workspace = self.find_workspace(id)?;
        self.close_workspace(workspace);
        ok()
    }

    pub(super) fn tab_create(&mut self, params: TabCreate) -> Outcome {
        let TabCreate { workspace_id, create } = params;
        let workspace = match workspace_id.as_deref() {
            Some(id) => self.find_workspace(id).map_err(|failure| {
                // The real server resolves a list position only when it makes the tab.
                let code =
                    if ids::place(id).is_some() { "tab_create_failed" } else { failure.code };
                Failure { code, ..failure }
            })?,
            None => self
                .focused_workspace()
                .ok_or_else(|| Failure::workspace_not_found("with the focus"))?,
        };
        check_env(&create.env)?;
        let focused = self.focused_in(workspace).and_then(|pane| self.panes.get(&pane));
        let cwd = create.cwd.or_else(|| focused.map(|pane| pane.cwd.clone()));
        let pane = self.new_pane(cwd);
        self.number_pane(workspace, pane);
        let place = self.add_tab(workspace, pane, create.label, create.focus);
        let (tab, root_pane) = self.emit_created(place, pane);
        Ok(json!({ "type": "tab_created", "tab": tab, "root_pane": root_pane }))
    }

    pub(super) fn tab_list(&self, list: &WorkspaceFilter) -> Outcome {
        let only = list.workspace_id.as_deref().map(|id| self.find_workspace(id)).transpose()?;
        let tabs: Vec<_> = self
            .places()
            .filter(|place| only.is_none_or(|only| only == place.workspace))
            .map(|place| self.tab_view(place))
            .collect();
        Ok(json!({ "type": "tab_list", "tabs": tabs }))
    }

    pub(super) fn tab_get(&self, id: &str) -> Outcome {
        Ok(json!({ "type": "tab_info", "tab": self.tab_view(self.find_tab(id)?) }))
    }

    pub(super) fn tab_focus(&mut self, id: &str) -> Outcome {
        self.focus_tab(self.find_tab(id)?);
        self.tab_get(id)
    }

    pub(super) fn tab_rename(&mut self, rename: TabRename) -> Outcome {
        let place = self.find_tab(&rename.tab_id)?;
        let (tab_id, workspace_id) = (self.tab_id(place), self.workspace_id(place.workspace));
        let data = json!({ "tab_id": tab_id, "workspace_id": workspace_id, "label": rename.label });
        self.emit("tab_renamed", data);
        self.tab_mut(place).label = Some(rename.label);
        self.tab_get(&tab_id)
    }

    pub(super) fn tab_close(&mut self, id: &str) -> Outcome {
        let place = self.find_tab(id)?;
        self.emit_tab_closed(&self.tab_id(place), &self.workspace_id(place.workspace));
        if self.workspaces[place.workspace].tabs.len() == 1 {
            self.close_workspace(place.workspace);
        } else {
            for pane in self.tab(place).layout.ids() {
                self.remove_pane(pane);
            }
        }
        ok()
    }

    /// Closes a workspace with its panes. The only event shows the workspace as it
    /// was before.
    fn close_workspace(&mut self, workspace: usize) {
        let view = self.workspace_view(workspace);
        for pane in self.panes_of(workspace) {
            self.remove_pane(pane);
        }
        self.emit_workspace_closed(&view);
    }

    pub(super) fn workspace_views(&self) -> Vec<Value> {
        (0..self.workspaces.len()).map(|workspace| self.workspace_view(workspace)).collect()
    }

    pub(super) fn workspace_view(&self, place: usize) -> Value {
        let entry = &self.workspaces[place];
        let panes = self.panes_of(place);
        without_unset(json!({
            "workspace_id": self.workspace_id(place),
            "number": place + 1,
            "label": entry.label.clone().unwrap_or_else(|| self.folder_name(place)),
            "focused": self.focused_workspace() == Some(place),
            "pane_count": panes.len(),
            "tab_count": entry.tabs.len(),
            "active_tab_id": self.tab_id(Place { workspace: place, tab: entry.active }),
            "agent_status": self.roll_up(&panes),
            "tokens": entry.tokens.values(),
        }))
    }

    /// The name of a workspace without a label: that of the folder of its first
    /// tab's root pane.
    fn folder_name(&self, place: usize) -> String {
        let root = self.workspaces[place].tabs.first().map(|tab| tab.root);
        let cwd = root.and_then(|root| self.panes.get(&root)).map_or("/", |pane| &pane.cwd);
        if cwd == self.folders.home {
            return "~".to_owned();
        }
        (self.folders.name)(cwd).unwrap_or_else(|| cwd.to_owned())
    }

    pub(super) fn tab_view(&self, place: Place) -> Value {
        let tab = self.tab(place);
        let panes = tab.layout.ids();
        json!({
            "tab_id": self.tab_id(place),
            "workspace_id": self.workspace_id(place.workspace),
            "number": tab.number,
            "label": tab.label.clone().unwrap_or_else(|| (place.tab + 1).to_string()),
            "focused": self.is_looked_at(place),
            "pane_count": panes.len(),
            "agent_status": self.roll_up(&panes),
        })
    }

    pub(super) fn layout_view(&self, place: Place) -> Value {
        let tab = self.tab(place);
        let (area, focused) = (self.area(), tab.layout.focused());
        let panes = tab.layout.panes(area).into_iter().map(|(pane, rect)| {
            json!({ "pane_id": self.pane_id(pane), "focused": pane == focused, "rect": rect })
        });
        json!({
            "workspace_id": self.workspace_id(place.workspace),
            "tab_id": self.tab_id(place),
            "zoomed": tab.zoomed,
            "area": area,
            "focused_pane_id": self.pane_id(focused),
            "panes": panes.collect::<Vec<_>>(),
            "splits": tab.layout.splits(area),
        })
    }

    /// The most urgent status of some panes.
    fn roll_up(&self, panes: &[u64]) -> Status {
        panes.iter().map(|pane| self.status(*pane)).max().unwrap_or(Status::Unknown)
    }

    pub(super) fn emit(&mut self, kind: &'static str, data: Value) {
        self.events.push(Event::new(kind, data));
    }

    /// Emits the events of a new tab with its pane, and returns the views of both.
    fn emit_created(&mut self, place: Place, pane: u64) -> (Value, Option<Value>) {
        let (tab, pane) = (self.tab_view(place), self.pane_view(pane));
        self.emit("tab_created", json!({ "tab": tab }));
        self.emit("pane_created", json!({ "pane": pane }));
        self.emit_layout(place);
        (tab, pane)
    }

    pub(super) fn emit_tab_closed(&mut self, tab_id: &str, workspace_id: &str) {
        self.emit("tab_closed", json!({ "tab_id": tab_id, "workspace_id": workspace_id }));
    }

    pub(super) fn emit_workspace_closed(&mut self, before: &Value) {
        let data = json!({ "workspace_id": before["workspace_id"], "workspace": before });
        self.emit("workspace_closed", data);
    }

    /// Events have the ratios of splits as 64-bit floats, which shows more digits
    /// than replies do.
    pub(super) fn emit_layout(&mut self, place: Place) {
        let mut layout = self.layout_view(place);
        let tab = self.tab(place);
        for (index, split) in tab.layout.splits(self.area()).into_iter().enumerate() {
            layout["splits"][index]["ratio"] = f64::from(split.held).into();
        }
        self.emit("layout_updated", json!({ "layout": layout }));
    }
}

/// Checks that a program can get these as its environment variables.
pub(super) fn check_env(env: &BTreeMap<String, String>) -> Result<(), Failure> {
    let bad = |(name, value): (&String, &String)| {
        name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')
    };
    if env.iter().any(bad) {
        return Err(Failure::new("invalid_env", "a variable has no name or holds a NUL"));
    }
    Ok(())
}
