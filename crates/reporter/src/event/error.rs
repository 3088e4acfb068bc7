use std::fmt;

use super::line::EVENTS;
use super::names::nearest;

/// Why a line is not an event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineError {
    /// The line is not JSON. Holds the column where reading stopped. Columns count bytes, from 1.
    NotJson(usize),
    /// The line ends in the middle of its JSON. Holds the column of the end.
    CutOff(usize),
    /// The JSON is nested too deeply. Holds the column where reading stopped.
    TooDeep(usize),
    /// The line is JSON, but not an object.
    NotAnObject,
    /// There is no field `event`, or it is not a text.
    NoKind,
    /// This version does not know the event. Holds the name without control characters, shortened.
    UnknownKind(String),
    /// A field is missing or wrong.
    Field {
        /// The event.
        event: &'static str,
        /// The field.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
        /// What is expected.
        expected: String,
    },
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson(column) => write!(f, "not JSON (column {column})")?,
            Self::CutOff(column) => write!(f, "not JSON: it is cut off (column {column})")?,
            Self::TooDeep(column) => {
                write!(f, "not JSON that can be read: it is nested too deep (column {column})")?;
            }
            Self::NotAnObject => f.write_str("JSON, but not an object")?,
            Self::NoKind => f.write_str("`event` is missing or not a text")?,
            Self::UnknownKind(kind) => {
                write!(f, "unknown event `{kind}`")?;
                let meant = nearest(kind, EVENTS);
                return meant.map_or(Ok(()), |meant| write!(f, "; did you mean `{meant}`?"));
            }
            Self::Field { event, field, problem, expected } => {
                return write!(f, "{event}: `{field}` {problem}; expected {expected}");
            }
        }
        write!(f, "; expected an object such as {EXAMPLE}")
    }
}

impl std::error::Error for LineError {}

const EXAMPLE: &str = r#"{"event": "agent_started"}"#;
