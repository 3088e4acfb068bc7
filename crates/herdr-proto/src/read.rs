use serde::{Deserialize, Serialize};

use crate::absent;
use crate::call::Call;
use crate::ids::PaneId;

/// What of a pane is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReadSource {
    /// The bottom of the screen, wherever a person has scrolled to. Always
    /// plain text: the server ignores the format here.
    Detection,
    /// What a person sees now; it follows their scrolling.
    Visible,
    /// The last rows, scrollback included. As plain text it may scroll the
    /// screen of an idle agent that the server knows.
    Recent,
    /// The same with wrapped rows joined.
    RecentUnwrapped,
}

/// How it is written down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReadFormat {
    /// Characters only.
    #[default]
    Text,
    /// With escape sequences for colours and attributes.
    Ansi,
}

/// `pane.read`: what a pane shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaneRead {
    /// The pane, also by an id that it had before a move.
    pub pane_id: PaneId,
    /// What of it.
    pub source: ReadSource,
    /// How many rows from the bottom, blank ones included, at most
    /// [`limits::READ_LINES_MAX`](crate::limits::READ_LINES_MAX). Absent means
    /// 80 for the two recent sources and all rows for the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u32>,
    /// How it is written down.
    #[serde(default)]
    pub format: ReadFormat,
}

impl PaneRead {
    /// Reads this of this pane, as text.
    pub fn new(pane_id: PaneId, source: ReadSource) -> Self {
        Self { pane_id, source, lines: None, format: ReadFormat::Text }
    }
}

impl Call for PaneRead {
    const METHOD: &'static str = "pane.read";
    type Reply = PaneReadReply;
}

/// `agent.read`: the same of an agent. It refuses with `agent_not_idle` what
/// `pane.read` answers with too few lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentRead {
    /// The present id of a pane, or an agent's name.
    pub target: String,
    /// What of it.
    pub source: ReadSource,
    /// As in [`PaneRead::lines`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u32>,
    /// How it is written down.
    #[serde(default)]
    pub format: ReadFormat,
}

impl AgentRead {
    /// Reads this of the agent of this pane, as text.
    pub fn of(pane: &PaneId, source: ReadSource) -> Self {
        Self { target: pane.as_str().to_owned(), source, lines: None, format: ReadFormat::Text }
    }
}

impl Call for AgentRead {
    const METHOD: &'static str = "agent.read";
    type Reply = PaneReadReply;
}

/// What `pane.read` and `agent.read` answer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct PaneReadReply {
    /// What was read.
    pub read: PaneText,
}

/// What a pane shows.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct PaneText {
    /// The present id of the pane.
    pub pane_id: PaneId,
    /// The text, one row a line.
    #[serde(default, deserialize_with = "absent::null")]
    pub text: String,
    /// Whether there are older rows than these.
    #[serde(default, deserialize_with = "absent::null")]
    pub truncated: bool,
}
