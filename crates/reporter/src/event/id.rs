use serde::ser::Error as _;
use serde::{Serialize, Serializer};

use super::MAIN_AGENT;

/// Longest id of an agent, tool, prompt, provider or run, in bytes. Ids are kept as long as
/// something is open, so they are bounded.
pub const ID_MAX_BYTES: usize = 1024;

/// The id of an agent, a tool call or a prompt: a host's own text or number.
///
/// Those that a [`Turn`](crate::Turn) and its like make for themselves equal no id that a host can
/// say.
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
    /// Made by a turn, a tool or a prompt of the library.
    Ours(u64),
}

impl EventId {
    pub(crate) fn ours(number: u64) -> Self {
        Self(Id::Ours(number))
    }

    /// Whether it is the main agent's.
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

/// Only an id that a host has said can be written: any text that stood for another one could be a
/// host's own.
impl Serialize for EventId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Id::Host(id) => serializer.serialize_str(id),
            Id::Ours(_) => Err(S::Error::custom("the id of a turn, tool or prompt has no text")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f48_only_what_a_host_has_said_can_be_written() {
        assert_eq!(serde_json::to_string(&EventId::from("#1")).ok().as_deref(), Some("\"#1\""));
        assert!(serde_json::to_string(&EventId::ours(1)).is_err());
    }
}
