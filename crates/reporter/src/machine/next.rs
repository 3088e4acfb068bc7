//! What goes out next, and why.
//!
//! First what may hold everything back: a request in flight, the lease, a wait
//! for the server, the question whose pane it is. Then what is missing, in
//! order; then a look.

use std::time::Duration;

use herdr_proto::ReportState;

use super::identity::Gate;
use super::once::Once;
use super::request::{Carries, Topic};
use super::slot::{Has, Slot};
use super::timing::Why;
use super::{Lease, Now, PaneMachine, REQUEST_DEADLINE, Request, Step};
use crate::receipt::Outcome;

/// Changes of state go out at least this far apart; the first goes at once.
const STATE_PACE: Duration = Duration::from_millis(50);
/// So do reports of metadata; the last value always goes (failure B71).
const METADATA_PACE: Duration = Duration::from_millis(100);
/// While only another socket can help, how often the shell is woken to look
/// for one.
const SOCKET_CHECK: Duration = Duration::from_secs(2);
/// How often the pane is looked at while the agent is not idle; a lost row is
/// repaired within five seconds.
const WATCH_BUSY: Duration = Duration::from_secs(4);
/// And while it is.
const WATCH_IDLE: Duration = Duration::from_secs(60);
/// A check waits this long for what goes out in a moment anyway.
const LOOK_PATIENCE: Duration = Duration::from_millis(300);

impl PaneMachine {
    pub(super) fn decide(&mut self, now: Now, step: &mut Step) {
        if self.flight.is_some() {
            return;
        }
        if self.lease != Lease::Held {
            step.quiet = self.lease == Lease::Denied;
            return;
        }
        if !self.wants && self.once.is_none() && (self.owes_nothing() || self.inherited) {
            self.receipts.leave_unjudged(Outcome::Sent);
            step.quiet = true;
            return;
        }
        let elapsed = now.elapsed;
        if let Some(until) = self.contact.backoff.until().filter(|until| elapsed < *until) {
            step.wake = Some(until.min(elapsed + SOCKET_CHECK));
            return;
        }
        match self.identity_gate(now) {
            Gate::Open => {}
            Gate::Ask(request) => {
                step.request = Some(request);
                return;
            }
            Gate::Wait => return,
            Gate::Rest(until) => {
                step.wake = Some(until.min(elapsed + SOCKET_CHECK));
                return;
            }
            Gate::Absent(until) => {
                step.quiet = true;
                step.wake = Some(until);
                return;
            }
            Gate::Closed => {
                step.quiet = true;
                return;
            }
        }
        if self.refresh_at.is_some_and(|at| at <= elapsed) {
            self.refresh();
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

    /// Sends title, labels and tokens again, before their time is over. What
    /// was left to another writer stays his.
    fn refresh(&mut self) {
        self.refresh_at = None;
        if !self.presentation.has_yielded() {
            self.presentation.forget();
        }
        self.tokens.each(|slot| {
            if !slot.has_yielded() {
                slot.forget();
            }
        });
    }

    /// The first request that may go now. What has to wait goes into `wake`.
    fn next_request(&mut self, now: Now, wake: &mut Wake) -> Option<Request> {
        let ask = |machine: &mut Self, carries| Some(machine.send(carries, now, REQUEST_DEADLINE));
        if self.must_read_first() || self.must_look_before_clearing() {
            return match self.rest_of(&Carries::Look, now.elapsed) {
                None => ask(self, Carries::Look),
                Some(until) => {
                    wake.pending_at(until);
                    None
                }
            };
        }
        if self.rests.is_puzzled(now.elapsed) {
            return ask(self, Carries::Look);
        }
        if self.must_ask_version() {
            if let Some(until) = self.rest_of(&Carries::Version, now.elapsed) {
                wake.pending_at(until);
                return None;
            }
            return ask(self, Carries::Version);
        }
        let missing = self.missing(now.elapsed);
        if missing.is_empty() && matches!(self.once, Some(Once::Releasing | Once::Parting(_))) {
            self.looks.look_at(now.elapsed);
        }
        let parts: Vec<_> = missing.iter().filter_map(Carries::part).collect();
        self.receipts.planned(|part| parts.contains(&part));
        for carries in missing {
            match self.go(&carries, now.elapsed) {
                Go::Now => return ask(self, carries),
                Go::At(at) => {
                    wake.pending_at(at);
                    if !self.wants {
                        // The end of the claim stays last.
                        break;
                    }
                }
                Go::After(at) => wake.at(Some(at)),
                Go::Never => {}
            }
            // Title and tokens of a pane that is not ours yet would be hidden,
            // and would outlive us if it never becomes ours.
            if matches!(carries, Carries::State(..)) && !self.may_decorate() {
                break;
            }
        }
        wake.at(self.tokens.next_try());
        if let Some(at) = self.asks_below_at() {
            if at <= now.elapsed && self.rest_of(&Carries::Below, now.elapsed).is_none() {
                return ask(self, Carries::Below);
            }
            wake.at(Some(at.max(self.rests.of(Topic::Below).until.unwrap_or_default())));
        }
        self.next_look(now, wake)
    }

    /// What the server lacks, in the order in which it goes out: state,
    /// presentation, tokens; at the end clears, then the end of the claim.
    pub(super) fn missing(&self, now: Duration) -> Vec<Carries> {
        let mut missing = Vec::new();
        if self.wants && self.speaks() {
            if let Some(record) = self.state.wanted.clone().filter(|_| self.state.lacks()) {
                let told = self.told_session.as_ref();
                let session = self.session.clone().filter(|session| told != Some(session));
                missing.push(Carries::State(record, session));
            }
        } else if self.wants && self.state.may_be_there() {
            missing.extend(self.ends_of_claim());
        }
        let mut metadata = Vec::new();
        if self.reason.lacks() {
            metadata.push(Carries::Reason(self.reason.wanted.clone()));
        }
        if self.presentation.lacks() {
            let next = if self.claim.is_once() && self.wants {
                self.next_edit()
            } else {
                self.presentation.wanted.clone()
            };
            metadata.push(Carries::Presentation(next));
        }
        metadata.extend(self.tokens.patches(now).into_iter().map(Carries::Tokens));
        // Those that fail take turns.
        let failed = self.rests.of(Topic::Metadata).last.as_ref();
        if let Some(failed) = failed.map(|last| std::mem::discriminant(&last.carries)) {
            metadata.sort_by_key(|carries| std::mem::discriminant(carries) == failed);
        }
        missing.extend(metadata);
        if !self.wants && self.state.may_be_there() {
            missing.extend(self.ends_of_claim());
        }
        missing
    }

    fn ends_of_claim(&self) -> Vec<Carries> {
        let mut ends = Vec::new();
        if self.must_ask_before_the_end() && self.rests.of(Topic::Below).failures == 0 {
            ends.push(Carries::Below);
        }
        // A release that finds nothing of ours is without effect and raises no
        // mark, and what comes after it would stay. Once a claim is answered,
        // the release is taken, and everything before it is stale.
        ends.extend(self.late.clone().map(|record| Carries::State(record, None)));
        ends.push(Carries::End(self.detected.end_by()));
        ends
    }

    fn may_decorate(&self) -> bool {
        matches!(self.state.has, Has::Known(_))
            || self.stop.is_some()
            || self.state.failing
            || self.state.has_yielded()
            || self.claim.is_once()
    }

    fn go(&self, carries: &Carries, now: Duration) -> Go {
        let topic = carries.topic();
        let (waits, pace) = match carries {
            Carries::State(..) if self.stop.is_some() => return Go::Never,
            Carries::State(record, _) => (self.state.failing, self.state_pace(record.state)),
            Carries::Presentation(_) => (self.presentation.failing, self.metadata_pace()),
            Carries::Reason(_) => (self.reason.failing, self.metadata_pace()),
            Carries::Tokens(_) => (self.tokens.failing, self.metadata_pace()),
            _ => (true, None),
        };
        let rest = self.rest_of(carries, now).filter(|_| waits);
        let refused = self.rests.of(topic).why == Some(Why::Refused);
        match (rest, pace.filter(|at| now < *at)) {
            (Some(at), _) if refused => Go::After(at),
            (Some(at), _) | (None, Some(at)) => Go::At(at),
            (None, None) => Go::Now,
        }
    }

    /// Until when requests of this kind rest.
    pub(super) fn rest_of(&self, carries: &Carries, now: Duration) -> Option<Duration> {
        self.rests.of(carries.topic()).until.filter(|until| now < *until)
    }

    fn state_pace(&self, state: ReportState) -> Option<Duration> {
        let paced = self.state.sent_at.map(|sent| sent + STATE_PACE);
        let follows_work = self.last_state == Some(ReportState::Working);
        let settled = (state == ReportState::Idle && follows_work && !self.claim.is_once())
            .then_some(self.idle_since)
            .flatten()
            .map(|since| since.saturating_add(self.claim.settle));
        paced.max(settled)
    }

    fn metadata_pace(&self) -> Option<Duration> {
        if self.claim.is_once() {
            return None;
        }
        let sent = self.presentation.sent_at.max(self.tokens.sent_at).max(self.reason.sent_at);
        sent.map(|sent| sent + METADATA_PACE)
    }

    /// Tokens have no guard: before they are cleared, the pane is read to
    /// leave those that show somebody else's value by now.
    pub(super) fn must_look_before_clearing(&self) -> bool {
        !self.wants
            && self.once.is_none()
            && self.tokens.slots.values().any(Slot::may_be_there)
            && !self.looks.before_clearing
    }

    fn next_look(&mut self, now: Now, wake: &mut Wake) -> Option<Request> {
        if !self.wants && self.once.is_none() {
            return None;
        }
        let due = self.looks.due;
        let watch = self.watched_at(now.elapsed);
        if let Some(at) = self.rest_of(&Carries::Look, now.elapsed) {
            let wanted = due.is_some() || watch.is_some();
            wake.at(Some(at).filter(|_| wanted));
            return None;
        }
        let patience = if wake.pending { LOOK_PATIENCE } else { Duration::ZERO };
        let due = due.map(|since| since + patience);
        if [due, watch].into_iter().flatten().any(|at| at <= now.elapsed) {
            return Some(self.send(Carries::Look, now, REQUEST_DEADLINE));
        }
        if due.is_none() && !wake.pending {
            self.receipts.leave_unjudged(Outcome::Sent);
        }
        wake.at(due);
        wake.pending |= self.claim.is_once() && due.is_some();
        wake.at(watch);
        None
    }

    /// When the pane is looked at without a reason of its own.
    fn watched_at(&self, now: Duration) -> Option<Duration> {
        let has_something = self.state.may_be_there() || !self.speaks();
        if !has_something || self.once.is_some() {
            return None;
        }
        let idle = match &self.state.wanted {
            Some(record) => record.state == ReportState::Idle && !self.state.has_yielded(),
            None => true,
        };
        let every = if idle { WATCH_IDLE } else { WATCH_BUSY };
        Some(self.looks.last.map_or(now, |last| last + every))
    }
}

/// Whether something may go out.
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
struct Wake {
    at: Option<Duration>,
    pending: bool,
}

impl Wake {
    fn at(&mut self, at: Option<Duration>) {
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
