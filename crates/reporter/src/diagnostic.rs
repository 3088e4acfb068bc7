//! What keeps reports from showing.

/// Something that keeps reports from showing. It is never a failure of the host. Each kind is
/// raised once, until its cause has gone. The detail contains codes, counts and paths, never
/// payloads.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The kind of diagnostic.
    pub kind: DiagnosticKind,
    /// In words: what, where, and what would help.
    pub detail: String,
}

impl Diagnostic {
    pub(crate) fn new(kind: DiagnosticKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into() }
    }
}

/// The kinds of diagnostics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// The server cannot be reached.
    ConnectFailed,
    /// The server does not answer.
    Timeout,
    /// The server refused a request.
    ProtocolRejected,
    /// Something other than Herdr's pane API is behind the socket.
    NotPaneApi,
    /// The server said `ok` and shows something else.
    Ignored,
    /// The pane is not the one this agent runs in.
    ForeignPane,
    /// Another process or integration reports for this pane.
    Deferred,
    /// A newer reporter of this process owns the pane.
    StaleOwner,
    /// The environment or the settings do not make sense.
    Misconfigured,
    /// Something does not fit and was left out.
    Limit,
    /// The reporter itself could not start or has failed: a bug, or the process has no threads or
    /// descriptors left.
    EngineFailed,
}

impl DiagnosticKind {
    /// The word in output lines.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ConnectFailed => "connect_failed",
            Self::Timeout => "timeout",
            Self::ProtocolRejected => "protocol_rejected",
            Self::NotPaneApi => "not_pane_api",
            Self::Ignored => "ignored",
            Self::ForeignPane => "foreign_pane",
            Self::Deferred => "deferred",
            Self::StaleOwner => "stale_owner",
            Self::Misconfigured => "misconfigured",
            Self::Limit => "limit",
            Self::EngineFailed => "engine_failed",
        }
    }
}
