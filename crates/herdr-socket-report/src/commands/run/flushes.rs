//! Flush lines: answered when everything before them is delivered, while the
//! lines after them are read.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use herdr_reporter::{Flushed, Handle};
use serde_json::Value;

use super::voice::Voice;

/// Most flushes that wait at a time, each on a thread. A host that waits for
/// its answers has one.
const OPEN_MAX: usize = 32;

/// The flushes that wait for their answer.
pub(crate) struct Flushes {
    handle: Handle,
    voice: Voice,
    open: Arc<Open>,
}

#[derive(Default)]
struct Open {
    count: Mutex<usize>,
    fewer: Condvar,
    over: AtomicBool,
}

impl Flushes {
    pub(crate) fn new(handle: Handle, voice: Voice) -> Self {
        Self { handle, voice, open: Arc::default() }
    }

    /// Answers a flush as soon as it is done.
    pub(crate) fn begin(&self, id: Value, timeout: Duration) {
        if *self.open.lock() >= OPEN_MAX {
            self.voice.answer(&id, Some("too_many"));
            return;
        }
        *self.open.lock() += 1;
        let (handle, voice) = (self.handle.clone(), self.voice.clone());
        let open = OpenOne(Arc::clone(&self.open));
        thread::spawn(move || {
            let refusal = match handle.flush(timeout) {
                // A reporter that closes drops what waits, and then nothing
                // waits any more.
                _ if open.0.over.load(Ordering::Relaxed) => Some("ended"),
                Flushed::Delivered => None,
                Flushed::NotReporting(why) => Some(why.as_str()),
                _ => Some("timeout"),
            };
            voice.answer(&id, refusal);
            drop(open);
        });
    }

    /// What is not delivered by now will not be.
    pub(crate) fn end(&self) {
        self.open.over.store(true, Ordering::Relaxed);
    }

    pub(crate) fn settle(&self, within: Duration) {
        let end = Instant::now() + within;
        let mut count = self.open.lock();
        while *count > 0 {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            count =
                self.open.fewer.wait_timeout(count, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Open {
    fn lock(&self) -> MutexGuard<'_, usize> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts as open until it goes, also by a panic or a thread that never was.
struct OpenOne(Arc<Open>);

impl Drop for OpenOne {
    fn drop(&mut self) {
        *self.0.lock() -= 1;
        self.0.fewer.notify_all();
    }
}
