use std::error::Error as StdError;
use std::fmt;

use herdr_proto::{ErrorCode, Rejection};
use herdr_socket_transport as transport;
use serde::Serialize;

/// Why a call was refused or failed.
///
/// [`kind`](Self::kind) tells what the caller can do, and
/// [`safe_to_retry`](Self::safe_to_retry) whether the same call may be made again. `Display` is
/// one sentence. Neither it nor `source` contains anything from a screen or from a text that
/// was typed.
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    detail: String,
    source: Option<transport::Error>,
}

/// What went wrong, by what a caller can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// Herdr does not answer at the socket: it is absent, stopped or stopping.
    NoServer,
    /// The server at the socket cannot be used: it is another program, is run by another user,
    /// or does not have this method.
    UnusableServer,
    /// A deadline passed. If a text was to be typed, it may have been typed.
    Timeout,
    /// The caller did not name a pane, and there is no default.
    NoTarget,
    /// The pane does not exist.
    PaneGone,
    /// The pane has no agent, or the agent has ended.
    NoAgent,
    /// The agent waits for a person's answer; nothing was typed.
    AgentBlocked,
    /// Herdr does not know the agent, it is still starting, or it is not in the
    /// foreground; nothing was typed.
    AgentNotReady,
    /// The agent ended or was replaced after the text was typed.
    AgentNotRunning,
    /// More rows were asked for than the screen of an agent has that is not idle.
    AgentNotIdle,
    /// `agent.prompt` does not work with this agent, and pushing was not allowed; nothing was
    /// typed.
    CustomAgent,
    /// The text was typed, and it had no visible effect in time.
    PromptStalled,
    /// The terminal did not accept the whole text.
    PromptFailed,
    /// Nothing remains to be typed.
    EmptyPrompt,
    /// The text has several lines, and the program would take each line as a text of its own.
    SeveralLines,
    /// There is no ready profile for the program in the pane.
    NoProfile,
    /// The screen has changed since the caller read it; no key was pressed.
    ScreenChanged,
    /// The operation id was used for another text or pane, or the operation has already
    /// prompted; nothing was typed.
    OperationReused,
    /// A name or value is wrong.
    InvalidInput,
    /// Any other error of the server or the system.
    Other,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, detail: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, detail: detail.into(), source: None }))
    }

    /// An [`ErrorKind::InvalidInput`] for input that a front end finds wrong itself.
    pub fn invalid(detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidInput, detail)
    }

    pub(crate) fn pane_gone(pane: &str) -> Self {
        Self::new(ErrorKind::PaneGone, format!("the pane {} does not exist", pane.escape_debug()))
    }

    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Whether the same call can be made again without typing a text or pressing a key twice.
    /// It may still fail.
    pub fn safe_to_retry(&self) -> bool {
        !self.may_have_arrived()
            && !matches!(
                self.kind(),
                ErrorKind::Timeout
                    | ErrorKind::AgentNotRunning
                    | ErrorKind::PromptStalled
                    | ErrorKind::PromptFailed
                    | ErrorKind::Other
            )
    }

    /// Whether the server has, or may have, received the request.
    pub(crate) fn may_have_arrived(&self) -> bool {
        self.0.source.as_ref().is_some_and(|error| {
            error.rejection().is_none() && error.phase() == Some(transport::Phase::Read)
        })
    }
}

impl From<transport::Error> for Error {
    fn from(error: transport::Error) -> Self {
        use transport::ErrorKind as Wire;

        let kind = match error.kind() {
            Wire::NoSuchSocket
            | Wire::Refused
            | Wire::ClosedWithoutReply
            | Wire::ClosedMidReply => ErrorKind::NoServer,
            Wire::NotASocket
            | Wire::Permission
            | Wire::PathTooLong
            | Wire::ForeignOwner
            | Wire::Malformed
            | Wire::NotPaneApi
            | Wire::Unsupported => ErrorKind::UnusableServer,
            Wire::Timeout(_) | Wire::Busy => ErrorKind::Timeout,
            Wire::InvalidRequest => ErrorKind::InvalidInput,
            Wire::Rejected => error.rejection().map_or(ErrorKind::Other, kind_of),
            _ => ErrorKind::Other,
        };
        let detail = error.to_string();
        Self(Box::new(Inner { kind, detail, source: Some(error) }))
    }
}

fn kind_of(rejection: &Rejection) -> ErrorKind {
    let kinds = [
        (ErrorCode::PANE_NOT_FOUND, ErrorKind::PaneGone),
        (ErrorCode::AGENT_NOT_FOUND, ErrorKind::NoAgent),
        (ErrorCode::AGENT_BLOCKED, ErrorKind::AgentBlocked),
        (ErrorCode::AGENT_NOT_READY, ErrorKind::AgentNotReady),
        (ErrorCode::AGENT_NOT_RUNNING, ErrorKind::AgentNotRunning),
        (ErrorCode::AGENT_PROMPT_STALLED, ErrorKind::PromptStalled),
        (ErrorCode::AGENT_PROMPT_FAILED, ErrorKind::PromptFailed),
        (ErrorCode::PANE_SEND_FAILED, ErrorKind::PromptFailed),
        (ErrorCode::EMPTY_AGENT_PROMPT, ErrorKind::EmptyPrompt),
        (ErrorCode::AGENT_NOT_IDLE, ErrorKind::AgentNotIdle),
        (ErrorCode::INVALID_KEY, ErrorKind::InvalidInput),
        (ErrorCode::TIMEOUT, ErrorKind::Timeout),
        (ErrorCode::SERVER_UNAVAILABLE, ErrorKind::NoServer),
        (ErrorCode::UNKNOWN_METHOD, ErrorKind::UnusableServer),
        (ErrorCode::UNSUPPORTED, ErrorKind::UnusableServer),
    ];
    let found = kinds.into_iter().find(|(code, _)| *code == rejection.code);
    found.map_or(ErrorKind::Other, |(_, kind)| kind)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.detail)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_ref().map(|source| source as _)
    }
}
