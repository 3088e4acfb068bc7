use std::borrow::Cow;
use std::fmt;

/// A value that does not fit the wire, refused before anything is sent.
///
/// `Display` names the field, what is wrong with it and what would be right.
/// Of the value it shows a number or one offending character at most.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} {problem}; expected {expected}")]
pub struct InvalidValue {
    field: &'static str,
    problem: Cow<'static, str>,
    expected: Cow<'static, str>,
}

impl InvalidValue {
    /// `problem` completes "FIELD …", `expected` completes "expected …".
    pub(crate) fn new(
        field: &'static str,
        problem: impl Into<Cow<'static, str>>,
        expected: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { field, problem: problem.into(), expected: expected.into() }
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

/// A line that could not be made or understood.
///
/// It holds what is wrong and where, and nothing of the line: the JSON reader's
/// own messages quote values, so there is no `source` that would repeat them
/// in a log.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    problem: Cow<'static, str>,
    column: Option<usize>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, problem: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, problem: problem.into(), column: None }
    }

    pub(crate) fn malformed(problem: &'static str) -> Self {
        Self::new(ErrorKind::Malformed, problem)
    }

    /// Keeps the place of a JSON error. Columns count from the beginning of the
    /// part that `problem` names.
    pub(crate) fn json(problem: &'static str, cause: &serde_json::Error) -> Self {
        let column = (cause.line() == 1).then(|| cause.column());
        Self { column, ..Self::malformed(problem) }
    }

    /// What a caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)?;
        match self.column {
            Some(column) => write!(f, " (at its byte {column})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}
