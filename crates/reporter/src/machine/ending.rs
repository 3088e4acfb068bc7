//! The end: clears within half the budget, then the release as the very last
//! request, also when the clear failed.

use std::time::Duration;

use herdr_proto::ErrorCode;

use super::failure::{is_passing, reason_of};
use super::request::{Carries, EndBy, Flight};
use super::timing::Rests;
use super::{Ended, FailureKind, Lease, Now, PaneMachine, Step};
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::receipt::{Outcome, Part, Receipt};

/// Between attempts to reach a server that is just being replaced.
const RELEASE_RETRY: Duration = Duration::from_millis(50);
/// The release gets at least this much, whatever the budget says.
const RELEASE_MIN: Duration = Duration::from_millis(50);

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Ending {
    /// Until then what is in flight may be answered and the clears go out.
    clear_until: Duration,
    deadline: Duration,
    /// It has sent a request of its own; what is in flight before is older.
    began: bool,
    /// Until then a claim that may come late is made again.
    claim_until: Option<Duration>,
    /// A clear failed, so no other is tried.
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
        self.ending = Some(Ending {
            clear_until: now.saturating_add(budget / 2),
            deadline: now.saturating_add(budget.max(RELEASE_MIN)),
            began: false,
            claim_until: None,
            clear_failed: false,
            had_claim: !self.owes_nothing(),
            was_up: self.contact.backoff.until().is_none(),
            retry_at: None,
            done: None,
        });
        self.receipts.drop_waiting();
        self.rests = Rests::default();
        self.wants = false;
        self.state.wanted = None;
        self.presentation.wanted = None;
        self.reason.wanted = None;
        self.tokens.each(|slot| slot.wanted = None);
        self.inherited = false;
        self.detected.ends();
    }

    pub(super) fn decide_ending(&mut self, now: Now, step: &mut Step) {
        let Some(ending) = &self.ending else { return };
        let (clear_until, deadline) = (ending.clear_until, ending.deadline);
        if let Some(flight) = &self.flight {
            let until = match &flight.carries {
                Carries::End(_) => deadline,
                Carries::State(..) => ending.claim_until.unwrap_or(clear_until),
                _ => clear_until,
            };
            if now.elapsed < until {
                step.wake = Some(until);
                return;
            }
            step.abandon = true;
            let released = matches!(flight.carries, Carries::End(_));
            self.abandon();
            let owed = !self.owes_nothing();
            if let Some(ending) = &mut self.ending {
                // What was in flight may have claimed the pane.
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
        let left = deadline.saturating_sub(elapsed);
        let claim_until = self.ending.as_ref().and_then(|ending| ending.claim_until);
        let claim_until = claim_until.unwrap_or(elapsed + left / 2);
        let claiming = elapsed + RELEASE_MIN < claim_until;
        let missing = if clearing && self.must_look_before_clearing() {
            vec![Carries::Look]
        } else {
            self.missing(elapsed)
        };
        let next = missing.into_iter().find(|carries| match carries {
            Carries::End(_) => true,
            Carries::State(..) => claiming,
            _ => clearing,
        });
        let Some(carries) = next else {
            self.end(self.how_released());
            self.finish(step);
            return;
        };
        let until = match carries {
            Carries::End(_) => deadline,
            Carries::State(..) => claim_until,
            _ => clear_until,
        };
        if let Some(ending) = &mut self.ending {
            ending.began = true;
            // Also if what was in flight when it began was the claim.
            ending.had_claim |= !carries.reads();
            if matches!(carries, Carries::State(..)) {
                ending.claim_until = Some(until);
            }
        }
        let time = until.saturating_sub(elapsed).max(RELEASE_MIN);
        step.request = Some(self.send(carries, now, time));
        step.wake = Some(until.max(elapsed + RELEASE_MIN));
    }

    fn finish(&mut self, step: &mut Step) {
        step.ended = self.ending.as_ref().and_then(|ending| ending.done);
        if step.ended.is_some() {
            self.receipts.end();
        }
    }

    /// A request failed while it ends. Whatever it was, the release goes out,
    /// unless there is no pane left.
    pub(super) fn failed_at_the_end(
        &mut self,
        now: Duration,
        flight: &Flight,
        kind: &FailureKind,
        detail: &str,
    ) {
        let Some(ending) = &mut self.ending else { return };
        let carries = &flight.carries;
        if let Some(part) = carries.part() {
            self.receipts.lost(part);
        }
        let refused = matches!(kind, FailureKind::Rejected(_) | FailureKind::Malformed);
        if is_gone(kind) && *carries != Carries::Below {
            ending.done = Some(Ended::NothingToRelease);
        } else if !ending.began {
            // It says nothing about the clears and the release to come.
        } else if refused && *carries == Carries::End(EndBy::Clear) {
            self.detected.cannot_clear();
        } else if matches!(carries, Carries::End(_)) {
            ending.release_failed(now, kind);
            if refused && ending.done.is_some() {
                let receipt = Receipt::new(Outcome::Failed, Part::Release).seq(flight.seq);
                self.receipts.note(receipt.because(reason_of(kind)));
            }
            if matches!(kind, FailureKind::Rejected(_)) && ending.done.is_some() {
                // Whatever was refused before, this is another matter.
                let detail = format!("the release: {detail}");
                let told = Diagnostic::new(DiagnosticKind::ProtocolRejected, detail);
                self.diagnostics.push(told);
            }
        } else if matches!(carries, Carries::State(..)) {
            ending.claim_failed(now, kind);
        } else if *carries == Carries::Below {
            self.detected.cannot_ask();
        } else if *carries == Carries::Look && refused {
            self.looks.before_clearing = true;
        } else {
            ending.clear_failed = true;
        }
    }

    fn end(&mut self, how: Ended) {
        if let Some(ending) = &mut self.ending {
            ending.done.get_or_insert(how);
        }
    }

    fn how_released(&self) -> Ended {
        if !self.ending.as_ref().is_some_and(|ending| ending.had_claim) {
            Ended::NothingToRelease
        } else if self.late.is_some() {
            // The release was taken, and the claim may come after it.
            Ended::NotReleased
        } else if self.has_metadata() {
            Ended::ReleasedUncleared
        } else {
            Ended::Released
        }
    }
}

impl Ending {
    /// The release itself failed; try again if only the server was away, or
    /// put it off. One that went while it was asked may or may not have taken
    /// it; a release twice is one release.
    fn release_failed(&mut self, now: Duration, kind: &FailureKind) {
        let again = now + RELEASE_RETRY;
        if self.is_worth_another(kind) && again < self.deadline {
            self.retry_at = Some(again);
        } else {
            self.done.get_or_insert(Ended::NotReleased);
        }
    }

    fn claim_failed(&mut self, now: Duration, kind: &FailureKind) {
        if self.is_worth_another(kind) {
            self.retry_at = Some(now + RELEASE_RETRY);
        } else {
            self.claim_until = Some(now);
        }
    }

    fn is_worth_another(&self, kind: &FailureKind) -> bool {
        match kind {
            FailureKind::Unreachable | FailureKind::Broken => self.was_up,
            FailureKind::Rejected(code) => is_passing(code),
            _ => false,
        }
    }
}

fn is_gone(kind: &FailureKind) -> bool {
    *kind == FailureKind::Rejected(ErrorCode::PANE_NOT_FOUND)
}
