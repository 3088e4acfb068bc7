//! `ping`, the snapshot, and the server's own affairs.

use super::Model;
use super::failure::Failure;
use super::params::Notify;
use super::text;
use super::topology::Place;
use super::view::{Outcome, SnapshotView};

impl Model {
    pub(super) fn pong(&self) -> Outcome {
        let mut capabilities =
            serde_json::json!({ "live_handoff": true, "detached_server_daemon": true });
        if self.profile.protocol >= 22 {
            capabilities["endpoint_protocol_generation"] = 1.into();
        }
        if self.profile.resumes {
            capabilities["ssh_agent_registration"] = true.into();
        }
        Outcome::Pong {
            version: self.profile.version.clone(),
            protocol: self.profile.protocol,
            server: self.profile.tuios.then_some("tuios"),
            capabilities,
        }
    }

    /// A handoff that was asked for over the socket.
    pub(super) fn begin_handoff(&mut self) {
        self.live_handoff(self.now);
    }

    pub(super) fn snapshot(&self) -> Outcome {
        let places = || {
            self.workspaces.iter().enumerate().flat_map(|(workspace, entry)| {
                (0..entry.tabs.len()).map(move |tab| Place { workspace, tab })
            })
        };
        let panes = || (0..self.workspaces.len()).flat_map(|workspace| self.panes_of(workspace));
        let focused = self.focused_workspace();
        Outcome::SessionSnapshot {
            snapshot: Box::new(SnapshotView {
                version: self.profile.version.clone(),
                protocol: self.profile.protocol,
                focused_workspace_id: focused.map(|workspace| self.workspace_id(workspace)),
                focused_tab_id: focused.map(|workspace| {
                    let tab = self.workspaces[workspace].active;
                    self.tab_id(Place { workspace, tab })
                }),
                focused_pane_id: self.focused_pane().and_then(|pane| self.pane_id(pane)),
                workspaces: (0..self.workspaces.len())
                    .filter_map(|workspace| self.workspace_view(workspace))
                    .collect(),
                tabs: places().map(|place| self.tab_view(place)).collect(),
                panes: panes().filter_map(|pane| self.pane_info(pane, self.now)).collect(),
                layouts: places().map(|place| self.layout_view(place)).collect(),
                agents: panes().filter_map(|pane| self.agent_info(pane, self.now)).collect(),
            }),
        }
    }

    /// Notifications are off in the default settings.
    pub(super) fn notify(notify: &Notify) -> Result<Outcome, Failure> {
        if text::presentation(&notify.title).is_none() {
            return Err(Failure::new("invalid_params", "the title is empty"));
        }
        Ok(Outcome::NotificationShow { shown: false, reason: "disabled" })
    }
}
