//! What a host can wait for: a flush, the end, and the lease.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use super::shared::{Shared, State};
use crate::clock::{LONGEST_WAIT, within};
use crate::machine::{Ended, Lease};
use crate::status::{Flushed, OffReason, Status};

/// How much longer than the engine's budget a host waits for the engine.
const GRACE: Duration = Duration::from_millis(20);
/// The result of a flush in a forked copy of the process.
const FORKED: Flushed = Flushed::NotReporting(Status::Off(OffReason::Forked));

impl Shared {
    /// Waits until the engine has handled everything that was recorded so far.
    pub(crate) fn flush(&self, timeout: Duration) -> Flushed {
        let Some(number) = self.begin_flush() else { return FORKED };
        self.wait(timeout, |state| state.flushed(number)).unwrap_or(Flushed::TimedOut)
    }

    pub(crate) async fn flush_async(&self, timeout: Duration) -> Flushed {
        let Some(number) = self.begin_flush() else { return FORKED };
        let flushed = self.wait_async(|state| state.flushed(number));
        within(timeout, flushed).await.unwrap_or(Flushed::TimedOut)
    }

    fn begin_flush(&self) -> Option<u64> {
        let mut state = self.lock_unless_forked()?;
        state.flush = true;
        state.last_flush += 1;
        self.engine.notify_one();
        Some(state.last_flush)
    }

    pub(crate) fn begin_close(&self, budget: Duration) {
        let Some(mut state) = self.lock_unless_forked() else { return };
        let deadline = from_now(budget);
        if state.close.is_none_or(|close| deadline < close) {
            state.close = Some(deadline);
        }
        drop(state);
        self.wake();
    }

    pub(crate) fn wait_ended(&self, budget: Duration) -> Ended {
        self.wait(budget.saturating_add(GRACE), |state| state.how_ended())
            .unwrap_or(Ended::NotReleased)
    }

    pub(crate) async fn ended_within(&self, budget: Duration) -> Ended {
        within(budget.saturating_add(GRACE), self.ended()).await.unwrap_or(Ended::NotReleased)
    }

    pub(crate) async fn ended(&self) -> Ended {
        self.wait_async(|state| state.how_ended()).await
    }

    /// Waits until the lease is held or denied; `None` if it is neither within `timeout`.
    pub(crate) fn wait_lease(&self, timeout: Duration) -> Option<bool> {
        self.ask_for_lease();
        self.wait(timeout, |state| state.lease_decided())
    }

    /// Waits until the lease is held; false if the reporter ends before that.
    pub(crate) async fn lease_held(&self) -> bool {
        self.ask_for_lease();
        self.wait_async(|state| match state.lease_decided() {
            Some(false) if state.how_ended().is_none() => None,
            decided => decided,
        })
        .await
    }

    pub(crate) async fn lease_lost(&self) {
        self.wait_async(|state| (state.lease_decided() != Some(true)).then_some(())).await;
    }

    fn ask_for_lease(&self) {
        if !std::mem::replace(&mut self.lock().lease_awaited, true) {
            self.engine.notify_one();
        }
    }

    pub(super) fn wait<T>(
        &self,
        timeout: Duration,
        mut done: impl FnMut(&mut State) -> Option<T>,
    ) -> Option<T> {
        let deadline = from_now(timeout);
        let mut state = self.lock();
        loop {
            if let Some(value) = done(&mut state) {
                return Some(value);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            let waited = self.blocking_waiters.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    async fn wait_async<T>(&self, mut done: impl FnMut(&mut State) -> Option<T>) -> T {
        loop {
            let mut notified = std::pin::pin!(self.async_waiters.notified());
            notified.as_mut().enable();
            if let Some(value) = done(&mut self.lock()) {
                return value;
            }
            notified.await;
        }
    }
}

impl State {
    fn flushed(&self, number: u64) -> Option<Flushed> {
        let done = self.flushed.filter(|(done, _)| *done >= number);
        let over = || self.how_ended().map(|_| Flushed::NotReporting(self.status()));
        done.map(|(_, flushed)| flushed).or_else(over)
    }

    fn lease_decided(&self) -> Option<bool> {
        match self.lease {
            _ if self.how_ended().is_some() => Some(false),
            _ if self.status == Status::ForeignPane => Some(false),
            Some(Lease::Held) => Some(true),
            Some(Lease::Denied) => Some(false),
            _ => None,
        }
    }
}

fn from_now(time: Duration) -> Instant {
    Instant::now() + time.min(LONGEST_WAIT)
}
