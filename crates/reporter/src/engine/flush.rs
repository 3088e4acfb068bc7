//! Flushes, which hosts wait for.

use std::time::Duration;

use super::shared::{Shared, State};
use crate::clock::within;
use crate::status::{Flushed, OffReason, Status};

/// The flushes that hosts wait for. Each waits until the engine has dealt with
/// everything up to its number.
#[derive(Debug, Default)]
pub(super) struct Flushes {
    /// Counts the calls to flush.
    pub(super) asked: u64,
    pub(super) waiting: u32,
    /// Up to which call everything was dealt with, and how.
    pub(super) done: Option<(u64, Flushed)>,
}

impl Shared {
    /// Asks for a flush.
    ///
    /// # Errors
    ///
    /// Why there is no engine to do it.
    pub(crate) fn begin_flush(&self) -> Result<Flush<'_>, Status> {
        if self.is_forked() {
            return Err(Status::Off(OffReason::Forked));
        }
        let mut state = self.lock();
        if state.how_ended().is_some() {
            return Err(state.status());
        }
        state.flushes.asked += 1;
        state.flushes.waiting += 1;
        let number = state.flushes.asked;
        drop(state);
        self.engine.notify_one();
        Ok(Flush { shared: self, number })
    }
}

/// A flush that somebody waits for, until it goes.
pub(crate) struct Flush<'a> {
    shared: &'a Shared,
    number: u64,
}

impl Flush<'_> {
    pub(crate) fn wait(self, timeout: Duration) -> Flushed {
        self.shared.wait(timeout, |state| self.ended(state)).unwrap_or(Flushed::TimedOut)
    }

    pub(crate) async fn wait_async(self, timeout: Duration) -> Flushed {
        let ended = self.shared.waited(|state| self.ended(state));
        within(timeout, ended).await.unwrap_or(Flushed::TimedOut)
    }

    fn ended(&self, state: &State) -> Option<Flushed> {
        let done = state.flushes.done.filter(|(number, _)| *number >= self.number);
        let over = || state.how_ended().map(|_| Flushed::NotReporting(state.status()));
        done.map(|(_, flushed)| flushed).or_else(over)
    }
}

impl Drop for Flush<'_> {
    fn drop(&mut self) {
        self.shared.lock().flushes.waiting -= 1;
    }
}
