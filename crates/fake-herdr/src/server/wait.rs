//! Waits for a state of the model or the log, without polling.

use std::fmt;
use std::time::{Duration, Instant};

use super::FakeHerdr;
use super::log::Exchange;
use crate::model::Observation;

/// A pane did not reach the expected state in the given time.
#[derive(Debug)]
pub struct WaitTimedOut {
    last: Box<Observation>,
}

impl WaitTimedOut {
    /// What a reader of the pane saw last.
    pub fn last(&self) -> &Observation {
        &self.last
    }
}

impl fmt::Display for WaitTimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the pane did not reach the expected state; it is {:?}", self.last)
    }
}

impl std::error::Error for WaitTimedOut {}

impl FakeHerdr {
    /// Waits until `satisfied` returns `true` for the first pane, at most `patience`.
    ///
    /// # Errors
    ///
    /// If the time is over before; the error holds what was seen last.
    pub fn wait_until(
        &self,
        patience: Duration,
        satisfied: impl FnMut(&Observation) -> bool,
    ) -> Result<Observation, WaitTimedOut> {
        self.wait_until_pane(&self.pane_id, patience, satisfied)
    }

    /// Waits as [`FakeHerdr::wait_until`] does, for any pane. A pane that does not
    /// exist looks like one without an agent.
    ///
    /// # Errors
    ///
    /// As [`FakeHerdr::wait_until`].
    pub fn wait_until_pane(
        &self,
        pane: &str,
        patience: Duration,
        mut satisfied: impl FnMut(&Observation) -> bool,
    ) -> Result<Observation, WaitTimedOut> {
        let end = Instant::now() + patience;
        let mut state = self.shared.lock();
        loop {
            let now = self.now();
            let seen = state.model.observe(now, pane).unwrap_or_else(|| Observation {
                agent_status: "unknown".to_owned(),
                ..Observation::default()
            });
            if satisfied(&seen) {
                return Ok(seen);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(WaitTimedOut { last: Box::new(seen) });
            }
            // Without a request, the model changes only when something is due.
            let expiry = state.model.next_expiry().map(|at| at.saturating_sub(now));
            let until = expiry.filter(|wait| !wait.is_zero()).map_or(left, |wait| wait.min(left));
            state = self.shared.wait_for_change(state, until);
        }
    }

    /// Waits until `satisfied` returns `true` for the log, at most `patience`; `false`
    /// if the time is over before.
    pub fn wait_for_log(
        &self,
        patience: Duration,
        mut satisfied: impl FnMut(&[Exchange]) -> bool,
    ) -> bool {
        let end = Instant::now() + patience;
        let mut state = self.shared.lock();
        loop {
            if satisfied(state.log.as_slice()) {
                return true;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.shared.wait_for_change(state, left);
        }
    }
}
