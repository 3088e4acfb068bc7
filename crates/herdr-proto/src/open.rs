//! Words that the server says and may extend: known ones are constants, the
//! others are kept as they came.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! open_word {
    ($(#[$doc:meta])* $name:ident { $($(#[$known_doc:meta])* $known:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Cow<'static, str>);

        impl $name {
            $($(#[$known_doc])* pub const $known: Self = Self(Cow::Borrowed($text));)*

            /// The word as it stands on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                Self(Cow::Owned(word.to_owned()))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

open_word! {
    /// The state of an agent as the server shows it. `done` is read, never
    /// reported: it is an idle that nobody has looked at yet (protocol §2.3).
    AgentStatus {
        /// Nothing runs and somebody has seen it.
        IDLE = "idle",
        /// The agent works.
        WORKING = "working",
        /// The agent waits for a person.
        BLOCKED = "blocked",
        /// Idle in a pane that the user has not seen since.
        DONE = "done",
        /// No agent, or one whose state nobody knows.
        UNKNOWN = "unknown",
    }
}

impl AgentStatus {
    /// Whether the two are the same report: an idle reads back as `done` until
    /// the pane has been seen, and that is no difference (failure B30).
    #[must_use]
    pub fn same_as(&self, other: &Self) -> bool {
        let at_rest = |status: &Self| *status == Self::IDLE || *status == Self::DONE;
        self == other || (at_rest(self) && at_rest(other))
    }
}

impl Default for AgentStatus {
    fn default() -> Self {
        Self::UNKNOWN
    }
}

open_word! {
    /// The code of a refusal (protocol §4). The schema types it as free text.
    ErrorCode {
        /// Not JSON, a missing part, a wrong type, an unknown word or method.
        INVALID_REQUEST = "invalid_request",
        /// No pane by that id, or its terminal is gone.
        PANE_NOT_FOUND = "pane_not_found",
        /// No live agent by that name or pane.
        AGENT_NOT_FOUND = "agent_not_found",
        /// The agent label is empty.
        INVALID_AGENT = "invalid_agent",
        /// A metadata source outside its alphabet or length.
        INVALID_METADATA_SOURCE = "invalid_metadata_source",
        /// A token key outside its alphabet or length, or too many in one report.
        INVALID_METADATA_TOKEN = "invalid_metadata_token",
        /// A time to live of 0 or over a day.
        INVALID_METADATA_TTL = "invalid_metadata_ttl",
        /// A state label for a state that does not exist.
        INVALID_STATE_LABEL = "invalid_state_label",
        /// Nothing to set or clear, or one field both set and cleared.
        INVALID_METADATA_REQUEST = "invalid_metadata_request",
        /// The pane would carry more than 32 tokens.
        METADATA_TOKEN_LIMIT = "metadata_token_limit",
        /// More than 32 sources have sequenced tokens on this pane.
        METADATA_SEQUENCE_SOURCE_LIMIT = "metadata_sequence_source_limit",
        /// The server is stopping, or its application thread is gone.
        SERVER_UNAVAILABLE = "server_unavailable",
        /// The server failed inside.
        INTERNAL_ERROR = "internal_error",
        /// Too many reports in a short time (TUIOS).
        RATE_LIMITED = "rate_limited",
        /// The caller may not report for that pane (TUIOS).
        FORBIDDEN = "forbidden",
        /// An agent that waits for a person's answer; nothing was typed.
        AGENT_BLOCKED = "agent_blocked",
        /// An agent that the server does not know, that is still starting, or
        /// that is not in the foreground.
        AGENT_NOT_READY = "agent_not_ready",
        /// The agent ended or was replaced meanwhile.
        AGENT_NOT_RUNNING = "agent_not_running",
        /// The prompt changed nothing in time.
        AGENT_PROMPT_STALLED = "agent_prompt_stalled",
        /// The prompt could not be written to the terminal.
        AGENT_PROMPT_FAILED = "agent_prompt_failed",
        /// The prompt is empty.
        EMPTY_AGENT_PROMPT = "empty_agent_prompt",
        /// More lines than the screen has, of an agent that is not idle.
        AGENT_NOT_IDLE = "agent_not_idle",
        /// A key that this server has no name for.
        INVALID_KEY = "invalid_key",
        /// The input could not be written to the terminal.
        PANE_SEND_FAILED = "pane_send_failed",
        /// The wait's own deadline passed.
        TIMEOUT = "timeout",
        /// A method that this server does not have (0.9.2 and later).
        UNKNOWN_METHOD = "unknown_method",
        /// A method that this server knows and does not do (TUIOS).
        UNSUPPORTED = "unsupported",
        /// A `resume_argv` that the server does not take (0.9.2 and later).
        INVALID_RESUME_ARGV = "invalid_resume_argv",
        /// A `resume_argv` from a source that does not hold the pane (0.9.2 and later).
        RESUME_NOT_ACCEPTED = "resume_not_accepted",
    }
}
