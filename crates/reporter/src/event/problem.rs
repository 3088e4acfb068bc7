use std::fmt;

use super::line::KINDS;
use super::near::nearest;

/// Why a line is not an event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineError {
    /// It is not JSON; the column where reading stopped. Columns count bytes, from 1.
    NotJson(usize),
    /// It ends within its JSON; the column of its end.
    CutOff(usize),
    /// Its JSON is nested deeper than a reader can go; the column where that became too much.
    TooDeep(usize),
    /// It is JSON, but not an object.
    NotAnObject,
    /// It has no `event`, or one that is not a text.
    NoKind,
    /// Its `event` is not one that this version knows; the name, cleaned and cut.
    UnknownKind(String),
    /// A field is missing or wrong.
    Field {
        /// The event.
        event: &'static str,
        /// The field.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
        /// What would be right.
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
                let near = nearest(kind, KINDS);
                return near.map_or(Ok(()), |near| write!(f, "; did you mean `{near}`?"));
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
