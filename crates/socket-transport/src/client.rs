use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use herdr_proto::limits::SERVER_LINE_MAX;
use herdr_proto::{Call, Subscribe, SubscriptionStarted, encode};

use crate::Connection;
use crate::error::{Error, ErrorKind};
use crate::hedge::Hedging;
use crate::options::Options;
use crate::peer::Peer;
use crate::read;
use crate::stream::HeldStream;

/// A client of the server behind one socket. Each request has its own connection.
///
/// A client holds a path and [`Options`] and no open connection. The server closes a connection
/// after its reply, and a connection that waits for a request would cost it a thread
/// (protocol.md section 7.3). So clones are cheap, and a client keeps working after a server
/// restart. Several requests may be made at once; each has its own connection, and their order
/// is not defined.
///
/// Every async method must run inside a tokio runtime with I/O and time enabled; outside one,
/// tokio panics. None of them blocks the thread.
#[derive(Clone, Debug)]
pub struct Client {
    shared: Arc<Shared>,
    options: Options,
}

#[derive(Debug)]
struct Shared {
    socket: PathBuf,
    /// The number of the next request, which only tells lines apart in a log.
    next_id: AtomicU64,
    hedging: Mutex<Hedging>,
    /// The moment from which the times in `hedging` count.
    began: Instant,
}

impl Client {
    /// A client for the socket at this path. The path is not checked yet.
    pub fn new(socket: impl Into<PathBuf>, options: Options) -> Self {
        let shared = Shared {
            socket: socket.into(),
            next_id: AtomicU64::new(1),
            hedging: Mutex::default(),
            began: Instant::now(),
        };
        Self { shared: Arc::new(shared), options }
    }

    /// The path of the socket.
    pub fn socket(&self) -> &Path {
        &self.shared.socket
    }

    /// The options of this client.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The same client with another [`Options::deadline`], for example for the last requests of
    /// a host that is about to exit.
    #[must_use]
    pub fn with_deadline(&self, deadline: Duration) -> Self {
        Self { shared: Arc::clone(&self.shared), options: self.options.deadline(deadline) }
    }

    /// Makes a request and waits for its reply.
    ///
    /// The reply's id is not compared. With one request per connection there is only one
    /// possible reply, and a refused line comes back with an empty or derived id (protocol.md
    /// section 9).
    ///
    /// `Ok` means that the server accepted the request, not that it did what was asked
    /// (protocol.md section 5).
    ///
    /// ```
    /// use herdr_proto::Ping;
    /// use herdr_socket_transport::{Client, Options};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let herdr = fake_herdr::FakeHerdr::start()?;
    ///
    /// let client = Client::new(herdr.socket_path(), Options::default());
    /// let pong = client.call(&Ping::default()).await?;
    /// assert_eq!(pong.version, "0.8.2");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Rejected`] if the server refuses; any other kind is possible, too. A
    /// request longer than [`REQUEST_LINE_MAX`](herdr_proto::limits::REQUEST_LINE_MAX) is an
    /// [`ErrorKind::InvalidRequest`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection. The server may already have the request, and
    /// then it still applies it.
    pub async fn call<C: Call>(&self, call: &C) -> Result<C::Reply, Error> {
        let line = self.encode(call)?;
        let (_, reply) = self.request(&line, C::METHOD).await?;
        read::reply(&reply, self.socket())
    }

    /// Sends one line unchanged and returns the first line of the answer unchanged, without its
    /// newline.
    ///
    /// `line` includes its newline. The answer may be anything, not only JSON or UTF-8.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call), except for the kinds about the reply's content.
    /// [`ErrorKind::InvalidRequest`] for a line that the server would drop silently: one
    /// without its newline, a blank one, more than one line, or one longer than
    /// [`SERVER_LINE_MAX`].
    ///
    /// # Cancel safety
    ///
    /// As [`call`](Self::call).
    pub async fn exchange(&self, line: &[u8]) -> Result<Bytes, Error> {
        let (reply, _) = self.exchange_with(line).await?;
        Ok(reply)
    }

    /// As [`exchange`](Self::exchange), and also returns the process that answered.
    ///
    /// # Errors
    ///
    /// As [`exchange`](Self::exchange).
    ///
    /// # Cancel safety
    ///
    /// As [`exchange`](Self::exchange).
    pub async fn exchange_with(&self, line: &[u8]) -> Result<(Bytes, Peer), Error> {
        let (connection, reply) = self.request(line, "-").await?;
        Ok((reply, connection.peer()))
    }

    /// As [`exchange_with`](Self::exchange_with), for a line that is safe to repeat: one that
    /// only reads, or a report with a sequence number, whose second copy the server ignores.
    ///
    /// If the answer takes several times as long as usual, the same line is sent on a second
    /// connection, and later on a third. The first answer counts, and the other connections are
    /// closed. The server looks for a request right after it accepts a connection and then
    /// every 100 ms (protocol.md section 7.3). A client that is descheduled between connecting
    /// and sending would otherwise wait for that. At most two copies of a line and 60 copies in
    /// a minute are sent, and none while the server does not answer at all. [`Options::hedge`]
    /// turns this off.
    ///
    /// # Errors
    ///
    /// As [`exchange`](Self::exchange). If no connection was answered, the error is that of the
    /// first one.
    ///
    /// # Cancel safety
    ///
    /// As [`exchange`](Self::exchange).
    pub async fn exchange_repeatable(&self, line: &[u8]) -> Result<(Bytes, Peer), Error> {
        let started = Instant::now();
        let mut connections = FuturesUnordered::new();
        connections.push(self.request_within(line, self.options.deadline));
        let (mut copies, mut failed) = (0, None);
        loop {
            let wait = self.hedging().next_copy(self.shared.began.elapsed(), copies);
            let wait = wait.filter(|_| self.options.hedge);
            let due = async {
                match wait {
                    Some(wait) => tokio::time::sleep_until((started + wait).into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                Some(answer) = connections.next() => match answer {
                    Ok((connection, reply)) => {
                        self.hedging().answered(started.elapsed(), copies);
                        return Ok((reply, connection.peer()));
                    }
                    Err(error) => {
                        let first = failed.get_or_insert(error);
                        if connections.is_empty() {
                            if matches!(first.kind(), ErrorKind::Timeout(_) | ErrorKind::Busy) {
                                self.hedging().unanswered(self.shared.began.elapsed(), copies);
                            }
                            break;
                        }
                    }
                },
                () = due => {
                    copies += 1;
                    tracing::debug!(copies, "not answered yet, sent again");
                    self.hedging().copied(self.shared.began.elapsed());
                    let left = self.options.deadline.saturating_sub(started.elapsed());
                    connections.push(self.request_within(line, left));
                }
            }
        }
        Err(failed.unwrap_or_else(|| Error::new(ErrorKind::ClosedWithoutReply, self.socket())))
    }

    /// How many copies [`exchange_repeatable`](Self::exchange_repeatable) has sent so far, over
    /// all clones of this client.
    pub fn copies_sent(&self) -> u64 {
        self.hedging().sent()
    }

    /// Opens a stream that stays open and silent until the server goes away.
    ///
    /// The deadline covers the acknowledgement only. The stream itself has none.
    ///
    /// ```
    /// use herdr_socket_transport::{Client, Ended, Options};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let herdr = fake_herdr::FakeHerdr::start()?;
    ///
    /// let client = Client::new(herdr.socket_path(), Options::default());
    /// let mut held = client.hold().await?;
    /// drop(herdr);
    /// assert_eq!(held.ended().await, Ended::Closed);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection and changes nothing else.
    pub async fn hold(&self) -> Result<HeldStream, Error> {
        let line = self.encode(&Subscribe::nothing())?;
        let (connection, reply) = self.request(&line, Subscribe::METHOD).await?;
        read::reply::<SubscriptionStarted>(&reply, self.socket())?;
        Ok(HeldStream::new(connection))
    }

    async fn request_within(
        &self,
        line: &[u8],
        deadline: Duration,
    ) -> Result<(Connection, Bytes), Error> {
        self.with_deadline(deadline).request(line, "-").await
    }

    fn hedging(&self) -> MutexGuard<'_, Hedging> {
        self.shared.hedging.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn request(&self, line: &[u8], method: &str) -> Result<(Connection, Bytes), Error> {
        let outcome = match check(line) {
            Ok(()) => Connection::request(self.socket(), &self.options, line).await,
            Err(note) => Err(Error::new(ErrorKind::InvalidRequest, self.socket()).note(note)),
        };
        match &outcome {
            Ok(_) => tracing::trace!(method, bytes = line.len(), "answered"),
            Err(error) => {
                tracing::debug!(method, bytes = line.len(), kind = ?error.kind(), "not answered");
            }
        }
        outcome
    }

    fn encode<C: Call>(&self, call: &C) -> Result<Vec<u8>, Error> {
        let id = format!("t{}", self.shared.next_id.fetch_add(1, Ordering::Relaxed));
        encode(&id, call)
            .map_err(|cause| Error::new(ErrorKind::InvalidRequest, self.socket()).caused_by(cause))
    }
}

/// The server would drop such a line silently (protocol.md section 7.3).
fn check(line: &[u8]) -> Result<(), &'static str> {
    let Some((b'\n', text)) = line.split_last() else {
        return Err("it does not end with a newline");
    };
    if text.trim_ascii().is_empty() {
        Err("it is blank")
    } else if text.contains(&b'\n') {
        Err("it has more than one line")
    } else if text.len() > SERVER_LINE_MAX {
        Err("it is over the server's limit of 1 MiB")
    } else {
        Ok(())
    }
}
