use herdr_proto::{ResumeArgv, SessionId, SessionPath};

use crate::event::SessionStarted;

/// A session as far as the server takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Session {
    /// The id, if the server would not drop it.
    pub id: Option<SessionId>,
    /// The path, if the server would not drop it.
    pub path: Option<SessionPath>,
    /// The command that restarts the agent, if it is well-formed.
    pub resume_argv: Option<ResumeArgv>,
}

/// The pane's session, as far as anything depends on it.
#[derive(Debug, Clone)]
pub(super) struct KnownSession {
    /// As the host has it.
    pub(super) id: String,
    /// What goes out; nothing if the server would drop all of it.
    pub(super) sent: Option<Session>,
}

impl KnownSession {
    pub(super) fn of(session: SessionStarted) -> Self {
        let sent = Session {
            id: SessionId::parse(session.session_id.as_str()).ok(),
            path: session.session_path.and_then(|path| SessionPath::parse(path).ok()),
            resume_argv: session.resume_argv.and_then(|argv| ResumeArgv::parse(argv).ok()),
        };
        // An empty one would be told as sent.
        let sent = (sent.id.is_some() || sent.path.is_some()).then_some(sent);
        Self { id: session.session_id, sent }
    }
}
