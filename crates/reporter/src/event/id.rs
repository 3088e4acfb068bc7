use serde::ser::Error as _;
use serde::{Serialize, Serializer};

use super::MAIN_AGENT;

/// The longest id of an agent, tool, prompt, provider or run, in bytes. Ids are kept while
/// something is open, so their length is bounded.
pub const ID_MAX_BYTES: usize = 1024;

/// The id of an agent, a tool call or a prompt: a text or number that the host chooses.
///
/// A [`Turn`](crate::Turn), a tool run or a prompt of this library makes its own id, which never
/// equals an id of the host.
///
/// ```
/// use herdr_reporter::EventId;
/// assert_eq!(EventId::from(7), EventId::from("7"));
/// assert_eq!(EventId::default(), EventId::from("main"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(Id);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Id {
    Host(String),
    /// Made by this library.
    Internal(u64),
}

impl EventId {
    pub(crate) fn internal(number: u64) -> Self {
        Self(Id::Internal(number))
    }

    /// Whether this is the id of the main agent.
    pub fn is_main(&self) -> bool {
        matches!(&self.0, Id::Host(id) if id == MAIN_AGENT)
    }

    pub(crate) fn is_too_long(&self) -> bool {
        matches!(&self.0, Id::Host(id) if id.len() > ID_MAX_BYTES)
    }
}

impl Default for EventId {
    fn default() -> Self {
        MAIN_AGENT.into()
    }
}

impl From<String> for EventId {
    fn from(id: String) -> Self {
        Self(Id::Host(id))
    }
}

impl From<&str> for EventId {
    fn from(id: &str) -> Self {
        id.to_owned().into()
    }
}

impl From<u64> for EventId {
    fn from(id: u64) -> Self {
        id.to_string().into()
    }
}

/// Only a host's own id can be serialized: any text for an id of this library could equal a host's
/// own id.
impl Serialize for EventId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Id::Host(id) => serializer.serialize_str(id),
            Id::Internal(_) => {
                Err(S::Error::custom("the id of a turn, tool or prompt has no text"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f48_only_an_id_of_the_host_can_be_serialized() {
        assert_eq!(serde_json::to_string(&EventId::from("#1")).ok().as_deref(), Some("\"#1\""));
        assert!(serde_json::to_string(&EventId::internal(1)).is_err());
    }
}
