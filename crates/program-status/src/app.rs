use std::fmt;

use crate::error::{Error, ErrorKind};
use crate::limits::NAME_MAX;

/// The stable name of a program, for other programs to match: `[A-Za-z0-9_.+-]{1,32}`, for
/// example `claude-code`.
///
/// A record without a name inherits that of the nearest record above it that has one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AppName(String);

impl AppName {
    /// Takes a name.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::App`] if it is empty, longer than [`NAME_MAX`] or contains another
    /// character.
    pub fn parse(name: impl Into<String>) -> Result<Self, Error> {
        let name = name.into();
        let problem = if name.is_empty() {
            "the application name is empty"
        } else if name.len() > NAME_MAX {
            "the application name is too long"
        } else if !name.bytes().all(is_name_byte) {
            "the application name holds a character that is not allowed"
        } else {
            return Ok(Self(name));
        };
        Err(Error::new(ErrorKind::App, problem, "1 to 32 of A-Z a-z 0-9 _ . + -"))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AppName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether application names and segments of record ids may contain this byte.
pub(crate) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'+' | b'-')
}
