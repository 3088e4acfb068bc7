/// The kind of value that the specification does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A [`RecordId`](crate::RecordId).
    RecordId,
    /// An [`AppName`](crate::AppName).
    App,
    /// A kind of a state other than `blocked`.
    BlockedKind,
    /// A progress above 100, or one of a state that has no progress.
    Progress,
}

/// A value that a terminal would discard or ignore. It is refused before anything is written.
///
/// `Display` tells which value is wrong, what is wrong with it and what would be right. It does
/// not repeat the value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; expected {expected}")]
pub struct Error {
    kind: ErrorKind,
    problem: &'static str,
    expected: &'static str,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, problem: &'static str, expected: &'static str) -> Self {
        Self { kind, problem, expected }
    }

    /// Which value is wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}
