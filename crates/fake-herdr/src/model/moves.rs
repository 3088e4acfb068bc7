//! `pane.move`: a pane changes its place and perhaps its id (protocol 2.3).

use std::time::Duration;

use super::Model;
use super::events::Event;
use super::failure::Failure;
use super::layout::Direction;
use super::params::{Destination, PaneMove};
use super::topology::Place;
use super::view::{MoveView, Outcome};

impl Model {
    /// Moves a pane into a new workspace that gets the focus, as `pane.move`
    /// does; the new id, or `None` if there is no such pane.
    pub fn move_pane(&mut self, now: Duration, pane: &str) -> Option<String> {
        self.advance(now);
        let destination = Destination::NewWorkspace { label: None, tab_label: None };
        let pane_move = PaneMove { pane_id: pane.to_owned(), destination, focus: true };
        self.pane_move(pane_move).ok()?;
        self.pane_id(self.find_pane(pane).ok()?)
    }

    pub(super) fn pane_move(&mut self, params: PaneMove) -> Result<Outcome, Failure> {
        let pane = self.find_pane(&params.pane_id)?;
        let (Some(before), Some(place)) = (self.pane_id(pane), self.place_of(pane)) else {
            return Err(Failure::pane_not_found(&params.pane_id));
        };
        let previous_tab_id = self.tab_id(place);
        let previous_workspace_id = self.workspace_id(place.workspace);
        let target = self.destination(pane, place, &params.destination)?;
        if target.is_none() {
            let (info, layout) = (self.info(pane)?, self.layout_view(place));
            return Ok(Outcome::PaneMove {
                move_result: Box::new(MoveView {
                    changed: false,
                    reason: Some("already_there"),
                    previous_pane_id: before,
                    previous_workspace_id,
                    previous_tab_id,
                    pane: info,
                    source_layout: None,
                    focused_pane_id: layout.focused_pane_id.clone(),
                    target_layout: layout,
                    created_workspace: None,
                    created_tab: None,
                    closed_workspace_id: None,
                    closed_tab_id: None,
                }),
            });
        }
        let (closed_tab_id, closed_workspace_id) = self.detach(pane);
        let created = self.settle(pane, &previous_workspace_id, params.destination, params.focus);
        if self.pane_id(pane).as_deref() != Some(&before) {
            self.aliases.insert(before.clone(), pane);
        }
        let Some(place) = self.place_of(pane) else {
            return Err(Failure::pane_not_found(&params.pane_id));
        };
        let source = self.find_tab(&previous_tab_id).filter(|source| *source != place);
        let result = MoveView {
            changed: true,
            reason: None,
            previous_pane_id: before,
            previous_workspace_id,
            previous_tab_id,
            pane: self.info(pane)?,
            source_layout: source.map(|source| self.layout_view(source)),
            target_layout: self.layout_view(place),
            created_workspace: created
                .workspace
                .then(|| self.workspace_view(place.workspace))
                .flatten(),
            created_tab: created.tab.then(|| self.tab_view(place)),
            closed_workspace_id,
            closed_tab_id,
            focused_pane_id: self
                .focused_pane()
                .and_then(|pane| self.pane_id(pane))
                .unwrap_or_default(),
        };
        self.emit_moved(&result);
        Ok(Outcome::PaneMove { move_result: Box::new(result) })
    }

    /// Checks a destination; `None` when the pane is there already.
    fn destination(
        &self,
        pane: u64,
        from: Place,
        destination: &Destination,
    ) -> Result<Option<()>, Failure> {
        match destination {
            Destination::Tab { tab_id, target_pane_id, .. } => {
                let place = self.find_tab(tab_id).ok_or_else(|| {
                    Failure::new("tab_not_found", format!("there is no tab {tab_id}"))
                })?;
                if let Some(target) = target_pane_id {
                    let target = self.find_pane(target)?;
                    if self.place_of(target) != Some(place) || target == pane {
                        return Err(Failure::new(
                            "target_pane_not_found",
                            format!("the target pane is not in tab {tab_id}"),
                        ));
                    }
                }
                Ok((place != from).then_some(()))
            }
            Destination::NewTab { workspace_id: Some(id), .. } => {
                self.find_workspace(id).ok_or_else(|| Failure::workspace_not_found(id))?;
                Ok(Some(()))
            }
            Destination::NewTab { .. } | Destination::NewWorkspace { .. } => Ok(Some(())),
        }
    }

    /// Puts a detached pane where it belongs.
    fn settle(
        &mut self,
        pane: u64,
        from_workspace: &str,
        destination: Destination,
        focus: bool,
    ) -> Created {
        match destination {
            Destination::NewWorkspace { label, tab_label } => {
                self.add_workspace(pane, label, tab_label, focus);
                Created { workspace: true, tab: true }
            }
            Destination::NewTab { workspace_id, label } => {
                let name = workspace_id.as_deref().unwrap_or(from_workspace);
                let Some(workspace) = self.find_workspace(name) else {
                    // It was the last pane of the workspace, which is gone now.
                    self.add_workspace(pane, label, None, focus);
                    return Created { workspace: true, tab: true };
                };
                let elsewhere = self.workspace_id(workspace) != from_workspace;
                self.add_tab(workspace, pane, label, focus, elsewhere);
                Created { workspace: false, tab: true }
            }
            Destination::Tab { tab_id, target_pane_id, split, ratio } => {
                if let Some(place) = self.find_tab(&tab_id) {
                    if self.workspace_id(place.workspace) != from_workspace {
                        self.number_pane(place.workspace, pane);
                    }
                    let beside = target_pane_id
                        .and_then(|target| self.find_pane(&target).ok())
                        .unwrap_or(self.workspaces[place.workspace].tabs[place.tab].focused);
                    let direction = split.unwrap_or(Direction::Right);
                    self.add_beside(beside, pane, direction, ratio.unwrap_or(0.5), focus);
                }
                Created { workspace: false, tab: false }
            }
        }
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

/// What a move had to make.
struct Created {
    workspace: bool,
    tab: bool,
}
