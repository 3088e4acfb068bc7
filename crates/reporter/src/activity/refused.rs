use std::fmt;

use herdr_proto::{InvalidValue, strip_controls};

use super::OPEN_MAX;
use crate::event::ID_MAX_BYTES;

/// What was left out of an event because it does not fit. The rest of the event counts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// An id has over [`ID_MAX_BYTES`] bytes. The whole event is left out.
    LongId,
    /// More than [`OPEN_MAX`] agents, tools, prompts and providers would be open.
    TooManyOpen,
    /// These token keys are not valid. The server would refuse the whole report because of them.
    TokenKeys(Vec<String>),
    /// These tokens are more than the 32 that a pane takes. Hidden tokens do not count.
    TooManyTokens(Vec<String>),
    /// The server would silently drop these parts of a session, or refuse the report because of
    /// them.
    Session(Vec<InvalidValue>),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LongId => write!(f, "an id has over {ID_MAX_BYTES} bytes"),
            Self::TooManyOpen => write!(f, "over {OPEN_MAX} agents, tools and prompts are open"),
            Self::TokenKeys(keys) => {
                write!(f, "token keys {}: expected 1 to 32 of A-Z a-z 0-9 _ -", list(keys))
            }
            Self::TooManyTokens(keys) => {
                write!(f, "a pane takes 32 tokens; left out: {}", list(keys))
            }
            Self::Session(parts) => {
                // Events have other names for these parts than requests.
                let parts: Vec<String> = parts
                    .iter()
                    .map(|part| part.to_string().replace("agent_session_", "session_"))
                    .collect();
                write!(f, "left out of the session: {}", parts.join("; "))
            }
        }
    }
}

impl std::error::Error for Refused {}

impl Refused {
    /// As `Display`, but with counts instead of names: for logs.
    pub(crate) fn without_names(&self) -> String {
        match self {
            Self::TokenKeys(keys) => {
                format!("left out, not 1 to 32 of A-Z a-z 0-9 _ -: token keys: {}", keys.len())
            }
            Self::TooManyTokens(keys) => {
                format!("left out, a pane takes 32: tokens: {}", keys.len())
            }
            Self::LongId | Self::TooManyOpen | Self::Session(_) => self.to_string(),
        }
    }
}

/// The first few names, without control characters and shortened.
fn list(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut shown: Vec<String> = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("`{}`", strip_controls(name).chars().take(40).collect::<String>()))
        .collect();
    if names.len() > SHOWN {
        shown.push(format!("and {} more", names.len() - SHOWN));
    }
    shown.join(", ")
}
