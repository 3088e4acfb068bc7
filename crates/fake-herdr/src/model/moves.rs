//! `pane.move`: a pane changes its place and perhaps its id (protocol 2.3).

use std::time::Duration;

use serde_json::{Value, json};

use super::Model;
use super::call::{Destination, PaneMove};
use super::dispatch::{Outcome, without_unset};
use super::failure::Failure;
use super::geometry::Direction;
use super::topology::Place;

/// A destination that exists. It holds ids, because a place in the lists can
/// change when the moved pane leaves its old tab.
enum Target {
    Beside { pane: u64, direction: Direction, ratio: f32 },
    NewTab { workspace_id: String, label: Option<String> },
    NewWorkspace { label: Option<String>, tab_label: Option<String> },
}

/// The ids of a pane, its tab and its workspace before a move.
struct Before {
    pane: String,
    tab: String,
    workspace: String,
}

impl Model {
    /// Moves a pane into a new workspace that gets the focus, as `pane.move`
    /// does, and returns its new id; `None` if there is no such pane.
    pub fn move_pane(&mut self, now: Duration, pane: &str) -> Option<String> {
        self.pass(now);
        let destination = Destination::NewWorkspace { label: None, tab_label: None };
        let pane_move = PaneMove { pane_id: pane.to_owned(), destination, focus: true };
        self.pane_move(pane_move).ok()?;
        self.finish_turn();
        self.pane_id(self.find_pane(pane).ok()?)
    }

    pub(super) fn pane_move(&mut self, params: PaneMove) -> Outcome {
        let pane = self.find_pane(&params.pane_id)?;
        let (Some(pane_id), Some(from)) = (self.pane_id(pane), self.place_of(pane)) else {
            return Err(Failure::pane_not_found(&params.pane_id));
        };
        let before = Before {
            pane: pane_id,
            tab: self.tab_id(from),
            workspace: self.workspace_id(from.workspace),
        };
        if self.tab(from).zoomed {
            return self.not_moved(pane, &before, "zoomed_tab", from, from);
        }
        let target = match params.destination {
            Destination::NewWorkspace { label, tab_label } => {
                Target::NewWorkspace { label, tab_label }
            }
            Destination::NewTab { workspace_id: None, label } => {
                Target::NewTab { workspace_id: before.workspace.clone(), label }
            }
            Destination::NewTab { workspace_id: Some(id), label } => {
                Target::NewTab { workspace_id: self.workspace_id(self.find_workspace(&id)?), label }
            }
            Destination::Tab { tab_id, target_pane_id, split, ratio } => {
                let place = self.find_tab(&tab_id)?;
                if place == from {
                    return self.not_moved(pane, &before, "same_tab", from, from);
                }
                if self.tab(place).zoomed {
                    return self.not_moved(pane, &before, "zoomed_tab", from, place);
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
                    None => self.tab(place).layout.focused(),
                };
                Target::Beside { pane: beside, direction: split, ratio: ratio.unwrap_or(0.5) }
            }
        };
        self.perform_move(pane, &before, target, params.focus)
    }

    fn perform_move(&mut self, pane: u64, before: &Before, target: Target, focus: bool) -> Outcome {
        let stays = match &target {
            Target::Beside { pane, .. } => self
                .place_of(*pane)
                .is_some_and(|to| self.workspace_id(to.workspace) == before.workspace),
            Target::NewTab { workspace_id, .. } => *workspace_id == before.workspace,
            Target::NewWorkspace { .. } => false,
        };
        let closed = self.detach(pane, stays);
        if !stays {
            self.aliases.insert(before.pane.clone(), pane);
        }
        let focus = focus || self.focus.is_none();
        let new_workspace = matches!(target, Target::NewWorkspace { .. });
        let new_tab = !matches!(target, Target::Beside { .. });
        match target {
            Target::NewWorkspace { label, tab_label } => {
                self.add_workspace(pane, label, tab_label, focus);
            }
            Target::NewTab { workspace_id, label } => {
                let workspace = self.find_workspace(&workspace_id)?;
                if !stays {
                    self.number_pane(workspace, pane);
                }
                self.add_tab(workspace, pane, label, focus);
            }
            Target::Beside { pane: beside, direction, ratio } => {
                if let Some(place) = self.place_of(beside).filter(|_| !stays) {
                    self.number_pane(place.workspace, pane);
                }
                self.add_beside(beside, pane, direction, ratio, focus);
            }
        }
        let place = self.place_of(pane).ok_or_else(|| Failure::pane_not_found(&before.pane))?;
        let source = self.find_tab(&before.tab).ok();
        let source_layout = source.map(|source| self.layout_view(source));
        let workspace = new_workspace.then(|| self.workspace_view(place.workspace));
        let tab = new_tab.then(|| self.tab_view(place));
        if let Some(tab_id) = &closed.tab {
            self.emit_tab_closed(tab_id, &before.workspace);
        }
        if let Some(id) = &closed.workspace {
            self.emit("workspace_closed", json!({ "workspace_id": id }));
        }
        if let Some(workspace) = &workspace {
            self.emit("workspace_created", json!({ "workspace": workspace }));
        }
        if let Some(tab) = &tab {
            self.emit("tab_created", json!({ "tab": tab }));
        }
        let mut moved = without_unset(json!({
            "previous_pane_id": before.pane,
            "previous_workspace_id": before.workspace,
            "previous_tab_id": before.tab,
            "pane": self.pane_view(pane),
            "created_workspace": workspace,
            "created_tab": tab,
            "closed_workspace_id": closed.workspace,
            "closed_tab_id": closed.tab,
        }));
        self.emit("pane_moved", moved.clone());
        if let Some(source) = source {
            self.emit_layout(source);
        }
        self.emit_layout(place);
        moved["changed"] = true.into();
        self.move_result(moved, source_layout, place)
    }

    fn not_moved(
        &self,
        pane: u64,
        before: &Before,
        reason: &str,
        from: Place,
        to: Place,
    ) -> Outcome {
        let moved = json!({
            "changed": false,
            "reason": reason,
            "previous_pane_id": before.pane,
            "previous_workspace_id": before.workspace,
            "previous_tab_id": before.tab,
            "pane": self.pane_view(pane),
        });
        self.move_result(moved, Some(self.layout_view(from)), to)
    }

    #[expect(clippy::unnecessary_wraps, reason = "handlers return an `Outcome`")]
    fn move_result(&self, mut moved: Value, source: Option<Value>, to: Place) -> Outcome {
        let target = self.layout_view(to);
        moved["focused_pane_id"] = target["focused_pane_id"].clone();
        moved["target_layout"] = target;
        if let Some(source) = source {
            moved["source_layout"] = source;
        }
        Ok(json!({ "type": "pane_move", "move_result": moved }))
    }
}
