use crate::Connection;
use crate::error::ErrorKind;
use crate::peer::Peer;

/// A connection that is only there to end.
///
/// It is `events.subscribe` with an empty list: the server accepts it, replays
/// nothing and sends nothing, so its end is the news that the server went away,
/// 0.1 s after a live handoff (protocol.md sections 7.5 and 7.6). This side
/// never sends a byte on it, since any byte would end it, and sets no time for
/// it. Dropping it closes the connection.
#[derive(Debug)]
#[must_use = "the connection is closed as soon as this is dropped"]
pub struct HeldStream {
    connection: Connection,
}

/// How a [`HeldStream`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ended {
    /// The server closed it: it stopped, was killed, or handed over.
    Closed,
    /// Reading failed in another way, such as a line over the cap. What the
    /// server is up to is not known.
    Failed(ErrorKind),
}

impl HeldStream {
    pub(crate) fn new(connection: Connection) -> Self {
        Self { connection }
    }

    /// Who serves the socket.
    pub fn peer(&self) -> Peer {
        self.connection.peer()
    }

    /// Waits until the server goes away, for as long as that takes.
    ///
    /// Lines that a later server might send are passed over. Once it has
    /// ended, every further call says so at once.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the connection stays, and an end is never missed.
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

/// Ends it for good: a copy of the process that `fork` has made would keep a
/// connection open that is only left.
impl Drop for HeldStream {
    fn drop(&mut self) {
        self.connection.shut_down();
    }
}
