//! The end: clears within half the budget, then the release as the very last
//! request, also when the clear failed.

use std::time::Duration;

use herdr_proto::ErrorCode;

use super::plan::{Action, plan};
use super::request::Carries;
use super::{Ended, FailureKind, Lease, Now, PaneMachine, Step};

/// Between attempts to reach a server that is just being replaced.
const RELEASE_RETRY: Duration = Duration::from_millis(50);
/// The release gets at least this much, whatever the budget says.
const RELEASE_MIN: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(super) struct Ending {
    /// Until then what is in flight may be answered and the clears go out.
    clear_until: Duration,
    deadline: Duration,
    clear_failed: bool,
    /// Something of ours was on the pane, as far as we know.
    had_claim: bool,
    /// The server was there; if it is not now, it may just be replaced.
    was_up: bool,
    retry_at: Option<Duration>,
    done: Option<Ended>,
}

impl PaneMachine {
    pub(super) fn begin_ending(&mut self, now: Duration, budget: Duration) {
        if self.ending.is_some() {
            return;
        }
        self.retry = None;
        self.ending = Some(Ending {
            clear_until: now.saturating_add(budget / 2),
            deadline: now.saturating_add(budget.max(RELEASE_MIN)),
            clear_failed: false,
            had_claim: !self.owes_nothing(),
            was_up: self.backoff.until().is_none(),
            retry_at: None,
            done: None,
        });
        self.wanted = None;
        self.inherited = false;
    }

    pub(super) fn decide_ending(&mut self, now: Now, step: &mut Step) {
        let Some(ending) = &self.ending else { return };
        let (clear_until, deadline) = (ending.clear_until, ending.deadline);
        if let Some(flight) = &self.flight {
            let until = if flight.carries == Carries::Release { deadline } else { clear_until };
            if now.elapsed < until {
                step.wake = Some(until);
                return;
            }
            step.abandon = true;
            let released = flight.carries == Carries::Release;
            self.abandon();
            let owed = !self.owes_nothing();
            if let Some(ending) = &mut self.ending {
                // What was in flight may have claimed the pane, or may have
                // been the clear.
                ending.had_claim |= owed;
                ending.clear_failed = true;
            }
            if released {
                self.end(Ended::NotReleased);
            }
        }
        let lost = self.lease != Lease::Held;
        if lost {
            self.end(Ended::NothingToRelease);
        } else if self.owes_nothing() {
            self.end(self.how_released());
        }
        self.finish(step);
        if step.ended.is_some() {
            return;
        }
        self.next_of_ending(now, clear_until, deadline, step);
    }

    fn next_of_ending(
        &mut self,
        now: Now,
        clear_until: Duration,
        deadline: Duration,
        step: &mut Step,
    ) {
        let elapsed = now.elapsed;
        if let Some(at) = self.ending.as_ref().and_then(|e| e.retry_at).filter(|at| elapsed < *at) {
            step.wake = Some(at);
            return;
        }
        let failed = self.ending.as_ref().is_some_and(|ending| ending.clear_failed);
        let clearing = elapsed < clear_until && !failed;
        if clearing && self.must_look_before_clearing() {
            step.request = Some(self.send_look(now, clear_until.saturating_sub(elapsed)));
            step.wake = Some(clear_until);
            return;
        }
        let actions = plan(None, self.claimed, &self.confirmed);
        let next = actions.into_iter().find(|action| clearing || *action == Action::Release);
        let Some(action) = next else {
            self.end(self.how_released());
            self.finish(step);
            return;
        };
        if let Some(ending) = &mut self.ending {
            // Also if what was in flight when it began was the claim.
            ending.had_claim = true;
        }
        let until = if action == Action::Release { deadline } else { clear_until };
        let time = until.saturating_sub(elapsed).max(RELEASE_MIN);
        step.request = Some(self.send(action, now, time));
        step.wake = Some(until.max(elapsed + RELEASE_MIN));
    }

    fn finish(&mut self, step: &mut Step) {
        step.ended = self.ending.as_ref().and_then(|ending| ending.done);
        if step.ended.is_some() {
            self.ledger.end();
        }
    }

    /// A read-back or a clear failed: the release goes out all the same.
    pub(super) fn clear_failed(&mut self, kind: &FailureKind) {
        let Some(ending) = &mut self.ending else { return };
        ending.clear_failed = true;
        if is_gone(kind) {
            ending.done = Some(Ended::NothingToRelease);
        }
    }

    /// The release itself failed; try again if only the server was away. One
    /// that went while it was asked may or may not have taken it; a release
    /// twice is one release.
    pub(super) fn release_failed(&mut self, now: Duration, kind: &FailureKind) {
        let Some(ending) = &mut self.ending else { return };
        let again = now + RELEASE_RETRY;
        let away = matches!(kind, FailureKind::Unreachable | FailureKind::Broken);
        if away && ending.was_up && again < ending.deadline {
            ending.retry_at = Some(again);
        } else {
            let how = if is_gone(kind) { Ended::NothingToRelease } else { Ended::NotReleased };
            ending.done.get_or_insert(how);
        }
    }

    fn end(&mut self, how: Ended) {
        if let Some(ending) = &mut self.ending {
            ending.done.get_or_insert(how);
        }
    }

    fn how_released(&self) -> Ended {
        match &self.ending {
            Some(ending) if ending.had_claim && ending.clear_failed => Ended::ReleasedUncleared,
            Some(ending) if ending.had_claim => Ended::Released,
            _ => Ended::NothingToRelease,
        }
    }
}

fn is_gone(kind: &FailureKind) -> bool {
    *kind == FailureKind::Rejected(ErrorCode::PANE_NOT_FOUND)
}
