//! What an answer or a failure means for what is known.

use std::time::Duration;

use herdr_proto::ErrorCode;

use super::backoff::{LONG, LONGEST};
use super::io::shown;
use super::plan::{Confirmed, Known, PresentationRecord, StateRecord};
use super::request::{Carries, Flight};
use super::{Answer, Contact, Failure, FailureKind, Now, PaneMachine, REFUSED_REST};
use crate::diagnostic::DiagnosticKind;
use crate::receipt::{Outcome, Part, Reason, Receipt};

/// A server that was there and is not is no news for so long.
const GAP: Duration = Duration::from_secs(1);
/// Title, labels and tokens are not sent again more often than this.
const REFRESH_MIN: Duration = Duration::from_millis(250);

impl PaneMachine {
    pub(super) fn answered(&mut self, now: Now, answer: Answer) {
        let Some(flight) = self.flight.take() else { return };
        self.backoff.succeed();
        self.contact = Contact { met: true, lost_since: None };
        self.rearm(&[
            DiagnosticKind::ConnectFailed,
            DiagnosticKind::Timeout,
            DiagnosticKind::NotPaneApi,
        ]);
        if flight.void && flight.carries.part().is_none() {
            // The old server's word says nothing about the new one.
            return;
        }
        match answer {
            Answer::Ack => self.delivered(now.elapsed, flight),
            Answer::Pane(pane) if flight.carries == Carries::Look => {
                self.looked(now.elapsed, &pane);
            }
            Answer::Pong(pong) => self.server = Some(pong),
            Answer::Processes(_) => self.whereabouts.await_verdict(),
            Answer::Panes(panes) => self.found_panes(panes),
            Answer::Pane(_) => {}
        }
    }

    fn delivered(&mut self, now: Duration, flight: Flight) {
        if let (Some(part), Some(seq)) = (flight.carries.part(), flight.seq) {
            self.ledger.delivered(part, seq);
        }
        if flight.void {
            self.may_be_applied(&flight.carries);
            return;
        }
        match flight.carries {
            Carries::State(record, session) => {
                self.watcher.state_delivered(now, &record, &self.confirmed, self.claim.verify);
                self.claimed = true;
                self.holder = None;
                self.confirmed.state = Some(record);
                self.confirmed.late = None;
                if session.is_some() {
                    self.confirmed.session = session;
                    // A custom source's session is taken and never shown
                    // (failure B40), so nothing can be looked for.
                    let receipt = Receipt::new(Outcome::Unverified, Part::Session);
                    self.ledger.note(receipt.seq(flight.seq));
                }
            }
            Carries::Presentation(record) => {
                self.confirmed.presentation = Known::Is(record);
                self.metadata_delivered(now);
            }
            Carries::Tokens(patch) => {
                self.confirmed.took_tokens(&patch);
                self.metadata_delivered(now);
            }
            Carries::Release => {
                self.ledger.note(Receipt::new(Outcome::Unverified, Part::Release).seq(flight.seq));
                self.released();
            }
            _ => {}
        }
    }

    /// The row is not ours any more. Title and tokens that could not be cleared
    /// before are still ours to clear.
    fn released(&mut self) {
        self.claimed = false;
        self.holder = None;
        self.confirmed.state = None;
        self.confirmed.session = None;
        self.refresh_at = None;
        self.pace.last_state = None;
    }

    /// There is no pane any more that anything of ours could be on.
    fn nothing_left(&mut self) {
        self.confirmed = Confirmed::default();
        self.released();
    }

    fn metadata_delivered(&mut self, now: Duration) {
        self.watcher.metadata_delivered(now, self.claim.verify);
        if self.confirmed.has_metadata() {
            let refresh = now + (self.claim.metadata_ttl.as_duration() / 3).max(REFRESH_MIN);
            self.refresh_at.get_or_insert(refresh);
        } else {
            self.refresh_at = None;
        }
    }

    pub(super) fn failed(&mut self, now: Duration, failure: Failure) {
        let Some(flight) = self.flight.take() else { return };
        let Failure { kind, detail } = failure;
        let sent = !matches!(
            kind,
            FailureKind::Unreachable | FailureKind::Unusable | FailureKind::NotPaneApi
        );
        if kind == FailureKind::Timeout {
            self.may_come_late(&flight.carries);
        }
        if sent && !matches!(kind, FailureKind::Rejected(_)) {
            self.may_be_applied(&flight.carries);
        }
        if self.ending.is_some() {
            self.failed_at_the_end(now, &flight.carries, &kind);
            return;
        }
        match kind {
            FailureKind::Rejected(code) => self.rejected(now, flight, &code, detail),
            FailureKind::Malformed if flight.carries.part().is_none() => {
                self.unreadable(now, &flight, Reason::Unreadable, detail);
            }
            kind => {
                self.keep_for_retry(now, flight);
                self.lost_touch(now, &kind, detail);
            }
        }
    }

    fn lost_touch(&mut self, now: Duration, kind: &FailureKind, detail: String) {
        match kind {
            FailureKind::Timeout => {
                self.raise(DiagnosticKind::Timeout, detail);
                self.backoff.fail(now, true);
            }
            FailureKind::Unusable => {
                self.raise(DiagnosticKind::ConnectFailed, detail);
                self.backoff.wait(now, LONG);
            }
            FailureKind::NotPaneApi => {
                self.raise(DiagnosticKind::NotPaneApi, detail);
                self.backoff.wait(now, LONGEST);
            }
            _ => {
                if self.is_missed(now) {
                    self.raise(DiagnosticKind::ConnectFailed, detail);
                }
                // A server that went away has lost what it knew of us. Whether
                // it is another one that comes back is not known.
                self.start_over();
                self.backoff.fail(now, false);
            }
        }
    }

    /// The server is away, and it is time to say so: a handoff takes a moment,
    /// and is no news for the host; a server that never answered is.
    fn is_missed(&mut self, now: Duration) -> bool {
        let since = *self.contact.lost_since.get_or_insert(now);
        !self.contact.met || now.saturating_sub(since) >= GAP
    }

    fn rejected(&mut self, now: Duration, flight: Flight, code: &ErrorCode, detail: String) {
        if is_about_resuming(code) && flight.asks_to_resume() {
            // It takes the whole report down, so it goes out without.
            self.no_resume = true;
            self.put_back(&flight.carries);
        } else if self.whereabouts.is_searching() && !is_put_off(code) {
            // That pane is no candidate.
            self.not_among(&flight.carries);
        } else if flight.carries.part().is_none() && !is_of_the_moment(code) {
            self.unreadable(now, &flight, Reason::Rejected(shown(code.as_str())), detail);
        } else if *code == ErrorCode::PANE_NOT_FOUND && self.wanted.is_none() {
            self.nothing_left();
        } else if *code == ErrorCode::PANE_NOT_FOUND || is_passing(code) {
            self.keep_for_retry(now, flight);
            let news = if *code == ErrorCode::PANE_NOT_FOUND {
                self.confirmed.forget();
                self.watcher.new_claim();
                // If it is not found elsewhere, that is told by the next attempt.
                !self.seek_pane(now)
            } else {
                // So says a server that is about to stop.
                *code != ErrorCode::SERVER_UNAVAILABLE || self.is_missed(now)
            };
            if news {
                self.raise(DiagnosticKind::ProtocolRejected, detail);
            }
            self.backoff.fail(now, false);
        } else {
            self.rest(now, &flight, Reason::Rejected(shown(code.as_str())), detail);
        }
    }

    /// This server does not answer a read, or not so that it can be understood;
    /// reports go on without it.
    fn unreadable(&mut self, now: Duration, flight: &Flight, why: Reason, detail: String) {
        if self.whereabouts.is_searching() {
            self.not_among(&flight.carries);
        } else if flight.carries == Carries::Processes {
            self.unknown_whereabouts(now);
        } else {
            self.rest(now, flight, why, detail);
        }
    }

    /// A refusal turns this one part off for a while; the others go on.
    fn rest(&mut self, now: Duration, flight: &Flight, reason: Reason, detail: String) {
        let until = Some(now + REFUSED_REST);
        match flight.carries {
            Carries::State(..) => self.rests.state = until,
            Carries::Presentation(_) => self.rests.presentation = until,
            Carries::Tokens(_) => self.rests.tokens = until,
            Carries::Look => {
                self.rests.looks = until;
                self.watcher.cannot_look();
                self.ledger.leave_unjudged();
            }
            Carries::Version => self.no_resume = true,
            Carries::Release => self.rests.release = until,
            Carries::Processes | Carries::Panes => {}
        }
        if let Some(part) = flight.carries.part() {
            self.ledger.refused(part, flight.seq, reason);
        }
        self.raise(DiagnosticKind::ProtocolRejected, detail);
    }

    fn keep_for_retry(&mut self, now: Duration, flight: Flight) {
        self.put_back(&flight.carries);
        match flight.carries {
            Carries::State(..) | Carries::Presentation(_) | Carries::Tokens(_) => {
                self.retry = Some(Flight { void: false, ..flight });
            }
            Carries::Look => self.watcher.look_at(now),
            _ => {}
        }
    }

    /// A report that did not come through waits again, if it is still wanted.
    fn put_back(&mut self, carries: &Carries) {
        let Some(part) = carries.part() else { return };
        let wanted = self.wanted.as_ref();
        let still_wanted = match carries {
            Carries::State(record, _) => wanted.map(StateRecord::of).as_ref() == Some(record),
            Carries::Presentation(record) => {
                wanted.map(PresentationRecord::of).as_ref() == Some(record)
            }
            Carries::Tokens(patch) => wanted.is_some_and(|wanted| {
                patch.iter().any(|(key, text)| text.is_some() && wanted.tokens.get(key) == text)
            }),
            _ => false,
        };
        self.ledger.failed(part, still_wanted);
    }

    /// Nobody knows whether the server took it.
    fn may_be_applied(&mut self, carries: &Carries) {
        match carries {
            Carries::State(..) => {
                self.claimed = true;
                self.holder = None;
                self.confirmed.state = None;
            }
            Carries::Presentation(_) => self.confirmed.presentation = Known::Unsure,
            Carries::Tokens(patch) => self.confirmed.may_have_taken_tokens(patch),
            _ => {}
        }
    }

    /// Gives up on the request in flight, which may yet be applied.
    pub(super) fn abandon(&mut self) {
        if let Some(flight) = self.flight.take() {
            self.may_come_late(&flight.carries);
            self.may_be_applied(&flight.carries);
        }
    }

    /// Nobody waits for its answer, and the server may take it after what
    /// follows: it reads each connection by itself.
    fn may_come_late(&mut self, carries: &Carries) {
        if let Carries::State(record, _) = carries {
            self.confirmed.late = Some(record.clone());
        }
    }
}

fn is_about_resuming(code: &ErrorCode) -> bool {
    [ErrorCode::INVALID_RESUME_ARGV, ErrorCode::RESUME_NOT_ACCEPTED].contains(code)
}

/// A refusal that is about the server or the pane as they are now, and not
/// about the method.
fn is_of_the_moment(code: &ErrorCode) -> bool {
    *code == ErrorCode::PANE_NOT_FOUND || is_put_off(code)
}

/// A refusal of a report that may be taken a moment later.
pub(super) fn is_passing(code: &ErrorCode) -> bool {
    *code == ErrorCode::INTERNAL_ERROR || is_put_off(code)
}

/// A refusal by which the server says only that it cannot answer now.
fn is_put_off(code: &ErrorCode) -> bool {
    [ErrorCode::SERVER_UNAVAILABLE, ErrorCode::RATE_LIMITED].contains(code)
}
