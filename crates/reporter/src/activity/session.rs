use herdr_proto::{InvalidValue, ResumeArgv, SessionId, SessionPath};

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
    /// What is known of it, and what of it the server would drop.
    pub(super) fn of(session: SessionStarted) -> (Self, Vec<InvalidValue>) {
        let mut wrong = Vec::new();
        let sent = Session {
            // Any id tells one session from another and may be shown as a
            // token, so one that the server would drop is no mistake.
            id: SessionId::parse(session.session_id.as_str()).ok(),
            path: session.session_path.and_then(|path| kept(SessionPath::parse(path), &mut wrong)),
            resume_argv: session
                .resume_argv
                .and_then(|argv| kept(ResumeArgv::parse(argv), &mut wrong)),
        };
        // An empty one would be told as sent.
        let sent = (sent.id.is_some() || sent.path.is_some()).then_some(sent);
        (Self { id: session.session_id, sent }, wrong)
    }
}

fn kept<T>(parsed: Result<T, InvalidValue>, wrong: &mut Vec<InvalidValue>) -> Option<T> {
    parsed.map_err(|why| wrong.push(why)).ok()
}
