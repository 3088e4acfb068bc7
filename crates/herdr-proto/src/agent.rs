use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::absent;
use crate::ids::PaneId;
use crate::open::AgentStatus;
use crate::pane::AgentSession;

/// `agent.get`: the agent of one pane. Unlike `pane.*`, it takes only the pane's present id or
/// the agent's name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentGet {
    /// A pane id or an agent's name.
    pub target: String,
}

impl AgentGet {
    /// Asks for the agent of this pane.
    pub fn of(pane: &PaneId) -> Self {
        Self { target: pane.as_str().to_owned() }
    }
}

/// What `agent.get` answers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct AgentInfoReply {
    /// The agent.
    pub agent: AgentInfo,
}

/// `agent.list`: every live agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentList {}

/// What `agent.list` answers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct AgentListReply {
    /// The agents, in the server's order.
    pub agents: Vec<AgentInfo>,
}

/// An agent on a pane. Absent fields are not set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentInfo {
    /// The agent's pane.
    pub pane_id: PaneId,
    /// The terminal behind the pane. It changes when the server restarts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_id: Option<String>,
    /// The pane's workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
    /// The pane's tab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab_id: Option<String>,
    /// Whether the pane has the focus.
    #[serde(default, deserialize_with = "absent::null")]
    pub focused: bool,
    /// The folder in which the pane's shell started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The folder of the pane's foreground program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreground_cwd: Option<String>,
    /// The name that was given to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The agent's label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The effective title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The terminal title that the program in the pane set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_title: Option<String>,
    /// The terminal title without progress signs at its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_title_stripped: Option<String>,
    /// The effective display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_agent: Option<String>,
    /// The effective state.
    #[serde(default, deserialize_with = "absent::null")]
    pub agent_status: AgentStatus,
    /// The effective state labels.
    #[serde(
        default,
        deserialize_with = "absent::null_texts",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub state_labels: BTreeMap<String, String>,
    /// All tokens of the pane.
    #[serde(
        default,
        deserialize_with = "absent::null_texts",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub tokens: BTreeMap<String, String>,
    /// The session that owns the pane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session: Option<AgentSession>,
    /// Rises with every change of an effective state, over all panes of the server. So it may
    /// jump because of another pane, and it stays when the same state is reported again.
    #[serde(default, deserialize_with = "absent::null")]
    pub state_change_seq: u64,
    /// Changes with tokens and layout, not with the state.
    #[serde(default, deserialize_with = "absent::null")]
    pub revision: u64,
    /// Whether Herdr has stopped reading the screen, because an integration reports everything.
    /// Absent under a custom claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screen_detection_skipped: Option<bool>,
    /// Whether the server is starting the agent and its screen is not there yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch_pending: Option<bool>,
    /// Whether an agent that the server started can take input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interactive_ready: Option<bool>,
    /// Rises with every turn that ends. Only servers later than 0.8.2 have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_seq: Option<u64>,
}
