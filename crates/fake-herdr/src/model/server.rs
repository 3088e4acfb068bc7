//! `ping` and the snapshot.

use serde_json::{Value, json};

use super::Model;
use super::dispatch::without_unset;
use super::topology::Place;

impl Model {
    pub(super) fn pong(&self) -> Value {
        let profile = &self.profile;
        without_unset(json!({
            "type": "pong",
            "version": profile.version,
            "protocol": profile.protocol,
            "server": profile.server,
            "capabilities": without_unset(json!({
                "live_handoff": true,
                "detached_server_daemon": true,
                "endpoint_protocol_generation": (profile.protocol >= 22).then_some(1),
                "ssh_agent_registration": profile.resumes.then_some(true),
            })),
        }))
    }

    pub(super) fn snapshot(&self) -> Value {
        let focused = self.focused_workspace();
        let tab = focused.map(|workspace| {
            self.tab_id(Place { workspace, tab: self.workspaces[workspace].active })
        });
        let panes = self.all_panes().into_iter().filter_map(|pane| self.pane_view(pane));
        json!({ "type": "session_snapshot", "snapshot": without_unset(json!({
            "version": self.profile.version,
            "protocol": self.profile.protocol,
            "focused_workspace_id": focused.map(|workspace| self.workspace_id(workspace)),
            "focused_tab_id": tab,
            "focused_pane_id": self.focused_pane().and_then(|pane| self.pane_id(pane)),
            "workspaces": self.workspace_views(),
            "tabs": self.places().map(|place| self.tab_view(place)).collect::<Vec<_>>(),
            "panes": panes.collect::<Vec<_>>(),
            "layouts": self.places().map(|place| self.layout_view(place)).collect::<Vec<_>>(),
            "agents": self.agents(),
        })) })
    }
}
