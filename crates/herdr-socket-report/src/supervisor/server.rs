use std::future::pending;
use std::time::{Duration, Instant};

use herdr_socket_transport::{Client, Endpoint, HeldStream, Options};

/// How long a stream may take to be held; the end of a guard waits as long.
const HOLD: Duration = Duration::from_millis(500);
/// A stream that ended sooner after it was held than this was ended at once.
const BRIEF: Duration = Duration::from_secs(2);

/// The server, of whose end a held stream tells.
pub(super) struct Server {
    client: Client,
    stream: Option<HeldStream>,
    held_at: Option<Instant>,
}

impl Server {
    /// The server of a pane; nothing is held yet.
    pub(super) fn at(pane: &Endpoint, allow_foreign_socket: bool) -> Self {
        let options = Options::default().deadline(HOLD).allow_foreign_socket(allow_foreign_socket);
        Self { client: Client::new(pane.socket(), options), stream: None, held_at: None }
    }

    /// Holds a stream if there is none. One that ended at once is opened again
    /// with a later report only: a server may end every one.
    pub(super) async fn hold(&mut self) {
        let brief = self.held_at.is_some_and(|since| since.elapsed() < BRIEF);
        if self.stream.is_none() && !brief {
            self.stream = self.client.hold().await.ok();
            self.held_at = Some(Instant::now());
        }
    }

    /// Waits for the end of a server that was there; for ever without one.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future misses no end.
    pub(super) async fn gone(&mut self) {
        match &mut self.stream {
            Some(stream) => stream.ended().await,
            None => pending().await,
        };
        self.stream = None;
    }
}
