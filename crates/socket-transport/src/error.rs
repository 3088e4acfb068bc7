use std::error::Error as StdError;
use std::fmt;
use std::path::{Path, PathBuf};

use herdr_proto::Rejection;

/// How many characters of a refusal's code a message shows. Real codes have fewer than 40, and
/// longer text of a server stays out of logs.
const CODE_SHOWN: usize = 64;

/// Why an exchange with the server failed.
///
/// [`kind`](Self::kind) tells what a caller can do. `Display` is one sentence about this layer,
/// with the path in it. `source` is the error of the operating system or the decoder, if there
/// is one. No line that was sent or received is ever part of the error.
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    phase: Option<Phase>,
    socket: PathBuf,
    note: Option<String>,
    rejection: Option<Rejection>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// What went wrong, by what a caller can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is nothing at the path, or a symbolic link that leads nowhere. The server was
    /// stopped, or the path is from another machine.
    NoSuchSocket,
    /// There is a socket on which no server listens, because the server was killed. On macOS a
    /// full backlog looks the same.
    Refused,
    /// The file at the path is not a stream socket.
    NotASocket,
    /// This process may not use the path, or sockets at all, because of file modes or a
    /// sandbox.
    Permission,
    /// The path is too long for a socket address. Nothing was tried. A short symbolic link to
    /// the same place works.
    PathTooLong,
    /// The socket is served by another user who is not root. Nothing was sent.
    /// [`Options::allow_foreign_socket`](crate::Options::allow_foreign_socket) allows it.
    ForeignOwner,
    /// The server's backlog was full until the deadline. Nothing was sent.
    Busy,
    /// The deadline passed in this phase. After [`Phase::Read`] the server may still apply the
    /// request (protocol.md section 10: a stopped server applies it when it continues).
    Timeout(Phase),
    /// The server closed the connection without an answer. It does so for lines that are not
    /// requests (protocol.md section 7.3) and when it stops.
    ClosedWithoutReply,
    /// The server closed the connection in the middle of a line.
    ClosedMidReply,
    /// The server's line is longer than [`Options::reply_cap`](crate::Options::reply_cap).
    Oversize,
    /// The server's line is not a reply to this request.
    Malformed,
    /// The server speaks JSON-RPC: it is herdr-core, not the pane API (protocol.md section
    /// 8.1). Trying again does not help.
    NotPaneApi,
    /// The server refused the request, see [`Error::rejection`].
    Rejected,
    /// The request is not a line of the protocol: it is longer than the server reads, is blank,
    /// has no newline at its end, or has more than one line. Nothing was tried.
    InvalidRequest,
    /// This platform has no Unix sockets. Nothing was tried.
    Unsupported,
    /// Another error of the operating system, such as too many open files. `source` has it.
    Io,
}

/// A phase of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Until the connection is made and its owner is checked.
    Connect,
    /// Until the server has the whole line.
    Write,
    /// Until the reply is complete.
    Read,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, socket: &Path) -> Self {
        let phase = if let ErrorKind::Timeout(phase) = kind { Some(phase) } else { None };
        Self(Box::new(Inner {
            kind,
            phase,
            socket: socket.to_path_buf(),
            note: None,
            rejection: None,
            source: None,
        }))
    }

    pub(crate) fn in_phase(mut self, phase: Phase) -> Self {
        self.0.phase = Some(phase);
        self
    }

    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.0.note = Some(note.into());
        self
    }

    pub(crate) fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    pub(crate) fn rejected(rejection: Rejection, socket: &Path) -> Self {
        let mut error = Self::new(ErrorKind::Rejected, socket).in_phase(Phase::Read);
        error.0.note = Some(rejection.code.as_str().escape_debug().take(CODE_SHOWN).collect());
        error.0.rejection = Some(rejection);
        error
    }

    pub(crate) fn undecodable(cause: herdr_proto::Error, socket: &Path) -> Self {
        let kind = match cause.kind() {
            herdr_proto::ErrorKind::NotPaneApi => ErrorKind::NotPaneApi,
            _ => ErrorKind::Malformed,
        };
        Self::new(kind, socket).in_phase(Phase::Read).caused_by(cause)
    }

    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The phase in which it went wrong; `None` if nothing was tried. Up to [`Phase::Write`]
    /// the server does not have the whole request.
    pub fn phase(&self) -> Option<Phase> {
        self.0.phase
    }

    /// The path of the socket.
    pub fn socket(&self) -> &Path {
        &self.0.socket
    }

    /// The server's code and message; only for [`ErrorKind::Rejected`].
    pub fn rejection(&self) -> Option<&Rejection> {
        self.0.rejection.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { kind, socket, note, .. } = &*self.0;
        // Quoted, so that spaces and newlines in it are visible.
        let socket = socket.display().to_string();
        match kind {
            ErrorKind::NoSuchSocket => write!(f, "there is no socket at {socket:?}"),
            ErrorKind::Refused => write!(f, "no process listens on the socket {socket:?}"),
            ErrorKind::NotASocket => write!(f, "{socket:?} is not a stream socket"),
            ErrorKind::Permission => write!(
                f,
                "no permission to use the socket {socket:?} (file modes, or a sandbox around \
                 this process)"
            ),
            ErrorKind::PathTooLong => write!(f, "the path {socket:?} is too long for a socket"),
            ErrorKind::ForeignOwner => write!(
                f,
                "the socket {socket:?} is served by another user (allow_foreign_socket lifts this)"
            ),
            ErrorKind::Busy => write!(f, "the server at {socket:?} takes no connections in time"),
            ErrorKind::Timeout(Phase::Connect) => {
                write!(f, "connecting to {socket:?} took too long")
            }
            ErrorKind::Timeout(Phase::Write) => {
                write!(f, "the server at {socket:?} did not take the request in time")
            }
            ErrorKind::Timeout(Phase::Read) => {
                write!(f, "the server at {socket:?} did not answer in time")
            }
            ErrorKind::ClosedWithoutReply => {
                write!(f, "the server at {socket:?} closed the connection without an answer")
            }
            ErrorKind::ClosedMidReply => {
                write!(f, "the server at {socket:?} closed the connection within a line")
            }
            ErrorKind::Oversize => write!(f, "a line of the server at {socket:?} is too long"),
            ErrorKind::Malformed => {
                write!(f, "a line of the server at {socket:?} is not what it should be")
            }
            ErrorKind::NotPaneApi => write!(f, "what listens at {socket:?} is not the pane API"),
            ErrorKind::Rejected => write!(f, "the server at {socket:?} refused the request"),
            ErrorKind::InvalidRequest => f.write_str("the request is not a line of the protocol"),
            ErrorKind::Unsupported => f.write_str("this platform has no pane socket"),
            ErrorKind::Io => write!(f, "the connection to {socket:?} failed"),
        }?;
        match note {
            Some(note) => write!(f, ": {note}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { kind, phase, socket, note, source, .. } = &*self.0;
        f.debug_struct("Error")
            .field("kind", kind)
            .field("phase", phase)
            .field("socket", socket)
            .field("note", note)
            .field("source", source)
            // The message of the refusal is left out, because it may quote the request.
            .finish_non_exhaustive()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
