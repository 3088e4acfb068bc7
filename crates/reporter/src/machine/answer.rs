//! What an answer changes in what is known of the server.

use std::time::Duration;

use super::request::{Action, SentRequest};
use super::slot::OnServer;
use super::timing::{ReportKind, RetryGroup};
use super::{Answer, PaneMachine, Subject};
use crate::receipt::{Outcome, Part, Receipt};

/// The least time between two refreshes of title, labels and tokens.
const REFRESH_MIN: Duration = Duration::from_millis(250);

impl PaneMachine {
    pub(super) fn answered(&mut self, now: Duration, answer: Answer) {
        let Some(sent) = self.in_flight.take() else { return };
        self.connection.backoff.succeed();
        self.connection.answered_once = true;
        self.connection.unreachable_since = None;
        self.recovered(Subject::Connection);
        if sent.to_old_server {
            // The answer may be the old server's, which says nothing about the new one.
            if let Some(part) = sent.action.part() {
                self.receipts.delivered(part, sent.call.seq());
            }
            self.may_be_applied(&sent.action);
            return;
        }
        self.succeeded(&sent.action);
        match (answer, &sent.action) {
            (Answer::Ack, _) => self.delivered(now, sent),
            (Answer::Pane(pane), Action::ReadBack) => self.pane_read(now, &pane),
            (Answer::Explained(explanation), Action::Explain) => {
                self.explained(now, Some(&explanation));
            }
            (Answer::Pong(pong), _) => self.server_version = Some(pong),
            (Answer::Identity(verdict), Action::GetProcesses) => self.identified(verdict),
            (Answer::Processes(_), _) => self.unprovable(),
            (Answer::Panes(panes), _) => self.found_panes(panes),
            _ => {}
        }
    }

    /// A request has succeeded. If it had failed before and other metadata still fails, that is
    /// retried at once.
    fn succeeded(&mut self, action: &Action) {
        let group = action.group();
        let failed_before = self.set_failing(action, false);
        self.backoffs.server_answered(group);
        let metadata_fails = self.attempts.of_metadata().iter().any(|attempt| attempt.failing);
        if group != RetryGroup::Metadata || !metadata_fails {
            self.backoffs.clear(group);
            self.recovered(Subject::Group(group));
        } else if failed_before {
            self.backoffs.of_mut(group).until = None;
        }
    }

    pub(super) fn set_failing(&mut self, action: &Action, failing: bool) -> bool {
        let Some(kind) = action.report_kind() else { return false };
        std::mem::replace(&mut self.attempts.of_mut(kind).failing, failing)
    }

    fn delivered(&mut self, now: Duration, sent: SentRequest) {
        let is_metadata = sent.action.group() == RetryGroup::Metadata;
        let escalation = self.escalation_of(&sent.action);
        if let Some(part) = sent.action.part() {
            self.receipts.delivered(part, sent.call.seq());
        }
        match sent.action {
            Action::ReportState(record, session) => {
                let before = self.state.on_server.clone();
                self.state.accepted(Some(record));
                self.predecessor = None;
                self.unanswered_state = None;
                self.state_delivered(now, &before);
                self.detected.claimed(now, self.claim.config.own_label);
                if session.is_some() {
                    self.reported_session = session;
                    // The server accepts a custom source's session and never shows it (failure
                    // B40), so a read-back cannot find it.
                    self.receipts
                        .note(Receipt::new(Outcome::Sent, Part::Session).seq(sent.call.seq()));
                }
            }
            Action::SetPresentation(record) => self.presentation.accepted(record),
            Action::SetReason(labels) => self.reason.accepted(labels),
            Action::PatchTokens(patch) => self.tokens.accepted(&patch),
            Action::EndClaim(_) => {
                self.receipts.note(Receipt::new(Outcome::Sent, Part::Release).seq(sent.call.seq()));
                self.released();
                self.state.awaits_read_back = true;
                if self.one_shot.is_some() {
                    self.read_backs.schedule(now);
                }
            }
            _ => {}
        }
        if is_metadata {
            self.metadata_delivered(now, escalation);
            self.schedule_refresh(now);
        }
    }

    fn schedule_refresh(&mut self, now: Duration) {
        if self.one_shot.is_some() || !self.may_have_metadata() {
            self.refresh_at = None;
        } else {
            let refresh = now + (self.claim.config.metadata_ttl.as_duration() / 3).max(REFRESH_MIN);
            self.refresh_at.get_or_insert(refresh);
        }
    }

    /// The row is not ours any more. Title and tokens that could not be cleared before the
    /// release can still be cleared.
    fn released(&mut self) {
        self.state.on_server = OnServer::Absent;
        self.attempts.of_mut(ReportKind::State).failing = false;
        self.predecessor = None;
        self.reported_session = None;
        self.last_sent_state = None;
        if !self.may_have_metadata() {
            self.refresh_at = None;
        }
    }

    /// Nothing of ours is on the pane: it is gone, or it is another agent's.
    pub(super) fn pane_gone(&mut self) {
        self.unanswered_state = None;
        self.presentation.on_server = OnServer::Absent;
        self.reason.on_server = OnServer::Absent;
        self.tokens.for_each(|slot| slot.on_server = OnServer::Absent);
        self.released();
    }
}
