//! The states of an agent and what a reader sees of them.

use serde::{Deserialize, Serialize};

/// A state as it is reported and stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    Idle,
    Working,
    Blocked,
    #[default]
    Unknown,
}

impl State {
    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::deserialize(serde::de::value::StrDeserializer::<serde::de::value::Error>::new(word))
            .ok()
    }
}

/// A state as it is shown: an idle in a pane that the user has not seen is `done`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Idle,
    Working,
    Blocked,
    Done,
    Unknown,
}

impl Status {
    pub(crate) fn of(state: State, seen: bool) -> Self {
        match (state, seen) {
            (State::Idle, true) => Self::Idle,
            (State::Idle, false) => Self::Done,
            (State::Working, _) => Self::Working,
            (State::Blocked, _) => Self::Blocked,
            (State::Unknown, _) => Self::Unknown,
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Working => "working",
            Self::Blocked => "blocked",
            Self::Done => "done",
            Self::Unknown => "unknown",
        }
    }

    /// The more urgent of two statuses, for tabs and workspaces.
    pub(crate) fn more_urgent(self, other: Self) -> Self {
        if self.urgency() >= other.urgency() { self } else { other }
    }

    fn urgency(self) -> u8 {
        match self {
            Self::Blocked => 4,
            Self::Done => 3,
            Self::Working => 2,
            Self::Idle => 1,
            Self::Unknown => 0,
        }
    }
}
