//! The state of an agent, and the status that readers see.

use serde::de::value::{Error, StrDeserializer};
use serde::{Deserialize, Serialize};

/// A state as reports carry it and the server stores it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    Idle,
    Working,
    Blocked,
    #[default]
    Unknown,
}

/// Reads a word as the variant of an enum.
pub(crate) fn parse_word<'de, T: Deserialize<'de>>(word: &'de str) -> Option<T> {
    T::deserialize(StrDeserializer::<Error>::new(word)).ok()
}

/// A state as readers see it. An idle agent is `done` until the user has looked at
/// its pane. The order is that of urgency: a tab or workspace has the greatest status
/// of its panes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Unknown,
    Idle,
    Working,
    Done,
    Blocked,
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
}
