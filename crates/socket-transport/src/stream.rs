use herdr_proto::Event;

use crate::Connection;
use crate::error::{Error, ErrorKind};
use crate::peer::Peer;
use crate::read;

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

/// The events of a subscription.
///
/// On 0.8.2 the server replays up to 512 old events first, one for each
/// subscription and 100 ms (protocol.md section 7.5). So an event is a hint to
/// read the pane, never a fact by itself. There is no heartbeat and no time
/// limit; this side never sends a byte. Dropping it ends the subscription.
#[derive(Debug)]
#[must_use = "the subscription ends as soon as this is dropped"]
pub struct EventStream {
    connection: Connection,
}

impl EventStream {
    pub(crate) fn new(connection: Connection) -> Self {
        Self { connection }
    }

    /// Who serves the socket.
    pub fn peer(&self) -> Peer {
        self.connection.peer()
    }

    /// The next event, or `None` when the server closed the stream between
    /// two events.
    ///
    /// Kinds that this crate does not know come through as they are.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`] for a line that is no event; the stream goes
    /// on after it. [`ErrorKind::Rejected`] for an error that the server sends
    /// in the stream, such as `events_lost` (servers from 0.9.2). Everything
    /// else ends the stream: a broken end, a line over the cap, a failure of
    /// the connection.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: no event is lost, half an event stays until its rest comes.
    pub async fn next(&mut self) -> Result<Option<Event>, Error> {
        match self.connection.next_line().await? {
            Some(line) => read::event(&line, self.connection.socket()).map(Some),
            None => Ok(None),
        }
    }
}
