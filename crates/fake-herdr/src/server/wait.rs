//! Waiting for a state of the model without polling.

use std::fmt;
use std::time::{Duration, Instant};

use super::log::Exchange;
use super::shared::Shared;
use crate::model::Observation;

/// The pane did not reach the state in time.
#[derive(Debug)]
pub struct WaitTimedOut {
    last: Box<Observation>,
}

impl WaitTimedOut {
    /// The last observation.
    pub fn last(&self) -> &Observation {
        &self.last
    }
}

impl fmt::Display for WaitTimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the pane did not become what was waited for; it is {:?}", self.last)
    }
}

impl std::error::Error for WaitTimedOut {}

impl Shared {
    pub(super) fn wait_until(
        &self,
        pane: &str,
        patience: Duration,
        mut satisfied: impl FnMut(&Observation) -> bool,
    ) -> Result<Observation, WaitTimedOut> {
        let end = Instant::now() + patience;
        let mut state = self.lock();
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
            // While no request comes, only a ttl can change something.
            let expiry = state.model.next_expiry().map(|at| at.saturating_sub(now));
            let until = expiry.filter(|wait| !wait.is_zero()).map_or(left, |wait| wait.min(left));
            state = self.wait_for_change(state, until);
        }
    }

    pub(super) fn wait_for_log(
        &self,
        patience: Duration,
        mut satisfied: impl FnMut(&[Exchange]) -> bool,
    ) -> bool {
        let end = Instant::now() + patience;
        let mut state = self.lock();
        loop {
            if satisfied(state.log.as_slice()) {
                return true;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.wait_for_change(state, left);
        }
    }
}
