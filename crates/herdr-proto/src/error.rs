use std::fmt;

/// A value that does not fit the wire, refused before anything is sent.
///
/// `Display` names the field, what is wrong with it and what would be right;
/// it never repeats the value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} {problem}; {expected}")]
pub struct InvalidValue {
    field: &'static str,
    problem: String,
    expected: &'static str,
}

impl InvalidValue {
    pub(crate) fn new(
        field: &'static str,
        problem: impl Into<String>,
        expected: &'static str,
    ) -> Self {
        Self { field, problem: problem.into(), expected }
    }

    /// The field by its wire name, for example `source`.
    pub fn field(&self) -> &'static str {
        self.field
    }
}

/// What went wrong with a line, by what a caller would do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request does not fit a line ([`limits::REQUEST_LINE_MAX`](crate::limits::REQUEST_LINE_MAX)).
    /// Sending something smaller helps.
    Oversize,
    /// The line is no JSON, or not what this method answers. Trying again may help.
    Malformed,
    /// The line is JSON-RPC: something else than Herdr's pane API answers at
    /// that socket (protocol §8.1). Trying again does not help.
    NotPaneApi,
}

/// A line that could not be made or understood. Payloads are never part of it.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    context: &'static str,
    source: Option<serde_json::Error>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, context: &'static str) -> Self {
        Self { kind, context, source: None }
    }

    pub(crate) fn json(context: &'static str, source: serde_json::Error) -> Self {
        Self { kind: ErrorKind::Malformed, context, source: Some(source) }
    }

    /// What a caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.context)?;
        // serde_json quotes values in some messages, so only the place is told.
        match &self.source {
            Some(source) if source.line() > 0 => write!(f, " (column {})", source.column()),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}
