//! `pane.move`: a pane changes its place and perhaps its id (protocol 2.3).

use std::time::Duration;

use super::Model;
use super::events::Event;
use super::failure::Failure;
use super::layout::Direction;
use super::params::{Destination, PaneMove};
use super::topology::{Closed, Place};
use super::view::{LayoutView, MoveView, Outcome};

/// A destination that was found. Its ids stay right when something before it in
/// the lists closes.
enum Target {
    /// The pane is in that tab already.
    Here,
    Beside {
        pane: u64,
        direction: Direction,
        ratio: f64,
    },
    NewTab {
        workspace_id: String,
        label: Option<String>,
    },
    NewWorkspace {
        label: Option<String>,
        tab_label: Option<String>,
    },
}

/// What a move had to make.
#[derive(Clone, Copy, Default)]
struct Created {
    workspace: bool,
    tab: bool,
}

/// Where a moved pane was before, by ids.
struct Before {
    pane: String,
    tab: String,
    workspace: String,
}

impl Model {
    /// Moves a pane into a new workspace that gets the focus, as `pane.move`
    /// does; the new id, or `None` if there is no such pane.
    pub fn move_pane(&mut self, now: Duration, pane: &str) -> Option<String> {
        self.advance(now);
        let destination = Destination::NewWorkspace { label: None, tab_label: None };
        let pane_move = PaneMove { pane_id: pane.to_owned(), destination, focus: true };
        self.pane_move(pane_move).ok()?;
        self.tell_focus();
        self.pane_id(self.find_pane(pane).ok()?)
    }

    pub(super) fn pane_move(&mut self, params: PaneMove) -> Result<Outcome, Failure> {
        let pane = self.find_pane(&params.pane_id)?;
        let (Some(pane_id), Some(from)) = (self.pane_id(pane), self.place_of(pane)) else {
            return Err(Failure::pane_not_found(&params.pane_id));
        };
        let before = Before {
            pane: pane_id,
            tab: self.tab_id(from),
            workspace: self.workspace_id(from.workspace),
        };
        let target = self.target(from, params.destination)?;
        if matches!(target, Target::Here) {
            let layout = self.layout_view(from);
            let mut moved = self.moved(pane, before, Some(layout), Created::default())?;
            moved.changed = false;
            moved.reason = Some("same_tab");
            return Ok(Outcome::PaneMove { move_result: Box::new(moved) });
        }
        let closed = self.leave(pane, from, &target);
        if let Some(tab_id) = &closed.tab {
            self.emit_tab_closed(tab_id, &before.workspace);
        }
        if let Some(id) = &closed.workspace {
            let data = serde_json::json!({ "workspace_id": id });
            self.events.push(Event::new("workspace_closed", data));
        }
        let created = self.settle(pane, &before, target, params.focus);
        if self.pane_id(pane).as_deref() != Some(&before.pane) {
            self.aliases.insert(before.pane.clone(), pane);
        }
        let source = self.find_tab(&before.tab);
        let source_layout = source.map(|source| self.layout_view(source));
        let mut moved = self.moved(pane, before, source_layout, created)?;
        moved.closed_tab_id = closed.tab;
        moved.closed_workspace_id = closed.workspace;
        self.emit_moved(&moved);
        if let Some(source) = source {
            self.emit_layout(source);
        }
        self.emit_layout_of(pane);
        Ok(Outcome::PaneMove { move_result: Box::new(moved) })
    }

    fn target(&self, from: Place, wanted: Destination) -> Result<Target, Failure> {
        Ok(match wanted {
            Destination::NewWorkspace { label, tab_label } => {
                Target::NewWorkspace { label, tab_label }
            }
            Destination::NewTab { workspace_id, label } => {
                let workspace = match workspace_id.as_deref() {
                    Some(id) => {
                        self.find_workspace(id).ok_or_else(|| Failure::workspace_not_found(id))?
                    }
                    None => from.workspace,
                };
                Target::NewTab { workspace_id: self.workspace_id(workspace), label }
            }
            Destination::Tab { tab_id, target_pane_id, split, ratio } => {
                let place = self.find_tab(&tab_id).ok_or_else(|| {
                    Failure::new("tab_not_found", format!("there is no tab {tab_id}"))
                })?;
                if place == from {
                    return Ok(Target::Here);
                }
                let beside = match target_pane_id {
                    Some(target) => self
                        .find_pane(&target)
                        .ok()
                        .filter(|found| self.place_of(*found) == Some(place))
                        .ok_or_else(|| {
                            let message = format!("pane {target} is not in tab {tab_id}");
                            Failure::new("target_pane_not_found", message)
                        })?,
                    None => self.workspaces[place.workspace].tabs[place.tab].focused,
                };
                Target::Beside { pane: beside, direction: split, ratio: ratio.unwrap_or(0.5) }
            }
        })
    }

    /// Takes the pane out of its tab. Where it goes to a new tab of a workspace
    /// that it is alone in, that workspace stays.
    fn leave(&mut self, pane: u64, from: Place, target: &Target) -> Closed {
        let stays = match target {
            Target::NewTab { workspace_id, .. } => {
                *workspace_id == self.workspace_id(from.workspace)
                    && self.panes_of(from.workspace).count() == 1
            }
            _ => false,
        };
        if !stays {
            return self.detach(pane);
        }
        let tab_id = self.tab_id(from);
        let workspace = &mut self.workspaces[from.workspace];
        workspace.tabs.clear();
        workspace.active = 0;
        Closed { tab: Some(tab_id), workspace: None }
    }

    /// Puts a pane that is nowhere where it belongs.
    fn settle(&mut self, pane: u64, before: &Before, target: Target, focus: bool) -> Created {
        match target {
            Target::Here => Created::default(),
            Target::NewWorkspace { label, tab_label } => {
                self.add_workspace(pane, label, tab_label, focus);
                Created { workspace: true, tab: true }
            }
            Target::NewTab { workspace_id, label } => {
                if let Some(workspace) = self.find_workspace(&workspace_id) {
                    let elsewhere = workspace_id != before.workspace;
                    self.add_tab(workspace, pane, label, focus, elsewhere);
                }
                Created { workspace: false, tab: true }
            }
            Target::Beside { pane: beside, direction, ratio } => {
                if let Some(place) = self.place_of(beside) {
                    if self.workspace_id(place.workspace) != before.workspace {
                        self.number_pane(place.workspace, pane);
                    }
                    self.add_beside(beside, pane, direction, ratio, focus);
                }
                Created::default()
            }
        }
    }

    /// The answer to a move that changed something and closed nothing.
    fn moved(
        &self,
        pane: u64,
        before: Before,
        source_layout: Option<LayoutView>,
        created: Created,
    ) -> Result<MoveView, Failure> {
        let place = self.place_of(pane).ok_or_else(|| Failure::pane_not_found(&before.pane))?;
        let workspace = self.workspace_view(place.workspace);
        let target_layout = self.layout_view(place);
        Ok(MoveView {
            changed: true,
            reason: None,
            previous_pane_id: before.pane,
            previous_workspace_id: before.workspace,
            previous_tab_id: before.tab,
            pane: self.info(pane)?,
            source_layout,
            focused_pane_id: target_layout.focused_pane_id.clone(),
            target_layout,
            created_workspace: workspace.filter(|_| created.workspace),
            created_tab: created.tab.then(|| self.tab_view(place)),
            closed_workspace_id: None,
            closed_tab_id: None,
        })
    }

    fn emit_moved(&mut self, moved: &MoveView) {
        let mut data = serde_json::json!({
            "pane": moved.pane,
            "previous_pane_id": moved.previous_pane_id,
            "previous_tab_id": moved.previous_tab_id,
            "previous_workspace_id": moved.previous_workspace_id,
        });
        let created = [
            ("created_workspace", serde_json::json!(moved.created_workspace)),
            ("created_tab", serde_json::json!(moved.created_tab)),
            ("closed_workspace_id", serde_json::json!(moved.closed_workspace_id)),
            ("closed_tab_id", serde_json::json!(moved.closed_tab_id)),
        ];
        for (name, value) in created.into_iter().filter(|(_, value)| !value.is_null()) {
            data[name] = value;
        }
        self.events.push(Event::new("pane_moved", data));
    }
}
