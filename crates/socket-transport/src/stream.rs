use crate::Connection;
use crate::error::ErrorKind;
use crate::peer::Peer;

/// A connection that is only held open to notice when the server goes away.
///
/// It is `events.subscribe` with an empty list. The server accepts it, replays nothing and
/// sends nothing, so the connection ends when the server does, and 0.1 s after a live handoff
/// (protocol.md sections 7.5 and 7.6). The client never sends a byte on it, because any byte
/// would end it, and sets no time limit. Dropping it closes the connection.
#[derive(Debug)]
#[must_use = "the connection is closed as soon as this is dropped"]
pub struct HeldStream {
    connection: Connection,
}

/// How a [`HeldStream`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ended {
    /// The server closed it: the server stopped, was killed, or handed over.
    Closed,
    /// Reading failed in another way, such as a line over the cap. The state of the server is
    /// not known.
    Failed(ErrorKind),
}

impl HeldStream {
    pub(crate) fn new(connection: Connection) -> Self {
        Self { connection }
    }

    /// The process that serves the socket.
    pub fn peer(&self) -> Peer {
        self.connection.peer()
    }

    /// Waits until the server goes away, for as long as that takes.
    ///
    /// Lines that a later server may send are skipped. After the end, every further call
    /// returns at once.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future keeps the connection open and never misses its end.
    pub async fn ended(&mut self) -> Ended {
        loop {
            match self.connection.next_line().await {
                Ok(Some(_)) => {}
                Ok(None) => return Ended::Closed,
                Err(error) => {
                    return match error.kind() {
                        ErrorKind::ClosedWithoutReply | ErrorKind::ClosedMidReply => Ended::Closed,
                        kind => Ended::Failed(kind),
                    };
                }
            }
        }
    }
}

/// Shuts the connection down for all processes. If the process has forked, closing it here
/// would leave the child's copy open.
impl Drop for HeldStream {
    fn drop(&mut self) {
        self.connection.shut_down();
    }
}
