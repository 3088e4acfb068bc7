use herdr_proto::{InvalidValue, ResumeArgv, SessionId, SessionPath};

use crate::event::SessionStarted;

/// The parts of a session that the server accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Session {
    /// The id, if it is valid.
    pub id: Option<SessionId>,
    /// The path, if it is valid.
    pub path: Option<SessionPath>,
    /// The command that restarts the agent, if it is valid.
    pub resume_argv: Option<ResumeArgv>,
}

/// The pane's session.
#[derive(Debug, Clone)]
pub(super) struct KnownSession {
    /// The id as the host gave it.
    pub(super) id: String,
    /// What is sent; `None` if the server would drop all of it.
    pub(super) sent: Option<Session>,
}

impl KnownSession {
    /// The session, and the values in it that the server would drop or refuse.
    pub(super) fn of(session: SessionStarted) -> (Self, Vec<InvalidValue>) {
        let mut invalid = Vec::new();
        let sent = Session {
            // An id that the server would drop is not an error: it still tells sessions apart, and
            // can be shown as a token.
            id: SessionId::parse(session.session_id.as_str()).ok(),
            path: session
                .session_path
                .and_then(|path| valid(SessionPath::parse(path), &mut invalid)),
            resume_argv: session
                .resume_argv
                .and_then(|argv| valid(ResumeArgv::parse(argv), &mut invalid)),
        };
        // A session without an id and a path must not get a receipt.
        let sent = (sent.id.is_some() || sent.path.is_some()).then_some(sent);
        (Self { id: session.session_id, sent }, invalid)
    }
}

fn valid<T>(parsed: Result<T, InvalidValue>, invalid: &mut Vec<InvalidValue>) -> Option<T> {
    parsed.map_err(|error| invalid.push(error)).ok()
}
