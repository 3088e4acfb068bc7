//! What a failed request leads to.

use std::time::Duration;

use herdr_proto::{ErrorCode, TokenKey};

use super::io::shown;
use super::request::{Carries, EndBy, Flight, Topic};
use super::slot::{Has, Slot};
use super::timing::{LONG, LONGEST, Why};
use super::{About, Failure, FailureKind, PaneMachine};
use crate::diagnostic::DiagnosticKind;
use crate::receipt::{Outcome, Part, Reason};

/// A server that was there and is not is no news for so long; nor is a request
/// that fails and succeeds meanwhile.
const GAP: Duration = Duration::from_secs(1);
/// A token for which a pane has no room waits so long.
const NO_ROOM: Duration = Duration::from_secs(30);
/// After so many failures nobody waits for an answer that others can do
/// without.
const ENOUGH: u32 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    /// Nobody is there: everything is sent again when somebody is.
    StartOver,
    /// Only another socket helps; it is looked for meanwhile.
    AwaitSocket(Duration, DiagnosticKind),
    /// Its topic rests, longer each time; others go on.
    Rest(Why, DiagnosticKind),
    /// The report goes out without the command that restarts the agent.
    WithoutResume,
    /// The keys go out apart, each new one alone.
    Apart,
    /// The pane has no room for it.
    LeaveOut,
    /// The pane is sought under another id.
    SeekPane,
    /// There is no pane any more that anything of ours could be on.
    NothingLeft,
    /// That pane is not the one that is sought.
    NotThisPane,
    /// Whose pane it is cannot be told.
    Unprovable,
    /// No agent is below ours, or the server does not say.
    NobodyBelow,
    /// The server does not end a claim but by a release.
    ReleaseInstead,
}

impl PaneMachine {
    /// The one table: which failure of which request leads to what.
    fn consequence(&self, kind: &FailureKind, flight: &Flight) -> Then {
        use DiagnosticKind::{ConnectFailed, ProtocolRejected};
        use FailureKind::{
            Broken, Malformed, NotPaneApi, Rejected, Timeout, Unreachable, Unusable,
        };

        let carries = &flight.carries;
        let topic = self.rests.of(carries.topic());
        let searching = self.identity.is_searching();
        // Others can do without the answer.
        let enough = topic.failures + 1 >= ENOUGH;
        match (kind, carries) {
            (Unreachable, _) => Then::StartOver,
            (Unusable, _) => Then::AwaitSocket(LONG, ConnectFailed),
            (NotPaneApi, _) => Then::AwaitSocket(LONGEST, DiagnosticKind::NotPaneApi),

            (Rejected(code), _) if is_put_off(code) => Then::Rest(Why::Failed, ProtocolRejected),
            (Rejected(code), _) if is_about_resuming(code) && flight.asks_to_resume() => {
                Then::WithoutResume
            }
            (Rejected(_) | Malformed, Carries::Version) => Then::WithoutResume,
            (Rejected(_) | Malformed, Carries::Below) => Then::NobodyBelow,
            (Rejected(_) | Malformed, _) if searching => Then::NotThisPane,
            (Rejected(code), _) if *code == ErrorCode::PANE_NOT_FOUND => {
                let needed = self.wants || self.once.is_some();
                if needed { Then::SeekPane } else { Then::NothingLeft }
            }
            (Rejected(_) | Malformed, Carries::Processes) => Then::Unprovable,
            (Rejected(_) | Malformed, Carries::End(EndBy::Clear)) => Then::ReleaseInstead,
            (Rejected(code), Carries::Tokens(patch))
                if *code == ErrorCode::METADATA_TOKEN_LIMIT =>
            {
                let apart = self.tokens.apart || patch.len() == 1;
                if apart { Then::LeaveOut } else { Then::Apart }
            }
            (Rejected(code), _) if *code == ErrorCode::INTERNAL_ERROR => {
                Then::Rest(Why::Failed, ProtocolRejected)
            }
            (Rejected(_), _) => Then::Rest(Why::Refused, ProtocolRejected),

            (Timeout | Broken, Carries::Version) if enough => Then::WithoutResume,
            (Timeout | Broken, Carries::Below) if enough => Then::NobodyBelow,
            (Timeout | Broken, Carries::Processes) if enough && topic.alone && !searching => {
                Then::Unprovable
            }
            (Timeout, _) => Then::Rest(Why::Silent, DiagnosticKind::Timeout),
            (Malformed | Broken, _) => Then::Rest(Why::Failed, ConnectFailed),
        }
    }

    pub(super) fn failed(&mut self, now: Duration, failure: Failure) {
        let Some(flight) = self.flight.take() else { return };
        let Failure { kind, detail } = failure;
        self.note_effect(&flight, &kind);
        if self.ending.is_some() {
            self.failed_at_the_end(now, &flight, &kind, &detail);
            return;
        }
        if flight.void {
            // It says nothing about the server that is there now.
            self.put_back(&flight.carries);
            return;
        }
        let asked_whose_pane = flight.carries == Carries::Processes;
        self.identity.unanswered |= asked_whose_pane;
        if asked_whose_pane && !self.wants && self.once.is_none() {
            // Nobody misses a report, so there is nothing to tell.
            return;
        }
        if matches!(&kind, FailureKind::Rejected(code) if !is_passing(code)) {
            self.rests.is_there(flight.carries.topic());
        }
        match self.consequence(&kind, &flight) {
            Then::StartOver => {
                self.put_back(&flight.carries);
                let missed = self.is_missed(now);
                // A server that went away has lost what it knew of us. Whether
                // it is another one that comes back is not known.
                self.start_over();
                if missed {
                    self.raise(DiagnosticKind::ConnectFailed, About::Contact, detail);
                }
                self.contact.backoff.fail(now);
                self.keep_number(flight);
            }
            Then::AwaitSocket(how_long, kind) => {
                self.put_back(&flight.carries);
                self.raise(kind, About::Contact, detail);
                self.contact.backoff.wait(now, how_long);
            }
            Then::Rest(why, about) => self.rest(now, flight, why, (about, detail), &kind),
            Then::WithoutResume => {
                self.no_resume = true;
                self.put_back(&flight.carries);
            }
            Then::Apart => {
                self.tokens.apart = true;
                self.put_back(&flight.carries);
            }
            Then::LeaveOut => self.leave_out(now, &flight, &detail),
            Then::SeekPane => {
                self.state.forget();
                self.told_session = None;
                self.presentation.forget();
                self.tokens.each(Slot::forget);
                self.put_back(&flight.carries);
                self.new_claim();
                // If it is not found elsewhere, that is told then.
                self.seek_pane(now, detail);
            }
            Then::NothingLeft => self.nothing_left(),
            Then::NotThisPane => self.not_among(now, &flight.carries),
            Then::Unprovable => self.unprovable(),
            Then::NobodyBelow => {
                if !matches!(&kind, FailureKind::Rejected(code) if is_about_nobody(code)) {
                    self.detected.cannot_ask();
                }
                self.explained(now, None);
            }
            Then::ReleaseInstead => self.detected.cannot_clear = true,
        }
        // Starting over has forgotten it.
        self.identity.unanswered |= asked_whose_pane;
    }

    /// The topic rests; what failed goes out again under its number. Silence
    /// and a refusal are told at once, and everything else if it lasts.
    fn rest(
        &mut self,
        now: Duration,
        flight: Flight,
        why: Why,
        (about, detail): (DiagnosticKind, String),
        kind: &FailureKind,
    ) {
        let topic = flight.carries.topic();
        let rest = self.rests.of_mut(topic);
        // Nobody waits for a look, so it need not be tried often.
        rest.alone |= topic == Topic::Look;
        rest.fail(now, flight.sent_at, why);
        let lasts = rest.failures > 1 && now.saturating_sub(rest.since) >= GAP;
        if why != Why::Failed || lasts {
            self.raise(about, About::Topic(topic), detail);
        }
        self.set_failing(&flight.carries, true);
        if flight.carries == Carries::Look {
            self.cannot_look(now, why == Why::Refused, lasts);
        } else if why == Why::Refused {
            if let Some(part) = flight.carries.part() {
                self.receipts.refused(part, flight.seq, reason_of(kind));
            }
        } else {
            self.put_back(&flight.carries);
        }
        self.keep_number(flight);
    }

    /// The same again is to go out under its number.
    fn keep_number(&mut self, flight: Flight) {
        if flight.seq.is_some() {
            let topic = flight.carries.topic();
            self.rests.of_mut(topic).last = Some(flight);
        }
    }

    /// The pane cannot be read. Whatever waits for it goes on without, for good
    /// or until it can be read again.
    fn cannot_look(&mut self, now: Duration, refused: bool, lasts: bool) {
        self.looks.look_at(now);
        if refused || lasts {
            self.looks.before_clearing = true;
            self.receipts.leave_unjudged(Outcome::Unverified);
        }
        if refused && self.once.is_some() {
            self.looks.due = None;
            if self.must_read_first() {
                self.begin_once_blindly();
            }
        }
    }

    /// Only what is new on a full pane is left out, and named.
    fn leave_out(&mut self, now: Duration, flight: &Flight, detail: &str) {
        let Carries::Tokens(patch) = &flight.carries else { return };
        let keys = self.tokens.new_keys(patch);
        let names: Vec<&str> = keys.iter().map(TokenKey::as_str).collect();
        let names = names.join(", ");
        self.raise(
            DiagnosticKind::ProtocolRejected,
            About::Pane,
            format!("{detail}; no room for the token {names}"),
        );
        for slot in self.tokens.slots.values_mut() {
            // No other new one has room either.
            if slot.lacks() && !slot.may_be_there() {
                slot.left_out_until = Some(now + NO_ROOM);
            }
        }
        let reason = Reason::Rejected(ErrorCode::METADATA_TOKEN_LIMIT.as_str().to_owned());
        self.receipts.refused(Part::Tokens, flight.seq, reason);
    }

    /// The server is away, and it is time to say so: a handoff takes a moment,
    /// and is no news for the host; a server that never answered is.
    fn is_missed(&mut self, now: Duration) -> bool {
        let since = *self.contact.lost_since.get_or_insert(now);
        !self.contact.met || now.saturating_sub(since) >= GAP
    }

    /// A report that did not come through waits again, if it is still wanted.
    fn put_back(&mut self, carries: &Carries) {
        let Some(part) = carries.part() else { return };
        let still_wanted = match carries {
            Carries::State(record, _) => self.state.wanted.as_ref() == Some(record),
            Carries::Presentation(record) => {
                self.wants && (self.presentation.wanted == *record || self.once.is_some())
            }
            Carries::Tokens(patch) => patch.iter().any(|(key, text)| {
                let slot = self.tokens.slots.get(key);
                text.is_some() && slot.is_some_and(|slot| slot.wanted.as_ref() == text)
            }),
            _ => false,
        };
        self.receipts.failed(part, still_wanted);
    }

    /// What a request that failed may have done all the same.
    fn note_effect(&mut self, flight: &Flight, kind: &FailureKind) {
        match kind {
            FailureKind::Unreachable
            | FailureKind::Unusable
            | FailureKind::NotPaneApi
            | FailureKind::Rejected(_) => {}
            FailureKind::Timeout => self.may_come_late(&flight.carries),
            FailureKind::Broken | FailureKind::Malformed => self.may_be_applied(&flight.carries),
        }
    }

    pub(super) fn may_be_applied(&mut self, carries: &Carries) {
        match carries {
            Carries::State(..) => {
                self.state.has = Has::Unsure;
                self.told_session = None;
                self.predecessor = None;
            }
            // An edit can be made twice.
            Carries::Presentation(_) if self.once.is_some() => {}
            Carries::Presentation(_) => self.presentation.has = Has::Unsure,
            Carries::Reason(_) => self.reason.has = Has::Unsure,
            Carries::Tokens(patch) => self.tokens.may_be_taken(patch),
            _ => {}
        }
    }

    /// Nobody waits for its answer, and the server may take it after what
    /// follows: it reads each connection by itself.
    fn may_come_late(&mut self, carries: &Carries) {
        if let Carries::State(record, _) = carries {
            self.late = Some(record.clone());
        }
        self.may_be_applied(carries);
    }

    /// Gives up on the request in flight, which may yet be applied.
    pub(super) fn abandon(&mut self) {
        if let Some(flight) = self.flight.take() {
            self.may_come_late(&flight.carries);
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

/// There is no agent that could be explained, so it may be asked again.
fn is_about_nobody(code: &ErrorCode) -> bool {
    ["agent_explain_unavailable", "agent_not_found"].contains(&code.as_str())
}

/// A refusal of a report that may be taken a moment later.
pub(super) fn is_passing(code: &ErrorCode) -> bool {
    *code == ErrorCode::INTERNAL_ERROR || is_put_off(code)
}

/// A refusal by which the server says only that it cannot answer now.
fn is_put_off(code: &ErrorCode) -> bool {
    [ErrorCode::SERVER_UNAVAILABLE, ErrorCode::RATE_LIMITED].contains(code)
}
