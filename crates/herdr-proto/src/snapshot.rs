use serde::{Deserialize, Serialize};

use crate::absent;
use crate::agent::AgentInfo;
use crate::open::AgentStatus;
use crate::pane::PaneInfo;

/// `session.snapshot`: the whole state of the server in one reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionSnapshot {}

/// What `session.snapshot` answers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct SnapshotReply {
    /// The state of the server.
    pub snapshot: Snapshot,
}

/// The state of a server. The layouts in the reply are left out, because nothing here needs
/// them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Snapshot {
    /// The server's version.
    #[serde(default, deserialize_with = "absent::null")]
    pub version: String,
    /// The server's protocol number.
    #[serde(default, deserialize_with = "absent::null")]
    pub protocol: u64,
    /// The focused workspace.
    #[serde(default)]
    pub focused_workspace_id: Option<String>,
    /// The focused tab.
    #[serde(default)]
    pub focused_tab_id: Option<String>,
    /// The focused pane.
    #[serde(default)]
    pub focused_pane_id: Option<String>,
    /// Workspaces, in the server's order.
    #[serde(default, deserialize_with = "absent::null")]
    pub workspaces: Vec<Workspace>,
    /// Tabs, in the server's order.
    #[serde(default, deserialize_with = "absent::null")]
    pub tabs: Vec<Tab>,
    /// Panes, in the server's order.
    #[serde(default, deserialize_with = "absent::null")]
    pub panes: Vec<PaneInfo>,
    /// Live agents.
    #[serde(default, deserialize_with = "absent::null")]
    pub agents: Vec<AgentInfo>,
}

/// A workspace.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Workspace {
    /// Its id, for example `w1`.
    pub workspace_id: String,
    /// Its name.
    #[serde(default, deserialize_with = "absent::null")]
    pub label: String,
    /// The combined state of its panes.
    #[serde(default, deserialize_with = "absent::null")]
    pub agent_status: AgentStatus,
}

/// A tab.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Tab {
    /// Its id, for example `w1:t1`.
    pub tab_id: String,
    /// The tab's workspace.
    #[serde(default, deserialize_with = "absent::null")]
    pub workspace_id: String,
    /// Its name.
    #[serde(default, deserialize_with = "absent::null")]
    pub label: String,
}
