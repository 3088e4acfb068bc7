use serde::{Deserialize, Serialize};

use crate::error::InvalidValue;
use crate::ids::text_newtype;
use crate::limits;

/// The id of an agent's session: 1 to [`limits::SESSION_ID_MAX`] characters, no control
/// characters. The server silently ignores any other id (protocol §5.3 B1).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

impl SessionId {
    /// Takes a session id.
    ///
    /// # Errors
    ///
    /// If the server would ignore it.
    pub fn parse(id: impl Into<String>) -> Result<Self, InvalidValue> {
        let id = id.into();
        match problem(&id, limits::SESSION_ID_MAX) {
            None => Ok(Self(id)),
            Some(problem) => Err(InvalidValue::new(
                "agent_session_id",
                problem,
                format!("1 to {} characters, no control characters", limits::SESSION_ID_MAX),
            )),
        }
    }
}

/// The absolute path of an agent's session file: up to [`limits::SESSION_PATH_MAX`] characters,
/// no control characters. The server silently ignores any other path (protocol §5.3 B1).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionPath(String);

impl SessionPath {
    /// Takes a session path.
    ///
    /// # Errors
    ///
    /// If the server would ignore it, for example because it is relative.
    pub fn parse(path: impl Into<String>) -> Result<Self, InvalidValue> {
        let path = path.into();
        let problem = problem(&path, limits::SESSION_PATH_MAX)
            .or_else(|| (!path.starts_with('/')).then_some("is relative"));
        match problem {
            None => Ok(Self(path)),
            Some(problem) => Err(InvalidValue::new(
                "agent_session_path",
                problem,
                format!("an absolute path of up to {} characters", limits::SESSION_PATH_MAX),
            )),
        }
    }
}

fn problem(text: &str, max: usize) -> Option<&'static str> {
    if text.is_empty() {
        Some("is empty")
    } else if text.chars().any(char::is_control) {
        Some("holds control characters")
    } else if text.chars().nth(max).is_some() {
        Some("is too long")
    } else {
        None
    }
}

text_newtype!(SessionId, SessionPath);

/// Why a session began. The server uses it only for its own integrations (protocol §5.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum StartSource {
    /// The agent started.
    Startup,
    /// An earlier session was resumed.
    Resume,
    /// The conversation was cleared.
    Clear,
    /// A new conversation began in the same process.
    New,
    /// The session is a copy of another one.
    Fork,
    /// The conversation was compacted.
    Compact,
}
