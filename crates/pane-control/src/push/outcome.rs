use std::fmt;

use herdr_proto::PaneId;
use serde::{Deserialize, Serialize};

use super::journal::OperationId;

/// How a push ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The box is empty and the transcript has the text.
    Delivered,
    /// There is another text or a dialog in the way. No Enter was pressed. [`Pushed::typed`]
    /// tells whether the text was typed before that.
    Held,
    /// The text was typed, the box did not show it, and no Enter was pressed.
    TypedUnconfirmed,
    /// The text is still in the box after all Enters. A repeat of the same operation only
    /// presses Enter.
    Pending,
    /// Enter was pressed, and it cannot be seen whether the program took the text.
    Unverified,
}

/// Why a push was not delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Why {
    /// There was a text in the box before anything was typed.
    BoxNotEmpty,
    /// The box contains another text than the typed one, for example because a person types.
    NotWhatWasTyped,
    /// A dialog or menu takes the keys.
    Dialog,
    /// A list of completions is open, from which an Enter would select.
    Menu,
    /// The program works and shows no box.
    Busy,
    /// The screen shows no box that the profile knows.
    NoBox,
    /// The box is empty, and the transcript does not show the text.
    NotInTranscript,
    /// The text is still in the box.
    StillInBox,
    /// The box did not show the text in time.
    NotShown,
    /// The agent that the text was for has left the pane.
    AgentEnded,
    /// The pane closed, or the server went away.
    PaneGone,
    /// The screen could not be read.
    Unreadable,
    /// The profile does not look at the screen.
    Unguarded,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BoxNotEmpty => "something stands in the input box already",
            Self::NotWhatWasTyped => "the input box holds something else than what was typed",
            Self::Dialog => "a dialog takes the keys",
            Self::Menu => "a list of completions is open, which an Enter would take from",
            Self::Busy => "the program works and shows no input box",
            Self::NoBox => "the screen shows no input box of this profile",
            Self::NotInTranscript => "the input box is empty, and the text is not above it",
            Self::StillInBox => "the text still stands in the input box",
            Self::NotShown => "the input box did not show the text in time",
            Self::AgentEnded => "the agent that the text was for has ended",
            Self::PaneGone => "the pane is gone",
            Self::Unreadable => "the screen cannot be read",
            Self::Unguarded => "the screen was not checked",
        })
    }
}

/// What became of a push.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Pushed {
    /// How it ended.
    pub outcome: Outcome,
    /// Why it was not delivered; absent if it was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<Why>,
    /// Whether the text was typed, by this call or an earlier one of the same
    /// operation.
    pub typed: bool,
    /// How often Enter was pressed, by all calls of the operation.
    pub enters: u8,
    /// Whether the program showed at the end that it works. A text that was delivered to a busy
    /// agent waits until the agent is done.
    pub busy: bool,
    /// The profile that was used.
    pub profile: String,
    /// False if the profile does not look at the screen, so that an Enter may have had any
    /// effect.
    pub guarded: bool,
    /// The id for repeats, which never type again.
    pub operation: OperationId,
    /// The pane, by its present id.
    pub pane_id: PaneId,
}

impl Pushed {
    /// Whether the same text can be pushed as a new operation without harm, which is so only if
    /// nothing was typed. Repeating the same operation is always safe, because it never types
    /// twice.
    pub fn safe_to_retry(&self) -> bool {
        !self.typed
    }
}
