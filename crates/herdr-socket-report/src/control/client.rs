//! One client of a control socket.

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

use super::admission::{Address, Admission};
use super::hello::{Answer, HELLO_MAX, Hello};
use super::intake::{Intake, Output};
use super::outbox::Outbox;
use crate::input::{Item, LineReader, LineSink};
use crate::output::Record;

/// The usual size of a socket buffer.
const CHUNK: usize = 16 * 1024;
/// The most flushes of one client that may wait at a time.
const FLUSHES_MAX: u32 = 32;
/// The time limit for a client to read its last lines.
const LAST_LINES_LIMIT: Duration = Duration::from_millis(200);

/// The time limit for a refused client to send its first line, and to read the refusal.
const REFUSAL_LIMIT: Duration = Duration::from_millis(500);

/// A connection, the address it came through, and the rules for that address.
pub(super) struct Caller {
    pub(super) stream: UnixStream,
    pub(super) at: Address,
    pub(super) admission: Admission,
}

/// Takes events from a client and sends it output lines, until the client closes its end or
/// reporting ends. A client that may not report is sent a refusal.
pub(super) async fn serve(caller: Caller, intake: Intake) {
    let Caller { stream, at, admission } = caller;
    let peer = stream.peer_cred().ok().and_then(|peer| u32::try_from(peer.pid()?).ok());
    let peer = peer.filter(|pid| *pid != 0);
    let may_report = admission.may_report(at, peer);
    let (mut reading, writing) = stream.into_split();
    // The feeds are opened before anything is read, so that they hold every receipt of this
    // client.
    let (over, answers) = unbounded_channel();
    let (outbox, mut writer) = Outbox::to(writing);
    let flushes = Arc::new(Semaphore::new(FLUSHES_MAX as usize));
    let client = Rc::new(Client { intake, outbox, flushes, over, taken: Cell::new(0) });
    let listen = async {
        let first = first_bytes(&mut reading);
        let first =
            if may_report { first.await } else { timeout(REFUSAL_LIMIT, first).await.ok()? };
        let (line, rest) =
            first.split_at(first.iter().position(|it| *it == b'\n').map_or(0, |it| it + 1));
        let hello = Hello::read(line);
        let answer = admission.answer(at, peer, hello.as_ref().unwrap_or(&Hello::default()));
        let welcome = matches!(answer, Answer::Welcome { .. });
        if hello.is_some() || !welcome {
            client.outbox.put(&answer.line());
        }
        if !welcome {
            return Some(());
        }
        let read_ahead = if hello.is_some() { rest } else { &first };
        client.listen(&mut reading, read_ahead).await;
        if hello.is_some() {
            client.outbox.put(&Answer::Taken(client.taken.get()).line());
        }
        None
    };
    let refused = if may_report {
        tokio::select! {
            // Output that was queued before the end is still written.
            () = client.send_output(answers) => None,
            refused = listen => refused,
        }
    } else {
        listen.await
    };
    client.outbox.close();
    if timeout(LAST_LINES_LIMIT, &mut writer).await.is_err() {
        writer.abort();
        tracing::debug!("a control client does not read its last lines");
    }
    if refused.is_some() {
        // The rest of the input is read and dropped, because closing a socket with unread input
        // would discard the refusal.
        let mut discarded = tokio::io::sink();
        let _ = timeout(REFUSAL_LIMIT, tokio::io::copy(&mut reading, &mut discarded)).await;
    }
}

/// Reads until the first line is complete, or as long as a hello may be, and returns all that
/// was read.
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

/// The answer to a flush. The permit is returned when the answer has been queued.
type Flush = (String, OwnedSemaphorePermit);

impl Client {
    /// Reads to the end of the input, then waits for the flushes that were asked for.
    async fn listen(self: &Rc<Self>, reading: &mut OwnedReadHalf, read_ahead: &[u8]) {
        let mut lines = LineReader::new();
        let mut chunk = vec![0; CHUNK];
        let mut items = Vec::new();
        lines.push(read_ahead, &mut items);
        self.take(&mut items);
        while let Ok(count @ 1..) = reading.read(&mut chunk).await {
            lines.push(&chunk[..count], &mut items);
            self.take(&mut items);
        }
        lines.finish(&mut items);
        self.take(&mut items);
        let _ = self.flushes.acquire_many(FLUSHES_MAX).await;
    }

    /// Passes receipts and diagnostics on until reporting ends. The answer to a flush is sent
    /// after everything that came before it, so a client that has it needs to read no further.
    async fn send_output(&self, mut answers: UnboundedReceiver<Flush>) {
        loop {
            let (mut output, generation) = self.intake.output();
            if let Output::Silent(why, detail) = output {
                self.outbox.put(&diagnosed(why.as_str(), detail));
            }
            let continues = loop {
                tokio::select! {
                    biased;
                    Some(line) = next_line(&mut output) => self.outbox.put(&line),
                    continues = self.intake.replaced(generation) => break continues,
                    Some((answer, _open)) = answers.recv() => self.outbox.put(&answer),
                }
            };
            if !continues {
                break;
            }
        }
        while let Ok((answer, _open)) = answers.try_recv() {
            self.outbox.put(&answer);
        }
    }

    fn take(self: &Rc<Self>, items: &mut Vec<Item>) {
        self.taken.set(self.taken.get() + u64::try_from(items.len()).unwrap_or_default());
        self.take_lines(items.drain(..));
    }
}

impl LineSink for Rc<Client> {
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
            // Sending fails only if the client is gone.
            let _ = client.over.send((flushed(&id, refusal), open));
        });
    }

    fn bad_line(&self, line: u64, why: &str) {
        self.outbox.put(&diagnosed("bad_line", &format!("line {line}: {why}")));
    }
}

/// The next output line; `None` if there will be none.
///
/// # Cancel safety
///
/// Dropping the future loses no line.
async fn next_line(output: &mut Output) -> Option<String> {
    let Output::Feeds(receipts, diagnostics) = output else { return None };
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
