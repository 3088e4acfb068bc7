use std::borrow::Cow;
use std::fmt;

/// A value that does not fit the wire. It is refused before anything is sent.
///
/// `Display` names the field, what is wrong with it, and what would be right. Of the value it
/// shows at most a number or one character.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} {problem}; expected {expected}")]
pub struct InvalidValue {
    field: &'static str,
    problem: Cow<'static, str>,
    expected: Cow<'static, str>,
}

impl InvalidValue {
    /// `problem` continues "FIELD …", and `expected` continues "expected …".
    pub(crate) fn new(
        field: &'static str,
        problem: impl Into<Cow<'static, str>>,
        expected: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { field, problem: problem.into(), expected: expected.into() }
    }

    /// The wire name of the field, for example `source`.
    pub fn field(&self) -> &'static str {
        self.field
    }
}

/// What went wrong with a line, by what a caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is longer than a line may be
    /// ([`limits::REQUEST_LINE_MAX`](crate::limits::REQUEST_LINE_MAX)). Send something smaller.
    Oversize,
    /// The line is not JSON, or not an answer to this method. Trying again may help.
    Malformed,
    /// The line is JSON-RPC: the program at that socket is not Herdr's pane API (protocol
    /// §8.1). Trying again does not help.
    NotPaneApi,
}

/// A line that could not be written or read.
///
/// It tells what is wrong and where, and contains nothing of the line. It has no `source`,
/// because messages of the JSON reader quote values that must not reach a log.
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

    /// Keeps the position of a JSON error. Columns count from the beginning of the part that
    /// `problem` names.
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
