//! Words of the server that later versions may extend. Known words are constants, and other
//! words are kept as they are.

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

            /// The word on the wire.
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
    /// The state of an agent as the server shows it. `done` is only read: it is an idle that no
    /// person has seen yet (protocol §2.3).
    AgentStatus {
        /// The agent is idle, and a person has seen it.
        IDLE = "idle",
        /// The agent works.
        WORKING = "working",
        /// The agent waits for a person.
        BLOCKED = "blocked",
        /// The agent is idle, and no person has seen the pane since.
        DONE = "done",
        /// There is no agent, or its state is not known.
        UNKNOWN = "unknown",
    }
}

impl AgentStatus {
    /// Whether two statuses stand for the same report. An idle is shown as `done` until a
    /// person has seen the pane, so these two are the same (failure B30).
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
    /// The code of a refusal (protocol §4). On the wire it is free text.
    ErrorCode {
        /// Not JSON, a missing part, a wrong type, an unknown word or method.
        INVALID_REQUEST = "invalid_request",
        /// There is no pane with that id, or its terminal is gone.
        PANE_NOT_FOUND = "pane_not_found",
        /// There is no live agent with that name or pane.
        AGENT_NOT_FOUND = "agent_not_found",
        /// The agent label is empty.
        INVALID_AGENT = "invalid_agent",
        /// The metadata source is too long or contains a wrong character.
        INVALID_METADATA_SOURCE = "invalid_metadata_source",
        /// A token key is too long or contains a wrong character, or there are too many keys.
        INVALID_METADATA_TOKEN = "invalid_metadata_token",
        /// A time to live of 0 or over a day.
        INVALID_METADATA_TTL = "invalid_metadata_ttl",
        /// A state label for a state that does not exist.
        INVALID_STATE_LABEL = "invalid_state_label",
        /// There is nothing to set or clear, or a field is both set and cleared.
        INVALID_METADATA_REQUEST = "invalid_metadata_request",
        /// The pane would have more than 32 tokens.
        METADATA_TOKEN_LIMIT = "metadata_token_limit",
        /// More than 32 sources have sent numbered tokens to this pane.
        METADATA_SEQUENCE_SOURCE_LIMIT = "metadata_sequence_source_limit",
        /// The server is stopping, or its application thread has ended.
        SERVER_UNAVAILABLE = "server_unavailable",
        /// An internal error of the server.
        INTERNAL_ERROR = "internal_error",
        /// Too many reports in a short time (TUIOS).
        RATE_LIMITED = "rate_limited",
        /// The caller may not report for that pane (TUIOS).
        FORBIDDEN = "forbidden",
        /// The agent waits for a person's answer. Nothing was typed.
        AGENT_BLOCKED = "agent_blocked",
        /// The server does not know the agent, the agent is still starting, or it is not in the
        /// foreground.
        AGENT_NOT_READY = "agent_not_ready",
        /// The agent ended or was replaced during the request.
        AGENT_NOT_RUNNING = "agent_not_running",
        /// The prompt had no effect in time.
        AGENT_PROMPT_STALLED = "agent_prompt_stalled",
        /// The prompt could not be written to the terminal.
        AGENT_PROMPT_FAILED = "agent_prompt_failed",
        /// The prompt is empty.
        EMPTY_AGENT_PROMPT = "empty_agent_prompt",
        /// More rows than the screen has were asked for while the agent was not idle.
        AGENT_NOT_IDLE = "agent_not_idle",
        /// The server does not know this key.
        INVALID_KEY = "invalid_key",
        /// The input could not be written to the terminal.
        PANE_SEND_FAILED = "pane_send_failed",
        /// The deadline of the wait passed.
        TIMEOUT = "timeout",
        /// The server does not have this method (0.9.2 and later).
        UNKNOWN_METHOD = "unknown_method",
        /// The server knows this method and does not support it (TUIOS).
        UNSUPPORTED = "unsupported",
        /// The server does not accept the `resume_argv` (0.9.2 and later).
        INVALID_RESUME_ARGV = "invalid_resume_argv",
        /// The source of the `resume_argv` does not hold the pane (0.9.2 and later).
        RESUME_NOT_ACCEPTED = "resume_not_accepted",
    }
}
