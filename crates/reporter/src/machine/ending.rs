//! The end: clears within half of the budget, then the release as the very last request, even if a
//! clear failed.

use std::time::Duration;

use herdr_proto::ErrorCode;

use super::failure::{is_transient, reason_of};
use super::request::{Action, EndBy, SentRequest};
use super::timing::Backoffs;
use super::{Ended, FailureKind, Lease, Now, PaneMachine, Step};
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::receipt::{Outcome, Part, Receipt};

/// The wait between attempts while the server is being replaced.
const RELEASE_RETRY: Duration = Duration::from_millis(50);
/// The least time for the release, whatever the budget is.
const RELEASE_MIN: Duration = Duration::from_millis(50);

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Ending {
    /// Until this time the request in flight may be answered, and clears are sent.
    clear_until: Duration,
    deadline: Duration,
    /// The ending has sent a request of its own, so the one in flight is not an older one.
    own_request_sent: bool,
    /// Until this time a claim that got no answer is repeated.
    reclaim_until: Option<Duration>,
    /// A clear has failed, so no other one is sent.
    clear_failed: bool,
    /// Something of ours may have been on the pane.
    had_something: bool,
    /// The server could be reached when the ending began, so if it cannot be reached later, it may
    /// be in a handoff.
    server_was_up: bool,
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
            own_request_sent: false,
            reclaim_until: None,
            clear_failed: false,
            had_something: !self.nothing_on_server(),
            server_was_up: self.connection.backoff.until().is_none(),
            retry_at: None,
            done: None,
        });
        self.receipts.drop_waiting();
        self.backoffs = Backoffs::default();
        self.wants_pane = false;
        self.state.wanted = None;
        self.presentation.wanted = None;
        self.reason.wanted = None;
        self.tokens.for_each(|slot| slot.wanted = None);
        self.inherited = false;
        self.detected.claim_ends();
    }

    pub(super) fn decide_ending(&mut self, now: Now, step: &mut Step) {
        let Some(mut ending) = self.ending.take() else { return };
        if !self.awaits_answer(&mut ending, now.elapsed, step) {
            if self.lease != Lease::Held {
                ending.finish(Ended::NothingToRelease);
            } else if self.nothing_on_server() {
                ending.finish(self.how_released(&ending));
            }
            if ending.done.is_none() {
                self.next_of_ending(&mut ending, now, step);
            }
            step.ended = ending.done;
            if step.ended.is_some() {
                self.receipts.end();
            }
        }
        self.ending = Some(ending);
    }

    /// Whether the request in flight may still be answered. A request that takes too long is
    /// abandoned.
    fn awaits_answer(&mut self, ending: &mut Ending, now: Duration, step: &mut Step) -> bool {
        let Some(sent) = &self.in_flight else { return false };
        let until = ending.until(&sent.action);
        if now < until {
            step.wake = Some(until);
            return true;
        }
        if matches!(sent.action, Action::EndClaim(_)) {
            ending.finish(Ended::NotReleased);
        }
        step.abandon = true;
        self.abandon();
        // The abandoned request may have claimed the pane.
        ending.had_something |= !self.nothing_on_server();
        ending.clear_failed = true;
        false
    }

    fn next_of_ending(&mut self, ending: &mut Ending, now: Now, step: &mut Step) {
        let elapsed = now.elapsed;
        if let Some(at) = ending.retry_at.filter(|at| elapsed < *at) {
            step.wake = Some(at);
            return;
        }
        let clearing = elapsed < ending.clear_until && !ending.clear_failed;
        let left = ending.deadline.saturating_sub(elapsed);
        let reclaim_until = ending.reclaim_until.unwrap_or(elapsed + left / 2);
        let actions = if clearing && self.must_read_before_clearing() {
            vec![Action::ReadBack]
        } else {
            self.needed_actions(elapsed)
        };
        let next = actions.into_iter().find(|action| match action {
            Action::EndClaim(_) => true,
            Action::ReportState(..) => elapsed + RELEASE_MIN < reclaim_until,
            _ => clearing,
        });
        let Some(action) = next else { return ending.finish(self.how_released(ending)) };
        if matches!(action, Action::ReportState(..)) {
            ending.reclaim_until = Some(reclaim_until);
        }
        ending.own_request_sent = true;
        ending.had_something |= !action.only_reads();
        let until = ending.until(&action);
        let time = until.saturating_sub(elapsed).max(RELEASE_MIN);
        step.request = Some(self.send(action, now, time));
        step.wake = Some(until.max(elapsed + RELEASE_MIN));
    }

    /// A request has failed during the ending. Whatever it was, the release is still sent, unless
    /// the pane is gone.
    pub(super) fn failed_at_the_end(
        &mut self,
        now: Duration,
        sent: &SentRequest,
        kind: &FailureKind,
        detail: &str,
    ) {
        let Some(ending) = &mut self.ending else { return };
        let action = &sent.action;
        if let Some(part) = action.part() {
            self.receipts.lost(part);
        }
        let pane_gone = *kind == FailureKind::Rejected(ErrorCode::PANE_NOT_FOUND);
        if pane_gone && *action != Action::Explain {
            ending.done = Some(Ended::NothingToRelease);
            return;
        }
        if !ending.own_request_sent {
            // The request was older than the ending, so its failure says nothing about the clears
            // and the release.
            return;
        }
        let refused = matches!(kind, FailureKind::Rejected(_) | FailureKind::Malformed);
        match action {
            Action::EndClaim(EndBy::Clear) if refused => self.detected.clear_unsupported = true,
            Action::EndClaim(_) => {
                ending.release_failed(now, kind);
                if ending.done.is_none() || !refused {
                    return;
                }
                let receipt = Receipt::new(Outcome::Failed, Part::Release).seq(sent.call.seq());
                self.receipts.note(receipt.because(reason_of(kind)));
                if matches!(kind, FailureKind::Rejected(_)) {
                    // This is reported even if another refusal was reported before.
                    let detail = format!("the release: {detail}");
                    let told = Diagnostic::new(DiagnosticKind::ProtocolRejected, detail);
                    self.diagnostics.push(told);
                }
            }
            Action::ReportState(..) => ending.reclaim_failed(now, kind),
            Action::Explain => self.detected.explain_unsupported(),
            Action::ReadBack if refused => self.read_backs.done_before_clearing = true,
            _ => ending.clear_failed = true,
        }
    }

    fn how_released(&self, ending: &Ending) -> Ended {
        if !ending.had_something {
            Ended::NothingToRelease
        } else if self.unanswered_state.is_some() {
            // The server may still apply the unanswered claim after the release.
            Ended::NotReleased
        } else if self.may_have_metadata() {
            Ended::ReleasedUncleared
        } else {
            Ended::Released
        }
    }
}

impl Ending {
    fn finish(&mut self, how: Ended) {
        self.done.get_or_insert(how);
    }

    /// Until when a request may be answered.
    fn until(&self, action: &Action) -> Duration {
        match action {
            Action::EndClaim(_) => self.deadline,
            Action::ReportState(..) => self.reclaim_until.unwrap_or(self.clear_until),
            _ => self.clear_until,
        }
    }

    /// The release has failed. It is repeated if the server may only be in a handoff or busy; a
    /// connection that broke may have delivered it, and a second release does no harm.
    fn release_failed(&mut self, now: Duration, kind: &FailureKind) {
        let again = now + RELEASE_RETRY;
        if self.is_worth_retry(kind) && again < self.deadline {
            self.retry_at = Some(again);
        } else {
            self.finish(Ended::NotReleased);
        }
    }

    fn reclaim_failed(&mut self, now: Duration, kind: &FailureKind) {
        if self.is_worth_retry(kind) {
            self.retry_at = Some(now + RELEASE_RETRY);
        } else {
            self.reclaim_until = Some(now);
        }
    }

    fn is_worth_retry(&self, kind: &FailureKind) -> bool {
        match kind {
            FailureKind::Unreachable | FailureKind::Broken => self.server_was_up,
            FailureKind::Rejected(code) => is_transient(code),
            _ => false,
        }
    }
}
