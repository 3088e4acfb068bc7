use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::time::{sleep, timeout};
use tokio_util::codec::FramedRead;

use super::dial::{DialError, Dialled, Trust, dial, is_gone};
use super::lines::{LineError, Lines};
use super::socket::{Socket, connect_error, send_some};
use crate::error::{Error, ErrorKind, Phase};
use crate::options::Options;
use crate::peer::Peer;

/// The first wait for a full backlog. Each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(1);

/// The longest wait for a full backlog.
const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// A connection whose request has been sent. Lines of the answer are read from it.
///
/// Both directions stay open, because closing the sending direction would end a stream
/// (protocol.md section 7.5).
#[derive(Debug)]
pub(crate) struct Connection {
    lines: FramedRead<UnixStream, Lines>,
    peer: Peer,
    socket: PathBuf,
}

impl Connection {
    /// Connects, sends `line` and waits for the first line of the answer, all within the
    /// deadline.
    pub(crate) async fn request(
        socket: &Path,
        options: &Options,
        line: &[u8],
    ) -> Result<(Self, Bytes), Error> {
        let mut phase = Phase::Connect;
        let work = async {
            let mut connection = Self::open(socket, options, line, &mut phase).await?;
            match connection.next_line().await? {
                Some(reply) => Ok((connection, reply)),
                None => Err(connection.read_error(ErrorKind::ClosedWithoutReply)),
            }
        };
        match timeout(options.deadline, work).await {
            Ok(outcome) => outcome,
            // A full backlog is the only thing that is waited for before the write.
            Err(_) if phase == Phase::Connect => {
                Err(Error::new(ErrorKind::Busy, socket).in_phase(phase))
            }
            Err(_) => Err(Error::new(ErrorKind::Timeout(phase), socket)),
        }
    }

    async fn open(
        socket: &Path,
        options: &Options,
        line: &[u8],
        phase: &mut Phase,
    ) -> Result<Self, Error> {
        let mut wire = Socket::at(socket)?;
        let trust = if options.allow_foreign_socket {
            Trust::Anyone
        } else {
            Trust::User(rustix::process::geteuid().as_raw())
        };
        let mut wait = FIRST_WAIT;
        let Dialled { connection, peer, sent } = loop {
            match dial(&mut wire, line, trust) {
                Ok(dialled) => break dialled,
                Err(DialError::Full) => {
                    sleep(wait).await;
                    wait = LONGEST_WAIT.min(wait * 2);
                }
                Err(DialError::Connect(cause)) => return Err(connect_error(cause, socket)),
                Err(DialError::Foreign(peer)) => {
                    let error = Error::new(ErrorKind::ForeignOwner, socket);
                    let note = format!("the user with the id {}", peer.uid());
                    return Err(error.in_phase(Phase::Connect).note(note));
                }
                Err(DialError::Send(cause)) => return Err(write_error(cause, socket)),
            }
        };
        *phase = Phase::Write;
        send_rest(&connection, &line[sent..]).await.map_err(|cause| write_error(cause, socket))?;
        *phase = Phase::Read;
        let lines = FramedRead::new(connection, Lines::capped(options.reply_cap));
        Ok(Self { lines, peer, socket: socket.to_path_buf() })
    }

    /// The next line, or `None` if the server closed the connection between lines.
    ///
    /// Cancel safe: bytes that were read stay in the buffer.
    pub(crate) async fn next_line(&mut self) -> Result<Option<Bytes>, Error> {
        match self.lines.next().await {
            None => Ok(None),
            Some(Ok(line)) => Ok(Some(line)),
            Some(Err(LineError::Oversize)) => Err(self.read_error(ErrorKind::Oversize)),
            Some(Err(LineError::Broken)) => Err(self.read_error(ErrorKind::ClosedMidReply)),
            // A server that closes with unread input resets the connection.
            Some(Err(LineError::Io(cause))) if is_gone(&cause) => {
                let kind = if self.lines.read_buffer().is_empty() {
                    ErrorKind::ClosedWithoutReply
                } else {
                    ErrorKind::ClosedMidReply
                };
                Err(self.read_error(kind).caused_by(cause))
            }
            Some(Err(LineError::Io(cause))) => Err(self.read_error(ErrorKind::Io).caused_by(cause)),
        }
    }

    /// The process that serves the socket.
    pub(crate) fn peer(&self) -> Peer {
        self.peer
    }

    /// Ends the connection for all processes that share it.
    pub(crate) fn shut_down(&self) {
        // An error is ignored, because the server may be gone.
        let _ = rustix::net::shutdown(self.lines.get_ref(), rustix::net::Shutdown::Both);
    }

    fn read_error(&self, kind: ErrorKind) -> Error {
        Error::new(kind, &self.socket).in_phase(Phase::Read)
    }
}

/// Sends the rest of a line that is larger than the socket's buffer.
async fn send_rest(connection: &UnixStream, mut rest: &[u8]) -> io::Result<()> {
    while !rest.is_empty() {
        let sent = connection.async_io(Interest::WRITABLE, || send_some(connection, rest)).await;
        match sent {
            Ok(sent) => rest = &rest[sent..],
            // The server may have sent an answer before it closed, which the reader will find.
            Err(cause) if is_gone(&cause) => break,
            Err(cause) => return Err(cause),
        }
    }
    Ok(())
}

fn write_error(cause: io::Error, socket: &Path) -> Error {
    Error::new(ErrorKind::Io, socket).in_phase(Phase::Write).caused_by(cause)
}
