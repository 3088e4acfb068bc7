//! What a failed request leads to.

use std::time::Duration;

use herdr_proto::{ErrorCode, TokenKey};

use super::io::shown;
use super::request::{Action, EndBy, SentRequest};
use super::slot::{OnServer, Slot};
use super::timing::{OTHER_API_WAIT, RetryCause, RetryGroup, UNUSABLE_SOCKET_WAIT};
use super::{Failure, FailureKind, PaneMachine, Subject};
use crate::diagnostic::DiagnosticKind;
use crate::receipt::{Outcome, Part, Reason};

/// An outage of the server or of one group that is shorter than this is not reported, since a
/// handoff takes a moment.
const BRIEF_OUTAGE: Duration = Duration::from_secs(1);
/// How long a token waits for room on a full pane.
const NO_ROOM: Duration = Duration::from_secs(30);
/// After this many failures a question is given up where reporting can go on without its answer.
const GIVE_UP_AFTER: u32 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Consequence {
    /// No server is there. Everything is sent again once there is one.
    StartOver,
    /// Only another socket can help. The engine looks for one in the meantime.
    AwaitSocket(Duration, DiagnosticKind),
    /// The group of the request waits, longer each time; other groups go on.
    BackOff,
    /// Reports go on without the command that restarts the agent.
    WithoutResume,
    SendNewKeysAlone,
    /// The pane has no room for the token.
    NoRoom,
    /// The pane is searched for under another id.
    SearchPane,
    /// The pane is gone, and everything of ours with it.
    PaneGone,
    /// The search goes on with the next pane.
    NextCandidate,
    /// It cannot be proven whether the pane is ours.
    Unprovable,
    /// Herdr detects no agent below our claim, or does not say.
    NoDetectedAgent,
    /// The server ends a claim only by a release.
    ReleaseInstead,
}

impl PaneMachine {
    /// The one table of which failure of which request leads to what.
    fn consequence(&self, kind: &FailureKind, sent: &SentRequest) -> Consequence {
        use FailureKind::{
            Broken, Malformed, NotPaneApi, Rejected, Timeout, Unreachable, Unusable,
        };

        let action = &sent.action;
        let group = self.backoffs.of(action.group());
        let searching = self.identity.is_searching();
        let gives_up = group.failures + 1 >= GIVE_UP_AFTER;
        match (kind, action) {
            (Unreachable, _) => Consequence::StartOver,
            (Unusable, _) => {
                Consequence::AwaitSocket(UNUSABLE_SOCKET_WAIT, DiagnosticKind::ConnectFailed)
            }
            (NotPaneApi, _) => Consequence::AwaitSocket(OTHER_API_WAIT, DiagnosticKind::NotPaneApi),

            (Rejected(code), _) if is_busy(code) => Consequence::BackOff,
            (Rejected(code), _) if is_about_resuming(code) && sent.has_resume_argv() => {
                Consequence::WithoutResume
            }
            (Rejected(_) | Malformed, Action::Ping) => Consequence::WithoutResume,
            (Rejected(_) | Malformed, Action::Explain) => Consequence::NoDetectedAgent,
            (Rejected(_) | Malformed, _) if searching => Consequence::NextCandidate,
            (Rejected(code), _) if *code == ErrorCode::PANE_NOT_FOUND => {
                let needed = self.wants_pane || self.one_shot.is_some();
                if needed { Consequence::SearchPane } else { Consequence::PaneGone }
            }
            (Rejected(_) | Malformed, Action::GetProcesses) => Consequence::Unprovable,
            (Rejected(_) | Malformed, Action::EndClaim(EndBy::Clear)) => {
                Consequence::ReleaseInstead
            }
            (Rejected(code), Action::PatchTokens(patch))
                if *code == ErrorCode::METADATA_TOKEN_LIMIT =>
            {
                let is_alone = self.tokens.new_keys_alone || patch.len() == 1;
                if is_alone { Consequence::NoRoom } else { Consequence::SendNewKeysAlone }
            }

            (Timeout | Broken, Action::Ping) if gives_up => Consequence::WithoutResume,
            (Timeout | Broken, Action::Explain) if gives_up => Consequence::NoDetectedAgent,
            (Timeout | Broken, Action::GetProcesses)
                if gives_up && group.only_this_group && !searching =>
            {
                Consequence::Unprovable
            }
            (Rejected(_) | Timeout | Malformed | Broken, _) => Consequence::BackOff,
        }
    }

    pub(super) fn failed(&mut self, now: Duration, failure: Failure) {
        let Some(sent) = self.in_flight.take() else { return };
        let Failure { kind, detail } = failure;
        self.note_possible_effect(&sent, &kind);
        if self.ending.is_some() {
            self.failed_at_the_end(now, &sent, &kind, &detail);
            return;
        }
        if sent.to_old_server {
            // The failure says nothing about the present server.
            self.requeue(&sent.action);
            return;
        }
        let is_identity_question = sent.action == Action::GetProcesses;
        self.identity.unanswered |= is_identity_question;
        if is_identity_question && !self.wants_pane && self.one_shot.is_none() {
            // Only the lease needs the answer, and no report is held up, so the failure is not
            // reported.
            return;
        }
        if matches!(&kind, FailureKind::Rejected(code) if !is_transient(code)) {
            self.backoffs.server_answered(sent.action.group());
        }
        match self.consequence(&kind, &sent) {
            Consequence::StartOver => {
                self.requeue(&sent.action);
                let is_news = self.outage_is_news(now);
                // The server that comes back may be another one, without anything of ours.
                self.start_over();
                if is_news {
                    self.raise_once(DiagnosticKind::ConnectFailed, Subject::Connection, detail);
                }
                self.connection.backoff.fail(now);
                self.keep_for_retry(sent);
            }
            Consequence::AwaitSocket(how_long, kind) => {
                self.requeue(&sent.action);
                self.raise_once(kind, Subject::Connection, detail);
                self.connection.backoff.wait(now, how_long);
            }
            Consequence::BackOff => self.back_off(now, sent, &kind, detail),
            Consequence::WithoutResume => {
                self.resume_argv_refused = true;
                self.requeue(&sent.action);
            }
            Consequence::SendNewKeysAlone => {
                self.tokens.new_keys_alone = true;
                self.requeue(&sent.action);
            }
            Consequence::NoRoom => self.no_room_for(now, &sent, &detail),
            Consequence::SearchPane => {
                self.state.mark_unknown();
                self.reported_session = None;
                self.presentation.mark_unknown();
                self.reason.mark_unknown();
                self.tokens.for_each(Slot::mark_unknown);
                self.requeue(&sent.action);
                self.reset_for_new_claim();
                // This is reported only if the search finds nothing.
                self.search_for_pane(now, detail);
            }
            Consequence::PaneGone => self.pane_gone(),
            Consequence::NextCandidate => self.next_candidate(now, &sent.action),
            Consequence::Unprovable => self.unprovable(),
            Consequence::NoDetectedAgent => {
                if !matches!(&kind, FailureKind::Rejected(code) if says_no_agent(code)) {
                    self.detected.explain_unsupported();
                }
                self.explained(now, None);
            }
            Consequence::ReleaseInstead => self.detected.clear_unsupported = true,
        }
        // `start_over` has reset this.
        self.identity.unanswered |= is_identity_question;
    }

    /// The group waits, and a retry keeps its number. A timeout and a refusal are reported at once,
    /// any other failure only if it lasts.
    fn back_off(&mut self, now: Duration, sent: SentRequest, kind: &FailureKind, detail: String) {
        let (cause, diagnostic) = match kind {
            FailureKind::Rejected(code) if is_transient(code) => {
                (RetryCause::Failed, DiagnosticKind::ProtocolRejected)
            }
            FailureKind::Rejected(_) => (RetryCause::Refused, DiagnosticKind::ProtocolRejected),
            FailureKind::Timeout => (RetryCause::TimedOut, DiagnosticKind::Timeout),
            _ => (RetryCause::Failed, DiagnosticKind::ConnectFailed),
        };
        let group = sent.action.group();
        let backoff = self.backoffs.of_mut(group);
        // No report waits for a read-back, so it is not retried often.
        backoff.only_this_group |= group == RetryGroup::ReadBack;
        backoff.fail(now, sent.sent_at, cause);
        let failing_for = now.saturating_sub(backoff.first_sent_at);
        let lasts = backoff.failures > 1 && failing_for >= BRIEF_OUTAGE;
        if cause != RetryCause::Failed || lasts {
            self.raise_once(diagnostic, Subject::Group(group), detail);
        }
        self.set_failing(&sent.action, true);
        if sent.action == Action::ReadBack {
            self.read_back_failed(now, cause == RetryCause::Refused, lasts);
        } else if cause == RetryCause::Refused {
            if let Some(part) = sent.action.part() {
                self.receipts.refused(part, sent.call.seq(), reason_of(kind));
            }
        } else {
            self.requeue(&sent.action);
        }
        self.keep_for_retry(sent);
    }

    /// A retry of the same report keeps its number.
    fn keep_for_retry(&mut self, sent: SentRequest) {
        if sent.call.seq().is_some() {
            let group = sent.action.group();
            self.backoffs.of_mut(group).failed_request = Some(sent);
        }
    }

    /// The pane cannot be read. What waits for a read-back goes on without one: a one-shot for
    /// good, everything else until the pane can be read again.
    fn read_back_failed(&mut self, now: Duration, refused: bool, lasts: bool) {
        self.read_backs.schedule(now);
        if refused || lasts {
            self.read_backs.done_before_clearing = true;
            self.receipts.leave_unjudged(Outcome::Unverified);
        }
        if refused && self.one_shot.is_some() {
            self.read_backs.due = None;
            if self.must_read_first() {
                self.begin_one_shot_unread();
            }
        }
    }

    /// The pane is full: new tokens are left out for a while, and named in a diagnostic.
    fn no_room_for(&mut self, now: Duration, sent: &SentRequest, detail: &str) {
        let Action::PatchTokens(patch) = &sent.action else { return };
        let keys = self.tokens.new_keys(patch);
        let names: Vec<&str> = keys.iter().map(TokenKey::as_str).collect();
        let names = names.join(", ");
        self.raise_once(
            DiagnosticKind::ProtocolRejected,
            Subject::Pane,
            format!("{detail}; no room for the token {names}"),
        );
        for slot in self.tokens.slots.values_mut() {
            if slot.needs_update() && !slot.may_be_on_server() {
                slot.no_room_until = Some(now + NO_ROOM);
            }
        }
        let reason = Reason::Rejected(ErrorCode::METADATA_TOKEN_LIMIT.as_str().to_owned());
        self.receipts.refused(Part::Tokens, sent.call.seq(), reason);
    }

    /// Whether the host should know that the server is away: at once if it has never answered,
    /// otherwise only if it is away for longer than a handoff takes.
    fn outage_is_news(&mut self, now: Duration) -> bool {
        let since = *self.connection.unreachable_since.get_or_insert(now);
        !self.connection.answered_once || now.saturating_sub(since) >= BRIEF_OUTAGE
    }

    /// The report was not delivered. It waits again if its value is still wanted.
    fn requeue(&mut self, action: &Action) {
        let Some(part) = action.part() else { return };
        let still_wanted = match action {
            Action::ReportState(record, _) => self.state.wanted.as_ref() == Some(record),
            Action::SetPresentation(record) => {
                self.wants_pane && (self.presentation.wanted == *record || self.one_shot.is_some())
            }
            Action::PatchTokens(patch) => patch.iter().any(|(key, text)| {
                let slot = self.tokens.slots.get(key);
                text.is_some() && slot.is_some_and(|slot| slot.wanted.as_ref() == text)
            }),
            _ => false,
        };
        self.receipts.failed(part, still_wanted);
    }

    /// A request that failed may still have been applied.
    fn note_possible_effect(&mut self, sent: &SentRequest, kind: &FailureKind) {
        match kind {
            FailureKind::Unreachable
            | FailureKind::Unusable
            | FailureKind::NotPaneApi
            | FailureKind::Rejected(_) => {}
            FailureKind::Timeout => self.may_be_applied_later(&sent.action),
            FailureKind::Broken | FailureKind::Malformed => self.may_be_applied(&sent.action),
        }
    }

    pub(super) fn may_be_applied(&mut self, action: &Action) {
        match action {
            Action::ReportState(..) => {
                self.state.on_server = OnServer::Unknown;
                self.reported_session = None;
                self.predecessor = None;
            }
            // A one-shot's edit can be repeated without harm.
            Action::SetPresentation(_) if self.one_shot.is_some() => {}
            Action::SetPresentation(_) => self.presentation.on_server = OnServer::Unknown,
            Action::SetReason(_) => self.reason.on_server = OnServer::Unknown,
            Action::PatchTokens(patch) => self.tokens.mark_unknown(patch),
            _ => {}
        }
    }

    /// The request got no answer in time. The server reads each connection by itself, so it may
    /// still apply the request, even after later ones.
    fn may_be_applied_later(&mut self, action: &Action) {
        if let Action::ReportState(record, _) = action {
            self.unanswered_state = Some(record.clone());
        }
        self.may_be_applied(action);
    }

    /// Stops waiting for the request in flight, which may still be applied.
    pub(super) fn abandon(&mut self) {
        if let Some(sent) = self.in_flight.take() {
            self.may_be_applied_later(&sent.action);
        }
    }
}

pub(super) fn reason_of(kind: &FailureKind) -> Reason {
    match kind {
        FailureKind::Rejected(code) => Reason::Rejected(shown(code.as_str())),
        FailureKind::Malformed => Reason::Unreadable,
        _ => Reason::NotDelivered,
    }
}

fn is_about_resuming(code: &ErrorCode) -> bool {
    [ErrorCode::INVALID_RESUME_ARGV, ErrorCode::RESUME_NOT_ACCEPTED].contains(code)
}

/// The server can explain, but there is no agent now, so it may be asked again.
fn says_no_agent(code: &ErrorCode) -> bool {
    ["agent_explain_unavailable", "agent_not_found"].contains(&code.as_str())
}

/// A refusal of something that the server may accept a moment later.
pub(super) fn is_transient(code: &ErrorCode) -> bool {
    *code == ErrorCode::INTERNAL_ERROR || is_busy(code)
}

/// A refusal that says nothing about the request.
fn is_busy(code: &ErrorCode) -> bool {
    [ErrorCode::SERVER_UNAVAILABLE, ErrorCode::RATE_LIMITED].contains(code)
}
