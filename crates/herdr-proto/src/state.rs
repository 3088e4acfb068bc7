use std::fmt;

use serde::{Deserialize, Serialize};

use crate::open::AgentStatus;

/// A state that can be reported. `done` is not one: the server derives it from an idle that no
/// person has seen (protocol §2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "what we may send is closed")]
pub enum ReportState {
    /// The agent does nothing.
    Idle,
    /// The agent works.
    Working,
    /// The agent waits for a person.
    Blocked,
    /// The agent is there and its state is not known.
    Unknown,
}

impl ReportState {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Working => "working",
            Self::Blocked => "blocked",
            Self::Unknown => "unknown",
        }
    }

    /// The status that the server shows for it in a pane that a person has seen.
    pub const fn status(self) -> AgentStatus {
        match self {
            Self::Idle => AgentStatus::IDLE,
            Self::Working => AgentStatus::WORKING,
            Self::Blocked => AgentStatus::BLOCKED,
            Self::Unknown => AgentStatus::UNKNOWN,
        }
    }
}

impl fmt::Display for ReportState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A state that can have a label. `done` is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "what we may send is closed")]
pub enum StateKey {
    /// Idle, in a pane that a person has seen.
    Idle,
    /// Working.
    Working,
    /// Blocked.
    Blocked,
    /// Idle, in a pane that no person has seen since.
    Done,
    /// Not known.
    Unknown,
}

impl StateKey {
    /// Every key, in the order of the documentation.
    pub const ALL: [Self; 5] =
        [Self::Idle, Self::Working, Self::Blocked, Self::Done, Self::Unknown];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Working => "working",
            Self::Blocked => "blocked",
            Self::Done => "done",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<ReportState> for StateKey {
    fn from(state: ReportState) -> Self {
        match state {
            ReportState::Idle => Self::Idle,
            ReportState::Working => Self::Working,
            ReportState::Blocked => Self::Blocked,
            ReportState::Unknown => Self::Unknown,
        }
    }
}
