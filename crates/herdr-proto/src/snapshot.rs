use serde::{Deserialize, Serialize};

use crate::absent;
use crate::agent::AgentInfo;
use crate::open::AgentStatus;
use crate::pane::PaneInfo;

/// `session.snapshot`: everything at once, as a viewer wants it.
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

/// The state of a server. Layouts are left out: nothing here draws them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Snapshot {
    /// The server's version.
    #[serde(default, deserialize_with = "absent::null")]
    pub version: String,
    /// The server's protocol number.
    #[serde(default, deserialize_with = "absent::null")]
    pub protocol: u64,
    /// The workspace with the focus.
    #[serde(default)]
    pub focused_workspace_id: Option<String>,
    /// The tab with the focus.
    #[serde(default)]
    pub focused_tab_id: Option<String>,
    /// The pane with the focus.
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
    /// The roll-up of its panes' states.
    #[serde(default, deserialize_with = "absent::null")]
    pub agent_status: AgentStatus,
}

/// A tab.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Tab {
    /// Its id, for example `w1:t1`.
    pub tab_id: String,
    /// Its workspace.
    #[serde(default, deserialize_with = "absent::null")]
    pub workspace_id: String,
    /// Its name.
    #[serde(default, deserialize_with = "absent::null")]
    pub label: String,
}
