//! What is sent next, and why.
//!
//! First comes what holds everything back: a request in flight, a wait for the server, the question
//! about the pane's processes, the lease. Then comes what the server lacks, in order, and last a
//! read-back.

use std::time::Duration;

use herdr_proto::ReportState;

use super::one_shot::OneShotStage;
use super::request::Action;
use super::slot::OnServer;
use super::timing::{ReportKind, RetryCause, RetryGroup};
use super::{Lease, Now, PaneMachine, REQUEST_DEADLINE, Request, SOCKET_CHECK, Step};
use crate::receipt::Outcome;

/// The least time between two reports of the state.
const STATE_PACE: Duration = Duration::from_millis(50);
/// The least time between two reports of metadata (failure B71).
const METADATA_PACE: Duration = Duration::from_millis(100);
/// How often the pane is read while the agent is not idle, so that a lost row is repaired within
/// five seconds.
const WATCH_BUSY: Duration = Duration::from_secs(4);
/// How often the pane is read while the agent is idle.
const WATCH_IDLE: Duration = Duration::from_secs(60);
/// How long a read-back waits for reports that are sent soon anyway.
const READ_BACK_PATIENCE: Duration = Duration::from_millis(300);

impl PaneMachine {
    pub(super) fn decide(&mut self, now: Now, step: &mut Step) {
        if self.in_flight.is_some() {
            return;
        }
        if !self.wants_pane
            && self.one_shot.is_none()
            && (self.nothing_on_server() || self.inherited)
        {
            self.receipts.leave_unjudged(Outcome::Sent);
            step.quiet = true;
            step.request = self.question_for_the_lease(now);
            return;
        }
        let elapsed = now.elapsed;
        if let Some(until) = self.connection.backoff.until().filter(|until| elapsed < *until) {
            step.wake = Some(until.min(elapsed + SOCKET_CHECK));
            return;
        }
        if !self.may_write_to_pane(now, step) {
            return;
        }
        if self.lease != Lease::Held {
            step.quiet = self.lease == Lease::Denied;
            return;
        }
        if self.refresh_at.is_some_and(|at| at <= elapsed) {
            self.refresh();
        }
        let mut wake = NextWake::default();
        if let Some(request) = self.next_request(now, &mut wake) {
            step.request = Some(request);
            return;
        }
        step.quiet = !wake.pending;
        wake.at_latest(self.refresh_at);
        step.wake = wake.at;
    }

    /// Sends title, labels and tokens again before their ttl ends, except those that have yielded
    /// to another writer.
    fn refresh(&mut self) {
        self.refresh_at = None;
        if !self.presentation.has_yielded() {
            self.presentation.mark_unknown();
        }
        self.tokens.for_each(|slot| {
            if !slot.has_yielded() {
                slot.mark_unknown();
            }
        });
    }

    fn next_request(&mut self, now: Now, wake: &mut NextWake) -> Option<Request> {
        let send = |machine: &mut Self, action| Some(machine.send(action, now, REQUEST_DEADLINE));
        let must_read = self.must_read_first()
            || self.must_read_before_clearing()
            || self.backoffs.needs_probe(now.elapsed);
        let precondition = if must_read {
            Some(Action::ReadBack)
        } else {
            self.must_ask_version().then_some(Action::Ping)
        };
        if let Some(action) = precondition {
            let Some(until) = self.backoff_until(&action, now.elapsed) else {
                return send(self, action);
            };
            wake.pending_at(until);
            return None;
        }
        let actions = self.needed_actions(now.elapsed);
        let before_report = matches!(
            self.one_shot,
            Some(OneShotStage::Releasing | OneShotStage::ClearingLabels(_))
        );
        if actions.is_empty() && before_report {
            self.read_backs.schedule(now.elapsed);
        }
        let parts: Vec<_> = actions.iter().filter_map(Action::part).collect();
        self.receipts.planned(|part| parts.contains(&part));
        for action in actions {
            match self.send_time(&action, now.elapsed) {
                SendTime::Now => return send(self, action),
                SendTime::Soon(at) => {
                    wake.pending_at(at);
                    if !self.wants_pane {
                        // The end of the claim must stay the last action.
                        break;
                    }
                }
                SendTime::Later(at) => wake.at_latest(Some(at)),
                SendTime::Never => {}
            }
            // Before the row is ours, the guard would hide the title, and tokens would show on
            // another source's row. Both would stay if the row never becomes ours.
            if matches!(action, Action::ReportState(..)) && !self.may_send_metadata() {
                break;
            }
        }
        wake.at_latest(self.tokens.room_retry_at());
        if let Some(at) = self.next_explain_at() {
            if at <= now.elapsed && self.backoff_until(&Action::Explain, now.elapsed).is_none() {
                return send(self, Action::Explain);
            }
            wake.at_latest(Some(
                at.max(self.backoffs.of(RetryGroup::Explain).until.unwrap_or_default()),
            ));
        }
        self.next_read_back(now, wake)
    }

    /// What has to be done for the server to have what is wanted, in this order: state,
    /// presentation, tokens. If nothing is wanted: clears, then the end of the claim.
    pub(super) fn needed_actions(&self, now: Duration) -> Vec<Action> {
        let mut actions = Vec::new();
        if self.wants_pane && self.reports_state() {
            if let Some(record) = self.state.wanted.clone().filter(|_| self.state.needs_update()) {
                let reported = self.reported_session.as_ref();
                let session = self.session.clone().filter(|session| reported != Some(session));
                actions.push(Action::ReportState(record, session));
            }
        } else if self.wants_pane && self.state.may_be_on_server() {
            actions.extend(self.end_actions());
        }
        let mut metadata = Vec::new();
        if self.reason.needs_update() {
            metadata.push(Action::SetReason(self.reason.wanted.clone()));
        }
        if self.presentation.needs_update() {
            let next = if self.one_shot.is_some() && self.wants_pane {
                self.next_edit()
            } else {
                self.presentation.wanted.clone()
            };
            metadata.push(Action::SetPresentation(next));
        }
        metadata.extend(self.tokens.patches(now).into_iter().map(Action::PatchTokens));
        // The kind that failed last goes last, so that the others get their turn.
        let failed = self.backoffs.of(RetryGroup::Metadata).failed_request.as_ref();
        if let Some(failed) = failed.map(|sent| std::mem::discriminant(&sent.action)) {
            metadata.sort_by_key(|action| std::mem::discriminant(action) == failed);
        }
        actions.extend(metadata);
        if !self.wants_pane && self.state.may_be_on_server() {
            actions.extend(self.end_actions());
        }
        actions
    }

    fn end_actions(&self) -> Vec<Action> {
        let mut ends = Vec::new();
        if self.must_explain_before_end() && self.backoffs.of(RetryGroup::Explain).failures == 0 {
            ends.push(Action::Explain);
        }
        // The server may still apply a claim that got no answer. A release that finds no claim has
        // no effect and does not raise the sequence mark, so that a later claim would stay. Once a
        // repeated claim is answered, the release has an effect, and the unanswered claim is stale.
        ends.extend(self.unanswered_state.clone().map(|record| Action::ReportState(record, None)));
        ends.push(Action::EndClaim(self.detected.end_by()));
        ends
    }

    fn may_send_metadata(&self) -> bool {
        matches!(self.state.on_server, OnServer::Known(_))
            || self.state_stop.is_some()
            || self.attempts.of(ReportKind::State).failing
            || self.state.has_yielded()
            || self.one_shot.is_some()
    }

    fn send_time(&self, action: &Action, now: Duration) -> SendTime {
        let group = action.group();
        let pace = match action {
            Action::ReportState(..) if self.state_stop.is_some() => return SendTime::Never,
            Action::ReportState(record, _) => self.state_pace(record.state),
            _ if group == RetryGroup::Metadata => self.metadata_pace(),
            _ => None,
        };
        // A kind of report that has not failed does not wait for its group.
        let failing = action.report_kind().is_none_or(|kind| self.attempts.of(kind).failing);
        let backoff = self.backoff_until(action, now).filter(|_| failing);
        let refused = self.backoffs.of(group).cause == Some(RetryCause::Refused);
        match (backoff, pace.filter(|at| now < *at)) {
            (Some(at), _) if refused => SendTime::Later(at),
            (Some(at), _) | (None, Some(at)) => SendTime::Soon(at),
            (None, None) => SendTime::Now,
        }
    }

    pub(super) fn backoff_until(&self, action: &Action, now: Duration) -> Option<Duration> {
        self.backoffs.of(action.group()).until.filter(|until| now < *until)
    }

    fn state_pace(&self, state: ReportState) -> Option<Duration> {
        let paced = self.attempts.of(ReportKind::State).sent_at.map(|sent| sent + STATE_PACE);
        let follows_work = self.last_sent_state == Some(ReportState::Working);
        let settled = (state == ReportState::Idle && follows_work && self.one_shot.is_none())
            .then_some(self.idle_since)
            .flatten()
            .map(|since| since.saturating_add(self.claim.config.settle));
        paced.max(settled)
    }

    fn metadata_pace(&self) -> Option<Duration> {
        if self.one_shot.is_some() {
            return None;
        }
        let sent = self.attempts.of_metadata().iter().filter_map(|it| it.sent_at).max();
        sent.map(|sent| sent + METADATA_PACE)
    }

    /// Tokens have no guard (protocol §5.6 D3), so the pane is read before they are cleared: those
    /// that another writer has changed are left.
    pub(super) fn must_read_before_clearing(&self) -> bool {
        !self.wants_pane
            && self.one_shot.is_none()
            && (self.tokens.may_be_on_server()
                || (!self.leavings_cleared && self.leavings.has_tokens()))
            && !self.read_backs.done_before_clearing
    }

    fn next_read_back(&mut self, now: Now, wake: &mut NextWake) -> Option<Request> {
        if !self.wants_pane && self.one_shot.is_none() {
            return None;
        }
        let due = self.read_backs.due;
        let watch = self.next_watch(now.elapsed);
        if let Some(at) = self.backoff_until(&Action::ReadBack, now.elapsed) {
            let wanted = due.is_some() || watch.is_some();
            wake.at_latest(Some(at).filter(|_| wanted));
            return None;
        }
        let patience = if wake.pending { READ_BACK_PATIENCE } else { Duration::ZERO };
        let due = due.map(|since| since + patience);
        if [due, watch].into_iter().flatten().any(|at| at <= now.elapsed) {
            return Some(self.send(Action::ReadBack, now, REQUEST_DEADLINE));
        }
        if due.is_none() && !wake.pending {
            self.receipts.leave_unjudged(Outcome::Sent);
        }
        wake.at_latest(due);
        wake.pending |= self.one_shot.is_some() && due.is_some();
        wake.at_latest(watch);
        None
    }

    fn next_watch(&self, now: Duration) -> Option<Duration> {
        let has_row = self.state.may_be_on_server() || !self.reports_state();
        if !has_row || self.one_shot.is_some() {
            return None;
        }
        let idle =
            self.state.wanted.as_ref().is_none_or(|record| {
                record.state == ReportState::Idle && !self.state.has_yielded()
            });
        let every = if idle { WATCH_IDLE } else { WATCH_BUSY };
        Some(self.read_backs.last.map_or(now, |last| last + every))
    }
}

enum SendTime {
    Now,
    /// A flush waits for this action.
    Soon(Duration),
    /// A flush does not wait for this action: the server has refused it before.
    Later(Duration),
    Never,
}

#[derive(Debug, Default)]
struct NextWake {
    at: Option<Duration>,
    /// A flush has to wait for what is to be sent then.
    pending: bool,
}

impl NextWake {
    fn at_latest(&mut self, at: Option<Duration>) {
        self.at = match (self.at, at) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }

    fn pending_at(&mut self, at: Duration) {
        self.at_latest(Some(at));
        self.pending = true;
    }
}
