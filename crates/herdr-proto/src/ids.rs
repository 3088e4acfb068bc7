use std::borrow::Cow;
use std::num::NonZeroU64;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::InvalidValue;
use crate::limits;

/// The id of a pane, for example `w1:p1`. It is opaque: do not sort it or take it apart. After
/// a move the old id still works until the server ends (protocol §2.3). A live handoff ends it.
///
/// Ids from the server are accepted as they are, so that one odd pane does not make a whole
/// reply fail. [`parse`](Self::parse) checks ids from people and variables.
/// no reply; [`parse`](Self::parse) checks what people and variables say.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PaneId(String);

impl PaneId {
    /// Takes an id from the environment or from a person.
    ///
    /// # Errors
    ///
    /// If it is empty, over [`limits::PANE_ID_MAX`] bytes, or contains spaces or control
    /// characters.
    pub fn parse(id: impl Into<String>) -> Result<Self, InvalidValue> {
        let id = id.into();
        let problem = if id.is_empty() {
            "is empty"
        } else if id.len() > limits::PANE_ID_MAX {
            "is too long"
        } else if id.chars().any(|c| c.is_whitespace() || c.is_control()) {
            "holds blanks or control characters"
        } else {
            return Ok(Self(id));
        };
        Err(InvalidValue::new("pane_id", problem, "an id such as w1:p1"))
    }
}

/// The name of a reporter: `[A-Za-z0-9:._-]{1,80}`.
///
/// The server checks these characters only for metadata (protocol §4.2). State reports use the
/// same name, because the guard of a title refers to the source of the state.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SourceId(String);

impl SourceId {
    /// Takes a source name.
    ///
    /// # Errors
    ///
    /// If it is empty, over [`limits::SOURCE_MAX`] characters, or contains another character.
    pub fn parse(source: impl Into<String>) -> Result<Self, InvalidValue> {
        let source = source.into();
        match word_problem(&source, Self::allows, limits::SOURCE_MAX) {
            None => Ok(Self(source)),
            Some(problem) => Err(InvalidValue::new(
                "source",
                problem,
                format!("1 to {} of A-Z a-z 0-9 : . _ -", limits::SOURCE_MAX),
            )),
        }
    }

    /// Whether a source may contain this character.
    pub fn allows(c: char) -> bool {
        c.is_ascii_alphanumeric() || matches!(c, ':' | '.' | '_' | '-')
    }
}

/// A sequence number. All methods of a claim share one strictly rising counter. The server
/// keeps one mark per pane and source, ignores a number that is not above it, and still answers
/// `ok` (protocol §5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(u64);

impl Seq {
    /// Makes a sequence number. Any number is valid on the wire.
    pub const fn new(seq: u64) -> Self {
        Self(seq)
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// How long a title, labels or tokens stay without being sent again: 1 ms to one day
/// ([`limits::TTL_MAX_MS`]). Absent means without a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Ttl(NonZeroU64);

impl Ttl {
    /// Takes a time to live in milliseconds.
    ///
    /// # Errors
    ///
    /// If it is 0 or over [`limits::TTL_MAX_MS`], which the server would refuse.
    pub fn from_millis(millis: u64) -> Result<Self, InvalidValue> {
        Self::from_millis_const(millis).ok_or_else(|| {
            InvalidValue::new(
                "ttl_ms",
                format!("is {millis}"),
                format!("1 to {} milliseconds", limits::TTL_MAX_MS),
            )
        })
    }

    /// As [`from_millis`](Self::from_millis), for constants; `None` if it is out of range.
    pub const fn from_millis_const(millis: u64) -> Option<Self> {
        match NonZeroU64::new(millis) {
            Some(millis) if millis.get() <= limits::TTL_MAX_MS => Some(Self(millis)),
            _ => None,
        }
    }

    /// The time to live in milliseconds.
    pub const fn as_millis(self) -> u64 {
        self.0.get()
    }

    /// The time to live as a duration.
    pub const fn as_duration(self) -> Duration {
        Duration::from_millis(self.0.get())
    }
}

impl TryFrom<u64> for Ttl {
    type Error = InvalidValue;

    fn try_from(millis: u64) -> Result<Self, InvalidValue> {
        Self::from_millis(millis)
    }
}

impl From<Ttl> for u64 {
    fn from(ttl: Ttl) -> Self {
        ttl.as_millis()
    }
}

/// What is wrong with a word of ASCII characters.
pub(crate) fn word_problem(
    word: &str,
    allows: impl Fn(char) -> bool,
    max: usize,
) -> Option<Cow<'static, str>> {
    if word.is_empty() {
        Some("is empty".into())
    } else if let Some(bad) = word.chars().find(|c| !allows(*c)) {
        Some(format!("holds {bad:?}").into())
    } else if word.len() > max {
        Some(format!("has {} characters", word.len()).into())
    } else {
        None
    }
}

/// Implements what callers and serde expect of a newtype for text.
macro_rules! text_newtype {
    ($($name:ident),*) => {$(
        impl $name {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = crate::error::InvalidValue;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                Self::parse(text)
            }
        }

        impl std::str::FromStr for $name {
            type Err = crate::error::InvalidValue;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text)
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )*};
}
pub(crate) use text_newtype;

text_newtype!(PaneId, SourceId);
