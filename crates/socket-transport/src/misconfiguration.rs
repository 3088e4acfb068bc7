use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

/// A setting with a wrong value: which setting, and what is wrong.
///
/// `Display` is one sentence that a person can act on. It quotes the value, so that spaces and
/// newlines at its end are visible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misconfiguration {
    variable: &'static str,
    why: Why,
    value: Option<OsString>,
}

/// What is wrong with a setting, see [`Misconfiguration::why`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Why {
    /// The setting is required and not set.
    Missing,
    /// The setting is empty.
    Empty,
    /// The value begins or ends with a space, a tab or a line break, as the output of a command
    /// does.
    Blank,
    /// The value is a relative path, which would change its meaning with the current folder.
    Relative,
    /// The value contains bytes that it cannot contain.
    Invalid,
}

impl Misconfiguration {
    pub(crate) fn missing(variable: &'static str) -> Self {
        Self { variable, why: Why::Missing, value: None }
    }

    pub(crate) fn new(variable: &'static str, why: Why, value: &OsStr) -> Self {
        Self { variable, why, value: Some(value.to_os_string()) }
    }

    /// The variable, such as [`HERDR_SOCKET_PATH`](crate::env::HERDR_SOCKET_PATH), or the flag
    /// `--socket`.
    pub fn variable(&self) -> &'static str {
        self.variable
    }

    /// What is wrong with it.
    pub fn why(&self) -> Why {
        self.why
    }
}

impl fmt::Display for Misconfiguration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.variable)?;
        if let Some(value) = self.value.as_deref().filter(|value| !value.is_empty()) {
            write!(f, " is {:?}, which ", value.display().to_string())?;
        } else {
            f.write_str(" ")?;
        }
        f.write_str(match self.why {
            Why::Missing => "is not set, and is needed",
            Why::Empty => "is set but empty",
            Why::Blank => "begins or ends with a blank or a line break",
            Why::Relative => "is not an absolute path",
            Why::Invalid => "is not a value that Herdr gives it",
        })
    }
}

impl std::error::Error for Misconfiguration {}

/// Checks a path that is set by `variable`.
pub(crate) fn absolute_path(
    variable: &'static str,
    value: OsString,
) -> Result<PathBuf, Misconfiguration> {
    let value = present(variable, value)?;
    let path = PathBuf::from(value);
    if path.is_absolute() {
        Ok(path)
    } else {
        Err(Misconfiguration::new(variable, Why::Relative, path.as_os_str()))
    }
}

/// Refuses an empty value and one with spaces around it.
pub(crate) fn present(
    variable: &'static str,
    value: OsString,
) -> Result<OsString, Misconfiguration> {
    let bytes = value.as_encoded_bytes();
    let why = if bytes.is_empty() {
        Why::Empty
    } else if bytes.trim_ascii().len() != bytes.len() {
        Why::Blank
    } else {
        return Ok(value);
    };
    Err(Misconfiguration::new(variable, why, &value))
}
