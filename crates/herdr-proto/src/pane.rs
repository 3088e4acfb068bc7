use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::absent;
use crate::ids::PaneId;
use crate::open::AgentStatus;

/// `pane.get`: one pane as the server shows it. This is how to find out whether a report took
/// effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaneGet {
    /// The pane. An id from before a move works, too.
    pub pane_id: PaneId,
}

impl PaneGet {
    /// Asks for this pane.
    pub fn new(pane_id: PaneId) -> Self {
        Self { pane_id }
    }
}

/// `pane.current`: the pane of the caller, or the focused one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaneCurrent {
    /// The caller's pane id; absent asks for the focused pane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller_pane_id: Option<PaneId>,
}

impl PaneCurrent {
    /// Asks for the pane that a program with this id in its environment runs in.
    pub fn of(caller: PaneId) -> Self {
        Self { caller_pane_id: Some(caller) }
    }
}

/// What `pane.get` and `pane.current` answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaneInfoReply {
    /// The pane.
    pub pane: PaneInfo,
}

/// `pane.list`: every pane, in the server's order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaneList {
    /// Only the panes of this workspace; absent means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
}

/// What `pane.list` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaneListReply {
    /// The panes.
    pub panes: Vec<PaneInfo>,
}

/// A pane. Absent fields are not set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaneInfo {
    /// The present id of the pane, even if it was asked for by an older one.
    pub pane_id: PaneId,
    /// The terminal behind the pane. It changes when the server restarts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_id: Option<String>,
    /// Its workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
    /// Its tab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab_id: Option<String>,
    /// Whether it has the focus.
    #[serde(default, deserialize_with = "absent::null")]
    pub focused: bool,
    /// The folder in which the pane's shell started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The folder of the pane's foreground program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreground_cwd: Option<String>,
    /// The name that a person gave the pane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The effective agent label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The effective title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
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
    /// All tokens of all sources.
    #[serde(
        default,
        deserialize_with = "absent::null_texts",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub tokens: BTreeMap<String, String>,
    /// The session that owns the pane. A session of another source blocks every custom state
    /// report (protocol §5.2 A9).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session: Option<AgentSession>,
    /// Changes with tokens and layout, not with the state.
    #[serde(default, deserialize_with = "absent::null")]
    pub revision: u64,
    /// The height of the screen, and how far a person has scrolled up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scroll: Option<Scroll>,
}

/// The scroll position of a pane, in rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Scroll {
    /// The distance from the bottom; 0 means at the bottom.
    #[serde(default, deserialize_with = "absent::null")]
    pub offset_from_bottom: u64,
    /// The greatest distance that can be scrolled.
    #[serde(default, deserialize_with = "absent::null")]
    pub max_offset_from_bottom: u64,
    /// The height of the screen.
    #[serde(default, deserialize_with = "absent::null")]
    pub viewport_rows: u64,
}

/// The session of an official integration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentSession {
    /// The source that reported it.
    pub source: String,
    /// The agent's label.
    pub agent: String,
    /// `id` or `path`.
    #[serde(default, deserialize_with = "absent::null")]
    pub kind: String,
    /// The id or path itself.
    #[serde(default, deserialize_with = "absent::null")]
    pub value: String,
}
