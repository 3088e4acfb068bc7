//! The connection whose end is the news that the server went away.

use std::future::{Future, pending};
use std::pin::Pin;
use std::time::Duration;

use herdr_socket_transport::{Client, Error, ErrorKind, HeldStream};
use tokio::time::Instant;

/// After a held stream could not be opened, the next try waits for this long.
const AGAIN: Duration = Duration::from_secs(2);
/// A held stream that lived for longer was a good one.
const GOOD: Duration = Duration::from_secs(10);
/// After the second brief one in a row the next waits for this long, doubling …
const BRIEF: Duration = Duration::from_millis(100);
/// … up to this. Each end makes everything go out again.
const BRIEF_CAP: Duration = Duration::from_secs(60);

type Opening = Pin<Box<dyn Future<Output = Result<HeldStream, Error>>>>;

/// The held stream, opened again after each end.
pub(super) struct Hold {
    state: State,
    /// How many in a row ended soon after they began.
    brief: u32,
}

enum State {
    /// Not wanted, or not before this moment.
    Off(Option<Instant>),
    Opening(Opening),
    Open(HeldStream, Instant),
}

/// What became of the held stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HoldChange {
    Opened,
    NotOpened,
    ServerGone,
}

impl Hold {
    pub(super) fn off() -> Self {
        Self { state: State::Off(None), brief: 0 }
    }

    /// Begins to open it, if it is not there and the time has come.
    pub(super) fn open(&mut self, client: &Client) {
        let State::Off(again) = self.state else { return };
        if again.is_none_or(|again| again <= Instant::now()) {
            let client = client.clone();
            self.state = State::Opening(Box::pin(async move { client.hold().await }));
        }
    }

    pub(super) fn close(&mut self) {
        self.state = State::Off(None);
    }

    /// Whether the end of the server would be news.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, State::Open(..))
    }

    /// When to open it without an answer to open it beside. A failed try is
    /// repeated beside an answer, but a server that ended a stream is there, and
    /// the next end should be news too.
    pub(super) fn next_try(&self) -> Option<Instant> {
        match self.state {
            State::Off(again) if self.brief > 0 => again,
            _ => None,
        }
    }

    /// Waits for the next change; for ever if it is neither there nor on its
    /// way. Cancel safe.
    pub(super) async fn changed(&mut self) -> HoldChange {
        match &mut self.state {
            State::Off(_) => pending().await,
            State::Opening(opening) => match opening.await {
                Ok(stream) => {
                    self.state = State::Open(stream, Instant::now());
                    HoldChange::Opened
                }
                // It answered a moment ago, so it has just gone.
                Err(error) if is_absence(&error) => self.gone(false),
                Err(_) => {
                    self.brief = 0;
                    self.state = State::Off(Some(Instant::now() + AGAIN));
                    HoldChange::NotOpened
                }
            },
            State::Open(stream, since) => {
                stream.ended().await;
                let good = since.elapsed() >= GOOD;
                self.gone(good)
            }
        }
    }

    /// When to open the next one. A handoff ends one that may be young, and so
    /// may the next; a server that ends every one must not be asked, and sent
    /// everything again, in a loop.
    fn gone(&mut self, good: bool) -> HoldChange {
        self.brief = if good { 0 } else { self.brief.saturating_add(1) };
        self.state = State::Off(self.brief.checked_sub(2).map(|doublings| {
            let wait = BRIEF.saturating_mul(1 << doublings.min(16));
            Instant::now() + wait.min(BRIEF_CAP)
        }));
        HoldChange::ServerGone
    }
}

/// Whether nobody is there.
fn is_absence(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NoSuchSocket | ErrorKind::Refused)
}
