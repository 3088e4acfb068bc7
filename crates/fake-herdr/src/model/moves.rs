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
        let target = self.target(place, params.destination)?;
        if matches!(target, Target::SameTab) {
            let (info, layout) = (self.info(pane)?, self.layout_view(place));
            return Ok(Outcome::PaneMove {
                move_result: Box::new(MoveView {
                    changed: false,
                    reason: Some("same_tab"),
                    previous_pane_id: before,
                    previous_workspace_id,
                    previous_tab_id,
                    pane: info,
                    source_layout: Some(layout.clone()),
                    focused_pane_id: layout.focused_pane_id.clone(),
                    target_layout: layout,
                    created_workspace: None,
                    created_tab: None,
                    closed_workspace_id: None,
                    closed_tab_id: None,
                }),
            });
        }
        let (closed_tab_id, closed_workspace_id, created) =
            self.take_along(pane, place, target, params.focus);
        self.look_again();
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
            focused_pane_id: self.layout_view(place).focused_pane_id,
        };
        self.emit_moved(&result);
        Ok(Outcome::PaneMove { move_result: Box::new(result) })
    }

    /// Checks a destination, and finds it before anything is moved: a place in
    /// the list of workspaces names another one afterwards.
    fn target(&self, from: Place, destination: Destination) -> Result<Target, Failure> {
        match destination {
            Destination::Tab { tab_id, target_pane_id, split, ratio } => {
                let place = self.find_tab(&tab_id).ok_or_else(|| {
                    Failure::new("tab_not_found", format!("there is no tab {tab_id}"))
                })?;
                if place == from {
                    return Ok(Target::SameTab);
                }
                let beside = match target_pane_id {
                    None => self.workspaces[place.workspace].tabs[place.tab].focused,
                    Some(target) => self
                        .find_pane(&target)
                        .ok()
                        .filter(|pane| self.place_of(*pane) == Some(place))
                        .ok_or_else(|| {
                            Failure::new(
                                "target_pane_not_found",
                                format!("there is no pane {target} in tab {tab_id}"),
                            )
                        })?,
                };
                let direction = split.unwrap_or(Direction::Right);
                Ok(Target::Beside { beside, direction, ratio: ratio.unwrap_or(0.5) })
            }
            Destination::NewTab { workspace_id, label } => {
                let workspace = match &workspace_id {
                    None => from.workspace,
                    Some(id) => {
                        self.find_workspace(id).ok_or_else(|| Failure::workspace_not_found(id))?
                    }
                };
                if workspace == from.workspace {
                    return Ok(Target::OwnNewTab { label });
                }
                Ok(Target::NewTab { workspace: self.workspaces[workspace].key, label })
            }
            Destination::NewWorkspace { label, tab_label } => {
                Ok(Target::NewWorkspace { label, tab_label })
            }
        }
    }

    /// Takes a pane out of its place and puts it where it belongs. Returns the
    /// tab and the workspace that were closed, and what was made.
    fn take_along(
        &mut self,
        pane: u64,
        from: Place,
        target: Target,
        focus: bool,
    ) -> (Option<String>, Option<String>, Created) {
        let own = self.workspaces[from.workspace].key;
        let made = |workspace, tab| Created { workspace, tab };
        if let Target::OwnNewTab { label } = target {
            // Made before the old place is left: the workspace stays, with the
            // pane's id, even if this is its only pane.
            self.add_tab(from.workspace, pane, label, focus, false);
            let (closed_tab, closed_workspace) = self.detach(pane);
            return (closed_tab, closed_workspace, made(false, true));
        }
        let (closed_tab, closed_workspace) = self.detach(pane);
        // Somebody always looks at something.
        let focus = focus || self.focused_workspace().is_none();
        let created = match target {
            Target::SameTab | Target::OwnNewTab { .. } => made(false, false),
            Target::NewWorkspace { label, tab_label } => {
                self.add_workspace(pane, label, tab_label, focus);
                made(true, true)
            }
            Target::NewTab { workspace, label } => {
                if let Some(workspace) = self.workspaces.iter().position(|of| of.key == workspace) {
                    self.add_tab(workspace, pane, label, focus, true);
                }
                made(false, true)
            }
            Target::Beside { beside, direction, ratio } => {
                if let Some(place) = self.place_of(beside)
                    && self.workspaces[place.workspace].key != own
                {
                    self.number_pane(place.workspace, pane);
                }
                self.add_beside(beside, pane, direction, ratio, focus);
                made(false, false)
            }
        };
        (closed_tab, closed_workspace, created)
    }

    /// What a move closed is told before it is told that the pane moved.
    fn emit_moved(&mut self, moved: &MoveView) {
        let workspace_id = &moved.previous_workspace_id;
        if let Some(tab_id) = &moved.closed_tab_id {
            let data = serde_json::json!({ "tab_id": tab_id, "workspace_id": workspace_id });
            self.events.push(Event::new("tab_closed", data));
        }
        if let Some(workspace_id) = &moved.closed_workspace_id {
            let data = serde_json::json!({ "workspace_id": workspace_id });
            self.events.push(Event::new("workspace_closed", data));
        }
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

/// Where a move goes, by what no move changes.
enum Target {
    /// The pane is there already.
    SameTab,
    NewWorkspace {
        label: Option<String>,
        tab_label: Option<String>,
    },
    OwnNewTab {
        label: Option<String>,
    },
    NewTab {
        /// The key of another workspace.
        workspace: u64,
        label: Option<String>,
    },
    Beside {
        beside: u64,
        direction: Direction,
        ratio: f64,
    },
}

/// What a move had to make.
struct Created {
    workspace: bool,
    tab: bool,
}
