//! The held stream: a connection that stays open, so that its end shows that the server is gone.

use std::future::{Future, pending};
use std::pin::Pin;
use std::time::Duration;

use herdr_socket_transport::{Client, Error, ErrorKind, HeldStream, SocketIdentity, inode};
use tokio::time::Instant;

/// The wait after a held stream could not be opened.
const WAIT_AFTER_FAILURE: Duration = Duration::from_secs(2);
/// A held stream that lived for at least this long was not a short one.
const LONG_LIVED: Duration = Duration::from_secs(10);
/// The wait after a held stream has ended: during a handoff the old server may still answer for a
/// moment. The wait doubles after each short stream, up to [`MAX_WAIT`].
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// The longest such wait. Each end of a stream makes the machine send everything again.
const MAX_WAIT: Duration = Duration::from_secs(60);

type Opening = Pin<Box<dyn Future<Output = Result<HeldStream, Error>>>>;

pub(super) struct Hold {
    state: State,
    /// How many streams in a row were short.
    short_streams: u32,
}

enum State {
    /// There is no stream. The next one is opened at this time at the earliest.
    Off(Option<Instant>),
    Opening(Opening, Option<SocketIdentity>),
    Open(HeldStream, Instant),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HoldChange {
    Opened {
        /// The socket that was at the path before the stream was opened.
        to: Option<SocketIdentity>,
    },
    NotOpened,
    ServerGone,
}

impl Hold {
    pub(super) fn off() -> Self {
        Self { state: State::Off(None), short_streams: 0 }
    }

    /// Starts to open a stream, unless there is one or it is too early.
    pub(super) fn open(&mut self, client: &Client) {
        let State::Off(earliest) = self.state else { return };
        if earliest.is_none_or(|earliest| earliest <= Instant::now()) {
            let client = client.clone();
            let to = inode(client.socket());
            self.state = State::Opening(Box::pin(async move { client.hold().await }), to);
        }
    }

    pub(super) fn close(&mut self) {
        self.state = State::Off(None);
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, State::Open(..))
    }

    /// When to open a stream without waiting for the next answer. An attempt that failed is
    /// repeated after an answer. But after a stream has ended, the next one is opened even if no
    /// request is sent, so that its end is noticed too.
    pub(super) fn next_try(&self) -> Option<Instant> {
        match self.state {
            State::Off(earliest) if self.short_streams > 0 => earliest,
            _ => None,
        }
    }

    /// Waits for the next change; waits forever if there is no stream and none is being opened.
    /// Cancel safe.
    pub(super) async fn changed(&mut self) -> HoldChange {
        match &mut self.state {
            State::Off(_) => pending().await,
            State::Opening(opening, to) => match opening.await {
                Ok(stream) => {
                    let to = *to;
                    self.state = State::Open(stream, Instant::now());
                    HoldChange::Opened { to }
                }
                // The server answered a moment ago, so it has just gone.
                Err(error) if is_absence(&error) => self.gone(false),
                Err(_) => {
                    self.short_streams = 0;
                    self.state = State::Off(Some(Instant::now() + WAIT_AFTER_FAILURE));
                    HoldChange::NotOpened
                }
            },
            State::Open(stream, since) => {
                stream.ended().await;
                let long_lived = since.elapsed() >= LONG_LIVED;
                self.gone(long_lived)
            }
        }
    }

    /// Sets when the next stream is opened. A handoff may end a short stream, and the next one as
    /// well. But a server that ends every stream must not make the machine send everything again in
    /// a loop.
    fn gone(&mut self, long_lived: bool) -> HoldChange {
        self.short_streams = if long_lived { 1 } else { self.short_streams.saturating_add(1) };
        let wait = FIRST_WAIT.saturating_mul(1 << (self.short_streams - 1).min(16)).min(MAX_WAIT);
        self.state = State::Off(Some(Instant::now() + wait));
        HoldChange::ServerGone
    }
}

fn is_absence(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NoSuchSocket | ErrorKind::Refused)
}
