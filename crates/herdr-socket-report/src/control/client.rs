//! One client of the control socket.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use herdr_reporter::{AgentEvent, Diagnostic, Feed, Flushed, Receipt};
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::spawn_local;
use tokio::time::timeout;

use super::intake::Intake;
use super::outbox::Outbox;
use crate::input::{Item, LineReader};
use crate::output::Record;

/// As much as a socket usually holds.
const CHUNK: usize = 16 * 1024;
/// Most flushes of one client that wait at a time.
const FLUSHES_MAX: usize = 32;
/// How long the last lines wait for a client to read them.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Takes a client's events and gives it output lines, until it closes its end
/// or the reporter has ended.
pub(super) async fn serve(stream: UnixStream, intake: Intake) {
    let (reading, writing) = stream.into_split();
    // Before anything is read, so that nothing that comes of it is missed.
    let news = News { feeds: intake.feeds(), intake: intake.clone() };
    let (over, answers) = unbounded_channel();
    let flushes = Flushes { over, open: Cell::new(0), fewer: Notify::new() };
    let client = Rc::new(Client { intake, outbox: Outbox::default(), flushes });
    let writer = {
        let client = Rc::clone(&client);
        spawn_local(async move { client.outbox.write_to(writing).await })
    };
    tokio::select! {
        // What was put before the end is written.
        () = client.tell(news, answers) => {}
        () = client.listen(reading) => {}
    }
    client.outbox.close();
    if let Err(late) = timeout(LAST_WORDS, writer).await {
        tracing::debug!(%late, "a control client does not read its last lines");
    }
}

struct Client {
    intake: Intake,
    outbox: Outbox,
    flushes: Flushes,
}

struct Flushes {
    /// The answers to those that are over; at most as many as may be open.
    over: UnboundedSender<String>,
    open: Cell<usize>,
    fewer: Notify,
}

/// What the reporter says.
struct News {
    /// Nothing where a guard stands by.
    feeds: Option<(Feed<Receipt>, Feed<Diagnostic>)>,
    intake: Intake,
}

impl News {
    /// The next line; `None` when the reporter has ended and all is said.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost.
    async fn next(&mut self) -> Option<String> {
        let Some((receipts, diagnostics)) = &mut self.feeds else {
            self.intake.over().await;
            return None;
        };
        tokio::select! {
            Some(receipt) = receipts.next() => Some(Record::of_receipt(&receipt).line()),
            Some(diagnostic) = diagnostics.next() => {
                Some(diagnosed(diagnostic.kind.as_str(), &diagnostic.detail))
            }
            else => None,
        }
    }
}

impl Client {
    /// Reads to the end of the input, and waits for the flushes that it asked
    /// for.
    async fn listen(self: &Rc<Self>, mut reading: OwnedReadHalf) {
        let mut lines = LineReader::new();
        let mut chunk = vec![0; CHUNK];
        let mut items = Vec::new();
        while let Ok(count @ 1..) = reading.read(&mut chunk).await {
            lines.push(&chunk[..count], &mut items);
            self.take(&mut items);
        }
        lines.finish(&mut items);
        self.take(&mut items);
        while self.flushes.open.get() > 0 {
            self.flushes.fewer.notified().await;
        }
    }

    /// Passes on what the reporter says, until it has ended. The answer to a
    /// flush comes after all that was said before: who has the answer has heard
    /// what became of everything, and need not wait for more.
    async fn tell(&self, mut news: News, mut answers: UnboundedReceiver<String>) {
        loop {
            tokio::select! {
                biased;
                line = news.next() => match line {
                    Some(line) => self.outbox.put(&line),
                    None => break,
                },
                Some(answer) = answers.recv() => self.answer(&answer),
            }
        }
        while let Ok(answer) = answers.try_recv() {
            self.answer(&answer);
        }
    }

    fn take(self: &Rc<Self>, items: &mut Vec<Item>) {
        let (mut numbers, mut events) = (Vec::new(), Vec::new());
        for item in items.drain(..) {
            match item {
                Item::Event { line, event } => {
                    numbers.push(line);
                    events.push(event);
                }
                Item::Flush { id, timeout } => {
                    self.record(&mut numbers, &mut events);
                    self.flush(id, timeout);
                }
                Item::Bad { line, why } => self.bad_line(line, &why),
            }
        }
        self.record(&mut numbers, &mut events);
    }

    fn record(&self, numbers: &mut Vec<u64>, events: &mut Vec<AgentEvent>) {
        let numbers = std::mem::take(numbers);
        if numbers.is_empty() {
            return;
        }
        for (place, refused) in self.intake.record_all(std::mem::take(events)) {
            if let Some(line) = numbers.get(place) {
                self.bad_line(*line, &refused.to_string());
            }
        }
    }

    fn flush(self: &Rc<Self>, id: Option<String>, limit: Duration) {
        if self.flushes.open.get() >= FLUSHES_MAX {
            self.outbox.put(&flushed(id.as_deref(), Some("too_many")));
            return;
        }
        self.flushes.open.set(self.flushes.open.get() + 1);
        let client = Rc::clone(self);
        spawn_local(async move {
            let refusal = match client.intake.flush(limit).await {
                Flushed::Delivered => None,
                Flushed::Inactive => Some("inactive"),
                _ => Some("timeout"),
            };
            // Nobody takes it where the client is gone.
            let _ = client.flushes.over.send(flushed(id.as_deref(), refusal));
        });
    }

    fn answer(&self, answer: &str) {
        self.outbox.put(answer);
        self.flushes.open.set(self.flushes.open.get() - 1);
        self.flushes.fewer.notify_one();
    }

    fn bad_line(&self, line: u64, why: &str) {
        self.outbox.put(&diagnosed("bad_line", &format!("line {line}: {why}")));
    }
}

fn flushed(id: Option<&str>, refusal: Option<&'static str>) -> String {
    Record::Flushed { flushed: id, ok: refusal.is_none(), reason: refusal }.line()
}

fn diagnosed(diagnostic: &str, detail: &str) -> String {
    Record::Diagnostic { diagnostic, detail }.line()
}
