//! What an answer means for what is known.

use std::time::Duration;

use super::request::{Carries, Flight, Topic};
use super::slot::{Climb, Has};
use super::{About, Answer, PaneMachine};
use crate::receipt::{Outcome, Part, Receipt};

/// Title, labels and tokens are not sent again more often than this.
const REFRESH_MIN: Duration = Duration::from_millis(250);

impl PaneMachine {
    pub(super) fn answered(&mut self, now: Duration, answer: Answer) {
        let Some(flight) = self.flight.take() else { return };
        self.contact.backoff.succeed();
        self.contact.met = true;
        self.contact.lost_since = None;
        self.works(About::Contact);
        if flight.void {
            // It may be the old server's word, which says nothing of the new
            // one.
            if let Some(part) = flight.carries.part() {
                self.receipts.delivered(part, flight.seq);
            }
            self.may_be_applied(&flight.carries);
            return;
        }
        self.succeeded(&flight.carries);
        match (answer, &flight.carries) {
            (Answer::Ack, _) => self.delivered(now, flight),
            (Answer::Pane(pane), Carries::Look) => self.looked(now, &pane),
            (Answer::Explained(explanation), Carries::Below) => {
                self.explained(now, Some(&explanation));
            }
            (Answer::Pong(pong), _) => self.server = Some(pong),
            (Answer::Processes(_), _) => self.identity.await_verdict(),
            (Answer::Panes(panes), _) => self.found_panes(panes),
            _ => {}
        }
    }

    /// A request of this topic succeeded. Another part of it that fails is
    /// tried at once, if this one failed before, and is in trouble still.
    fn succeeded(&mut self, carries: &Carries) {
        let topic = carries.topic();
        let failed_before = self.set_failing(carries, false);
        self.rests.is_there(topic);
        let others = self.presentation.failing || self.reason.failing || self.tokens.failing;
        if topic != Topic::Metadata || !others {
            self.rests.over(topic);
            self.works(About::Topic(topic));
        } else if failed_before {
            self.rests.of_mut(topic).until = None;
        }
    }

    /// Notes whether a part fails; whether it did before.
    pub(super) fn set_failing(&mut self, carries: &Carries, failing: bool) -> bool {
        let flag = match carries {
            Carries::State(..) => &mut self.state.failing,
            Carries::Presentation(_) => &mut self.presentation.failing,
            Carries::Reason(_) => &mut self.reason.failing,
            Carries::Tokens(_) => &mut self.tokens.failing,
            _ => return false,
        };
        std::mem::replace(flag, failing)
    }

    fn delivered(&mut self, now: Duration, flight: Flight) {
        let climb = self.climb_of(&flight.carries);
        if let Some(part) = flight.carries.part() {
            self.receipts.delivered(part, flight.seq);
        }
        match flight.carries {
            Carries::State(record, session) => {
                let before = self.state.has.clone();
                self.state.taken(Some(record));
                self.predecessor = None;
                self.late = None;
                self.state_delivered(now, &before);
                self.detected.claimed(now, self.claim.own_label);
                if session.is_some() {
                    self.told_session = session;
                    // A custom source's session is taken and never shown
                    // (failure B40), so nothing can be looked for.
                    self.receipts.note(Receipt::new(Outcome::Sent, Part::Session).seq(flight.seq));
                }
            }
            Carries::Presentation(record) => {
                self.presentation.taken(record);
                self.metadata_taken(now, climb);
            }
            Carries::Reason(labels) => {
                self.reason.taken(labels);
                self.metadata_taken(now, climb);
            }
            Carries::Tokens(patch) => {
                self.tokens.taken(&patch);
                self.metadata_taken(now, climb);
            }
            Carries::End(_) => {
                self.receipts.note(Receipt::new(Outcome::Sent, Part::Release).seq(flight.seq));
                self.released();
                self.state.unseen = true;
                if self.once.is_some() {
                    self.looks.look_at(now);
                }
            }
            _ => {}
        }
    }

    fn metadata_taken(&mut self, now: Duration, climb: Climb) {
        self.metadata_delivered(now, climb);
        if self.once.is_some() || !self.has_metadata() {
            self.refresh_at = None;
        } else {
            let refresh = now + (self.claim.metadata_ttl.as_duration() / 3).max(REFRESH_MIN);
            self.refresh_at.get_or_insert(refresh);
        }
    }

    /// The row is not ours any more. Title and tokens that could not be cleared
    /// before are still ours to clear.
    fn released(&mut self) {
        self.state.has = Has::Absent;
        self.state.failing = false;
        self.predecessor = None;
        self.told_session = None;
        self.refresh_at = None;
        self.last_state = None;
    }

    /// There is no pane any more that anything of ours could be on.
    pub(super) fn nothing_left(&mut self) {
        self.released();
        self.late = None;
        self.presentation.has = Has::Absent;
        self.reason.has = Has::Absent;
        self.tokens.each(|slot| slot.has = Has::Absent);
    }
}
