use serde::{Deserialize, Serialize};

use crate::absent;
use crate::ids::PaneId;

/// The part of a pane that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReadSource {
    /// The bottom of the screen, wherever a person has scrolled to. Always plain text, because
    /// the server ignores the format here.
    Detection,
    /// What a person sees now. It follows scrolling.
    Visible,
    /// The last rows with scrollback. As plain text this may scroll the screen of an idle agent
    /// that the server knows.
    Recent,
    /// The last rows with scrollback, with wrapped rows joined.
    RecentUnwrapped,
}

/// The format of the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReadFormat {
    /// Characters only.
    #[default]
    Text,
    /// Characters with escape sequences for colours and attributes.
    Ansi,
}

/// `pane.read`: what a pane shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaneRead {
    /// The pane. An id from before a move works, too.
    pub pane_id: PaneId,
    /// The part that is read.
    pub source: ReadSource,
    /// The number of rows from the bottom, including blank ones, at most
    /// [`limits::READ_LINES_MAX`](crate::limits::READ_LINES_MAX). Absent means 80 for the two
    /// recent sources and all rows for the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u32>,
    /// The format of the text.
    #[serde(default)]
    pub format: ReadFormat,
}

impl PaneRead {
    /// Reads this part of this pane as plain text.
    pub fn new(pane_id: PaneId, source: ReadSource) -> Self {
        Self { pane_id, source, lines: None, format: ReadFormat::Text }
    }
}

/// `agent.read`: as `pane.read`, for the pane of an agent. It refuses with `agent_not_idle`
/// where `pane.read` returns too few rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentRead {
    /// The present id of a pane, or an agent's name.
    pub target: String,
    /// The part that is read.
    pub source: ReadSource,
    /// As in [`PaneRead::lines`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u32>,
    /// The format of the text.
    #[serde(default)]
    pub format: ReadFormat,
}

impl AgentRead {
    /// Reads this part of this agent's pane as plain text.
    pub fn of(pane: &PaneId, source: ReadSource) -> Self {
        Self { target: pane.as_str().to_owned(), source, lines: None, format: ReadFormat::Text }
    }
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
    /// The text, with one line for each row.
    #[serde(default, deserialize_with = "absent::null")]
    pub text: String,
    /// Whether there are older rows.
    #[serde(default, deserialize_with = "absent::null")]
    pub truncated: bool,
}
