//! Flush lines. Each is answered when everything before it is delivered, while later lines are
//! already read.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use herdr_reporter::{Flushed, Handle};
use serde_json::Value;

use super::output::Output;

/// How many flushes may wait at a time, each on its own thread. A host that waits for its
/// answers has only one.
const OPEN_MAX: usize = 32;

pub(crate) struct Flushes {
    handle: Handle,
    output: Output,
    open: Cell<usize>,
    /// Tells that a flush has ended.
    over: Sender<()>,
    overs: Receiver<()>,
    ends: Arc<AtomicBool>,
}

impl Flushes {
    pub(crate) fn new(handle: Handle, output: Output) -> Self {
        let (over, overs) = mpsc::channel();
        Self { handle, output, open: Cell::default(), over, overs, ends: Arc::default() }
    }

    /// Answers a flush as soon as it is done.
    pub(crate) fn begin(&self, id: Value, timeout: Duration) {
        self.settle(Duration::ZERO);
        if self.open.get() >= OPEN_MAX {
            self.output.answer(&id, Some("too_many"));
            return;
        }
        self.open.set(self.open.get() + 1);
        let (handle, output, ends) = (self.handle.clone(), self.output.clone(), self.ends.clone());
        let over = Over(self.over.clone());
        thread::spawn(move || {
            let refusal = match handle.flush(timeout) {
                // A reporter that closes drops everything that has not been sent.
                _ if ends.load(Ordering::Relaxed) => Some("ended"),
                Flushed::Delivered => None,
                Flushed::NotReporting(why) => Some(why.as_str()),
                _ => Some("timeout"),
            };
            output.answer(&id, refusal);
            drop(over);
        });
    }

    /// Ends all flushes: what is not delivered by now will not be.
    pub(crate) fn end(&self) {
        self.ends.store(true, Ordering::Relaxed);
    }

    /// Waits until all flushes are answered, for at most `within`.
    pub(crate) fn settle(&self, within: Duration) {
        let end = Instant::now() + within;
        while self.open.get() > 0 {
            let left = end.saturating_duration_since(Instant::now());
            if self.overs.recv_timeout(left).is_err() {
                return;
            }
            self.open.set(self.open.get() - 1);
        }
    }
}

/// Tells when it is dropped, also after a panic or if the thread could not start.
struct Over(Sender<()>);

impl Drop for Over {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}
