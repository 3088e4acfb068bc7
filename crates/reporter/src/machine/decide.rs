//! Which request goes next, and when.

use std::time::Duration;

use herdr_proto::ReportState;

use super::identity::Gate;
use super::plan::{Action, plan};
use super::{Lease, Now, PaneMachine, REQUEST_DEADLINE, Request, Step};

/// Changes of state go out at least this far apart; the first goes at once.
const STATE_PACE: Duration = Duration::from_millis(50);
/// So do reports of metadata; the last value always goes (failure B71).
const METADATA_PACE: Duration = Duration::from_millis(100);
/// While only another socket can help, how often the shell is woken to look
/// for one.
const SOCKET_CHECK: Duration = Duration::from_secs(2);

/// When things last went out.
#[derive(Debug, Default)]
pub(super) struct Pace {
    pub(super) state_sent: Option<Duration>,
    pub(super) last_state: Option<ReportState>,
    pub(super) metadata_sent: Option<Duration>,
    /// Since when idle is wanted and waits to be believed; none after a flush.
    pub(super) idle_since: Option<Duration>,
}

/// Until when a refused part rests.
#[derive(Debug, Default)]
pub(super) struct Rests {
    pub(super) state: Option<Duration>,
    pub(super) presentation: Option<Duration>,
    pub(super) tokens: Option<Duration>,
    pub(super) release: Option<Duration>,
    pub(super) looks: Option<Duration>,
}

impl PaneMachine {
    pub(super) fn decide(&mut self, now: Now, step: &mut Step) {
        if self.flight.is_some() {
            return;
        }
        if self.lease != Lease::Held {
            step.quiet = self.lease == Lease::Denied;
            return;
        }
        if self.wanted.is_none() && (self.owes_nothing() || self.inherited) {
            self.ledger.leave_unjudged();
            step.quiet = true;
            return;
        }
        let elapsed = now.elapsed;
        if let Some(until) = self.backoff.until().filter(|until| elapsed < *until) {
            step.wake = Some(until.min(elapsed + SOCKET_CHECK));
            return;
        }
        match self.whereabouts_gate() {
            Gate::Open => {}
            Gate::Ask(request) => {
                step.request = Some(request);
                return;
            }
            Gate::Wait => return,
            Gate::Closed => {
                step.quiet = true;
                return;
            }
        }
        if self.refresh_at.is_some_and(|at| at <= elapsed) {
            self.refresh_at = None;
            self.confirmed.forget_metadata();
        }
        let mut wake = Wake::default();
        if let Some(request) = self.next_request(now, &mut wake) {
            step.request = Some(request);
            return;
        }
        step.quiet = !wake.pending;
        wake.at(self.refresh_at);
        step.wake = wake.at;
    }

    /// The first request that may go now. What has to wait goes into `wake`.
    fn next_request(&mut self, now: Now, wake: &mut Wake) -> Option<Request> {
        if self.must_look_before_clearing() {
            return Some(self.send_look(now, REQUEST_DEADLINE));
        }
        if self.must_ask_version() {
            return Some(self.send_ping(REQUEST_DEADLINE));
        }
        let actions = plan(self.wanted.as_ref(), self.claimed, &self.confirmed);
        self.ledger.planned(|part| actions.iter().any(|action| action.part() == part));
        for action in actions {
            match self.go(&action, now.elapsed) {
                Go::Now => return Some(self.send(action, now, REQUEST_DEADLINE)),
                Go::At(at) => {
                    wake.pending_at(at);
                    if self.wanted.is_none() {
                        // The release stays last.
                        break;
                    }
                }
                Go::After(at) => wake.at(Some(at)),
                Go::Never => {}
            }
            // Title and tokens of a pane that is not ours yet would be hidden,
            // and would outlive us if it never becomes ours.
            if matches!(action, Action::State(..)) && !self.may_decorate() {
                break;
            }
        }
        self.next_look(now, wake)
    }

    /// Nothing of ours can be on the pane.
    pub(super) fn owes_nothing(&self) -> bool {
        !self.claimed && !self.confirmed.has_metadata()
    }

    fn may_decorate(&self) -> bool {
        self.confirmed.state.is_some()
            || self.stop.is_some()
            || self.rests.state.is_some()
            || self.watcher.has_yielded()
    }

    fn go(&self, action: &Action, now: Duration) -> Go {
        let (rest, pace) = match action {
            Action::State(record, _) => {
                if self.stop.is_some() {
                    return Go::Never;
                }
                (self.rests.state, self.state_pace(record.state))
            }
            Action::Presentation(_) => (self.rests.presentation, self.metadata_pace()),
            Action::Tokens(_) => (self.rests.tokens, self.metadata_pace()),
            Action::Release => (self.rests.release, None),
        };
        match (rest.filter(|at| now < *at), pace.filter(|at| now < *at)) {
            (Some(at), _) => Go::After(at),
            (None, Some(at)) => Go::At(at),
            (None, None) => Go::Now,
        }
    }

    fn state_pace(&self, state: ReportState) -> Option<Duration> {
        let paced = self.pace.state_sent.map(|sent| sent + STATE_PACE);
        let follows_work = self.pace.last_state == Some(ReportState::Working);
        let settled = (state == ReportState::Idle && follows_work)
            .then_some(self.pace.idle_since)
            .flatten()
            .map(|since| since.saturating_add(self.claim.settle));
        paced.max(settled)
    }

    fn metadata_pace(&self) -> Option<Duration> {
        self.pace.metadata_sent.map(|sent| sent + METADATA_PACE)
    }
}

/// Whether an action may go out.
enum Go {
    Now,
    /// Soon; a flush waits for it.
    At(Duration),
    /// Later, if at all; a flush does not wait for it.
    After(Duration),
    Never,
}

/// The earliest moment at which something is to be done.
#[derive(Debug, Default)]
pub(super) struct Wake {
    at: Option<Duration>,
    pub(super) pending: bool,
}

impl Wake {
    pub(super) fn at(&mut self, at: Option<Duration>) {
        self.at = match (self.at, at) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }

    fn pending_at(&mut self, at: Duration) {
        self.at(Some(at));
        self.pending = true;
    }
}
