use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::absent;
use crate::call::Call;
use crate::ids::PaneId;
use crate::open::AgentStatus;

/// `pane.get`: one pane as the server shows it; the way to find out whether a
/// report took effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaneGet {
    /// The pane, also by an id that it had before a move.
    pub pane_id: PaneId,
}

impl PaneGet {
    /// Asks for this pane.
    pub fn new(pane_id: PaneId) -> Self {
        Self { pane_id }
    }
}

impl Call for PaneGet {
    const METHOD: &'static str = "pane.get";
    type Reply = PaneInfoReply;
}

/// `pane.current`: the pane that the caller is in, or the one with the focus.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaneCurrent {
    /// The caller's own idea of its pane; absent asks for the focus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller_pane_id: Option<PaneId>,
}

impl PaneCurrent {
    /// Asks for the pane that a program with this id in its environment is in.
    pub fn of(caller: PaneId) -> Self {
        Self { caller_pane_id: Some(caller) }
    }
}

impl Call for PaneCurrent {
    const METHOD: &'static str = "pane.current";
    type Reply = PaneInfoReply;
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
    /// Only those of one workspace; absent means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
}

impl Call for PaneList {
    const METHOD: &'static str = "pane.list";
    type Reply = PaneListReply;
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
    /// Its present id, also if it was asked for by an older one.
    pub pane_id: PaneId,
    /// The terminal behind it; another one after a restart.
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
    /// Where its shell started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Where its foreground program is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreground_cwd: Option<String>,
    /// The name a person gave the pane.
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
    /// The effective labels by state.
    #[serde(
        default,
        deserialize_with = "absent::null_texts",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub state_labels: BTreeMap<String, String>,
    /// All tokens, whoever set them.
    #[serde(
        default,
        deserialize_with = "absent::null_texts",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub tokens: BTreeMap<String, String>,
    /// The session that owns the pane. One of a foreign source blocks every
    /// custom state report (protocol §5.2 A9).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session: Option<AgentSession>,
    /// Moves with tokens and layout, not with the state.
    #[serde(default, deserialize_with = "absent::null")]
    pub revision: u64,
    /// How tall the screen is and how far a person has scrolled up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scroll: Option<Scroll>,
}

/// Where a person looks in a pane, in rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Scroll {
    /// How far above the bottom; 0 means at the bottom.
    #[serde(default, deserialize_with = "absent::null")]
    pub offset_from_bottom: u64,
    /// How far up one can scroll.
    #[serde(default, deserialize_with = "absent::null")]
    pub max_offset_from_bottom: u64,
    /// How tall the screen is.
    #[serde(default, deserialize_with = "absent::null")]
    pub viewport_rows: u64,
}

/// The session of an official integration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentSession {
    /// Who reported it.
    pub source: String,
    /// For which agent.
    pub agent: String,
    /// `id` or `path`.
    #[serde(default, deserialize_with = "absent::null")]
    pub kind: String,
    /// The id or path itself.
    #[serde(default, deserialize_with = "absent::null")]
    pub value: String,
}
