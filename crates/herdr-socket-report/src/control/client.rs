//! One client of the control socket.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use herdr_reporter::{AgentEvent, Refused};
use serde_json::Value;
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_local;
use tokio::time::timeout;

use super::door::{Address, Door};
use super::hello::{Answer, HELLO_MAX, Hello};
use super::intake::{Intake, News};
use super::outbox::Outbox;
use crate::input::{Hear, Item, LineReader};
use crate::output::Record;

/// As much as a socket usually holds.
const CHUNK: usize = 16 * 1024;
/// Most flushes of one client that wait at a time.
const FLUSHES_MAX: u32 = 32;
/// How long the last lines wait for a client to read them.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// How long a client that does not belong here has to say what it wants, and to
/// hear that it is not heard.
const GREETING: Duration = Duration::from_millis(500);

/// A connection, by which address it came, and who is let in there.
pub(super) struct Caller {
    pub(super) stream: UnixStream,
    pub(super) at: Address,
    pub(super) door: Door,
}

/// Takes a client's events and gives it output lines, until it closes its end
/// or nobody reports any more. One that does not belong here is told so.
pub(super) async fn serve(caller: Caller, intake: Intake) {
    let Caller { stream, at, door } = caller;
    let peer = stream.peer_cred().ok().and_then(|peer| u32::try_from(peer.pid()?).ok());
    let peer = peer.filter(|pid| *pid != 0);
    let expected = door.expects(at, peer);
    let (mut reading, writing) = stream.into_split();
    // Before anything is read, so that nothing that comes of it is missed.
    let (over, answers) = unbounded_channel();
    let (outbox, mut writer) = Outbox::to(writing);
    let flushes = Arc::new(Semaphore::new(FLUSHES_MAX as usize));
    let client = Rc::new(Client { intake, outbox, flushes, over, taken: Cell::new(0) });
    let listen = async {
        let first = first_bytes(&mut reading);
        let first = if expected { first.await } else { timeout(GREETING, first).await.ok()? };
        let (line, rest) =
            first.split_at(first.iter().position(|it| *it == b'\n').map_or(0, |it| it + 1));
        let hello = Hello::read(line);
        let answer = door.answer(at, peer, hello.as_ref().unwrap_or(&Hello::default()));
        let welcome = matches!(answer, Answer::Welcome { .. });
        if hello.is_some() || !welcome {
            client.outbox.put(&answer.line());
        }
        if !welcome {
            return Some(());
        }
        let begun = if hello.is_some() { rest } else { &first };
        client.listen(&mut reading, begun).await;
        if hello.is_some() {
            client.outbox.put(&Answer::Taken(client.taken.get()).line());
        }
        None
    };
    let refused = if expected {
        tokio::select! {
            // What was put before the end is written.
            () = client.tell(answers) => None,
            refused = listen => refused,
        }
    } else {
        listen.await
    };
    client.outbox.close();
    if timeout(LAST_WORDS, &mut writer).await.is_err() {
        writer.abort();
        tracing::debug!("a control client does not read its last lines");
    }
    if refused.is_some() {
        // What it says is taken off its hands: a connection that is closed with
        // something unread takes the answer with it.
        let mut unheard = tokio::io::sink();
        let _ = timeout(GREETING, tokio::io::copy(&mut reading, &mut unheard)).await;
    }
}

/// Reads to the end of the first line, or as far as a greeting may reach, and
/// what has come with it.
async fn first_bytes(reading: &mut OwnedReadHalf) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(1024);
    while !bytes.contains(&b'\n') && bytes.len() < HELLO_MAX {
        if !matches!(reading.read_buf(&mut bytes).await, Ok(1..)) {
            break;
        }
    }
    bytes
}

struct Client {
    intake: Intake,
    outbox: Outbox,
    flushes: Arc<Semaphore>,
    over: UnboundedSender<Flush>,
    taken: Cell<u64>,
}

/// The answer to a flush, which is open until it is given.
type Flush = (String, OwnedSemaphorePermit);

impl Client {
    /// Reads to the end of the input, and waits for the flushes that it asked
    /// for.
    async fn listen(self: &Rc<Self>, reading: &mut OwnedReadHalf, begun: &[u8]) {
        let mut lines = LineReader::new();
        let mut chunk = vec![0; CHUNK];
        let mut items = Vec::new();
        lines.push(begun, &mut items);
        self.take(&mut items);
        while let Ok(count @ 1..) = reading.read(&mut chunk).await {
            lines.push(&chunk[..count], &mut items);
            self.take(&mut items);
        }
        lines.finish(&mut items);
        self.take(&mut items);
        let _ = self.flushes.acquire_many(FLUSHES_MAX).await;
    }

    /// Passes on what those who report say, until nobody does any more. The
    /// answer to a flush comes after all that was said before: who has the answer
    /// has heard what became of everything, and need not wait for more.
    async fn tell(&self, mut answers: UnboundedReceiver<Flush>) {
        loop {
            let (mut news, turn) = self.intake.news();
            if let News::Silent(why, detail) = news {
                self.outbox.put(&diagnosed(why.as_str(), detail));
            }
            let goes_on = loop {
                tokio::select! {
                    biased;
                    Some(line) = said(&mut news) => self.outbox.put(&line),
                    goes_on = self.intake.after(turn) => break goes_on,
                    Some((answer, _open)) = answers.recv() => self.outbox.put(&answer),
                }
            };
            if !goes_on {
                break;
            }
        }
        while let Ok((answer, _open)) = answers.try_recv() {
            self.outbox.put(&answer);
        }
    }

    fn take(self: &Rc<Self>, items: &mut Vec<Item>) {
        self.taken.set(self.taken.get() + u64::try_from(items.len()).unwrap_or_default());
        self.hear(items.drain(..));
    }
}

impl Hear for Rc<Client> {
    fn record(&self, events: Vec<AgentEvent>) -> Vec<(usize, Refused)> {
        self.intake.record_all(events)
    }

    fn flush(&self, id: Value, limit: Duration) {
        let Ok(open) = Arc::clone(&self.flushes).try_acquire_owned() else {
            return self.outbox.put(&flushed(&id, Some("too_many")));
        };
        let client = Rc::clone(self);
        spawn_local(async move {
            let refusal = client.intake.flush(limit).await.err();
            // Nobody takes it where the client is gone.
            let _ = client.over.send((flushed(&id, refusal), open));
        });
    }

    fn bad_line(&self, line: u64, why: &str) {
        self.outbox.put(&diagnosed("bad_line", &format!("line {line}: {why}")));
    }
}

/// The next line of whoever reports; `None` when all is said.
///
/// # Cancel safety
///
/// Nothing is lost.
async fn said(news: &mut News) -> Option<String> {
    let News::Feeds(receipts, diagnostics) = news else { return None };
    tokio::select! {
        Some(receipt) = receipts.recv() => Some(Record::of_receipt(&receipt).line()),
        Some(diagnostic) = diagnostics.recv() => {
            Some(diagnosed(diagnostic.kind.as_str(), &diagnostic.detail))
        }
        else => None,
    }
}

fn flushed(id: &Value, refusal: Option<&'static str>) -> String {
    Record::Flushed { flushed: id, ok: refusal.is_none(), reason: refusal }.line()
}

fn diagnosed(diagnostic: &str, detail: &str) -> String {
    Record::Diagnostic { diagnostic, detail }.line()
}
