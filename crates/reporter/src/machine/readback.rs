//! The read-back: what the pane shows, and what to do about it.

use std::time::Duration;

use herdr_proto::{PaneInfo, TokenKey};

use super::judge::{self, Verdict};
use super::once::{MADE_TOKENS, Once};
use super::slot::{Climb, Has, Slot, StateRecord};
use super::{About, PaneMachine, Stop};
use crate::diagnostic::DiagnosticKind;
use crate::receipt::{Outcome, Part, Reason, Receipt};

/// When the pane is looked at.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// From when on something is to be checked.
    pub(super) due: Option<Duration>,
    pub(super) last: Option<Duration>,
    /// A state was delivered in this claim, and metadata was.
    state_delivered: bool,
    metadata_delivered: bool,
    /// How often the pane was seen to be another session's.
    owned: u32,
    /// The pane was looked at before the tokens are taken off, or cannot be.
    pub(super) before_clearing: bool,
}

impl Looks {
    pub(super) fn new_claim(&mut self) {
        *self = Self::default();
    }

    /// Something is to be checked from this moment on.
    pub(super) fn look_at(&mut self, at: Duration) {
        self.due.get_or_insert(at);
    }
}

impl PaneMachine {
    /// The state was delivered; whether it is looked at.
    pub(super) fn state_delivered(&mut self, now: Duration, before: &Has<StateRecord>) {
        let same = match (before, &self.state.has) {
            (Has::Known(before), Has::Known(after)) => before.state == after.state,
            _ => false,
        };
        let first = !std::mem::replace(&mut self.looks.state_delivered, true);
        if (self.claim.verify && (first || !same)) || self.state.climb > Climb::None {
            self.looks.look_at(now);
        }
        self.looks.last = Some(now);
    }

    /// Metadata was delivered. Its mark is another one than the state's, so the
    /// first of a claim is looked at as the claim is.
    pub(super) fn metadata_delivered(&mut self, now: Duration, climb: Climb) {
        let first = !std::mem::replace(&mut self.looks.metadata_delivered, true);
        if (first && self.claim.verify && self.once.is_none()) || climb > Climb::None {
            self.looks.look_at(now);
        }
    }

    pub(super) fn looked(&mut self, now: Duration, pane: &PaneInfo) {
        self.looks.due = None;
        self.present_id = Some(pane.pane_id.clone());
        self.detected.saw(pane);
        match &self.once {
            Some(Once::Unread) => return self.begin_once(pane),
            Some(Once::Parting(all)) => {
                let all = all.clone();
                return self.say_after_parting(all, pane);
            }
            Some(Once::Releasing) => return self.judge_release(now, pane),
            _ => {}
        }
        if !self.wants || self.ending.is_some() {
            self.looks.before_clearing = true;
            self.keep_only_own_tokens(pane);
            return;
        }
        let holds = if self.speaks() {
            match self.judge_state(now, pane) {
                Some(holds) => holds,
                None => return,
            }
        } else {
            self.watch_herdr(now, pane);
            let herdrs = self.herdrs_agent();
            herdrs.is_some_and(|agent| pane.agent.as_deref() == Some(agent.as_str()))
        };
        if holds || !self.speaks() || matches!(self.state.has, Has::Known(_)) {
            self.judge_metadata(now, pane, holds);
        }
        if (holds || !self.speaks()) && self.once.is_none() {
            self.take_off_what_is_left(pane);
        }
    }

    /// Judges the state and does what follows; whether the row is ours. Nothing
    /// is known if no state of ours is there.
    fn judge_state(&mut self, now: Duration, pane: &PaneInfo) -> Option<bool> {
        if self.state.has_yielded() && self.state.yielded_to.is_some() && pane.agent.is_none() {
            // Whom it was left to has gone.
            self.state.try_anew();
            self.state.forget();
            self.looks.look_at(now);
            return None;
        }
        let Has::Known(record) = self.state.has.clone() else { return None };
        let verdict = judge::state(pane, &self.claim.source, &self.claim.agent, &record);
        if self.stop == Some(Stop::Owned) && !matches!(verdict.1, Some(Reason::ForeignSession(_))) {
            self.stop = None;
            self.looks.new_claim();
            self.state.forget();
            return None;
        }
        let sent = self.state.unseen;
        match &verdict {
            (Outcome::Applied, _) => {
                self.state.unseen = false;
                self.state.holds();
                self.looks.owned = 0;
                self.raised.remove(&DiagnosticKind::Ignored);
                self.receipts.judged(Part::State, verdict);
                return Some(true);
            }
            (_, Some(Reason::ForeignSession(_))) => self.owned(now, verdict),
            (_, Some(Reason::ScreenPrompt)) | (Outcome::Unverified, _) => {
                self.receipts.judged(Part::State, verdict);
            }
            _ if self.stop == Some(Stop::Superseded) => self.receipts.give_up(Part::State),
            _ if self.stop.is_some() || self.state.has_yielded() && !sent => {}
            _ if self.state.send_again(now) => self.looks.look_at(now),
            _ => self.give_in(sent, verdict, pane),
        }
        Some(false)
    }

    /// A session of another integration blocks every state of ours. The
    /// second look makes sure; then title and tokens go on alone.
    fn owned(&mut self, now: Duration, verdict: Verdict) {
        self.looks.owned += 1;
        if self.looks.owned < 2 {
            self.state.forget();
            self.looks.look_at(now);
            return;
        }
        if let (_, Some(reason)) = &verdict {
            let detail = format!("{reason}: the state cannot show; title and tokens go on");
            self.raise(DiagnosticKind::Ignored, About::Pane, detail);
        }
        self.stop = Some(Stop::Owned);
        self.receipts.judged(Part::State, verdict);
    }

    /// Sending it again does not help: the pane is left to the other writer,
    /// or no number of ours gets through.
    fn give_in(&mut self, sent: bool, verdict: Verdict, pane: &PaneInfo) {
        let detail = match &verdict {
            (_, Some(reason)) if sent => format!("{reason}; {}", reason.remedy()),
            _ => "another reporter keeps taking the pane; from now on only own changes are \
                  reported"
                .to_owned(),
        };
        self.raise(DiagnosticKind::Ignored, About::Pane, detail);
        let other = pane.agent.clone().filter(|shown| shown != self.claim.agent.as_str());
        if sent && other.is_none() && !self.claim.agent.is_known() {
            self.stop = Some(Stop::Muted);
        } else {
            self.state.yield_to(other);
        }
        self.receipts.judged(Part::State, verdict);
    }

    fn judge_metadata(&mut self, now: Duration, pane: &PaneInfo, holds: bool) {
        let lost = |verdict: &Verdict| verdict.0 == Outcome::Ignored;
        let repairs = !self.state.has_yielded() && self.once.is_none();
        let mut again = false;
        if let Has::Known(record) = &self.presentation.has {
            let verdict = judge::presentation(pane, &record.presentation, holds);
            let left = self.presentation.has_yielded();
            if !lost(&verdict) {
                self.presentation.unseen = false;
                self.presentation.climb = Climb::None;
            }
            if lost(&verdict) && repairs && !left && self.presentation.send_again(now) {
                again = true;
            } else {
                if lost(&verdict) && repairs && !left {
                    self.presentation.yield_to(None);
                }
                self.receipts.judged(Part::Presentation, verdict);
            }
        }
        let (mut differ, mut sent_again) = (false, false);
        for (key, slot) in &mut self.tokens.slots {
            let Has::Known(text) = &slot.has else { continue };
            if judge::shows_token(pane, key, text) {
                slot.unseen = false;
                slot.climb = Climb::None;
            } else if !repairs || slot.has_yielded() {
                differ = true;
            } else if slot.send_again(now) {
                sent_again = true;
            } else {
                slot.yield_to(None);
                differ = true;
            }
        }
        if again || sent_again {
            self.looks.look_at(now);
        }
        if !sent_again {
            self.receipts.judged(Part::Tokens, judge::tokens(differ));
        }
    }

    /// Once: a run of the same source that was killed may have left a title,
    /// labels, and the tokens that events make. A token has no owner, but these
    /// say what the agent of this row is, and that is ours now. Other tokens
    /// may be anybody's; they go by their ttl.
    fn take_off_what_is_left(&mut self, pane: &PaneInfo) {
        if self.cleaned || self.presentation.lacks() {
            return;
        }
        self.cleaned = true;
        let has = pane.title.is_some() || pane.display_agent.is_some();
        let ours = self.presentation.wanted.as_ref().map(|record| &record.presentation.labels);
        let is_ours = |state: &str| ours.is_some_and(|it| it.keys().any(|it| it.as_str() == state));
        let labels = pane.state_labels.keys().any(|state| !is_ours(state));
        if (has || labels) && self.presentation.wanted.is_none() {
            self.presentation.has = Has::Unsure;
        }
        if labels {
            self.reason.has = Has::Unsure;
        }
        for key in MADE_TOKENS.iter().filter(|key| pane.tokens.contains_key(**key)) {
            let Ok(key) = TokenKey::parse(*key) else { continue };
            let slot = self.tokens.slots.entry(key).or_default();
            if slot.wanted.is_none() && !slot.may_be_there() {
                slot.has = Has::Unsure;
            }
        }
    }

    /// Of the tokens that may be ours, those that show another value or none
    /// are not ours to clear. One that is on its way may show in a moment.
    fn keep_only_own_tokens(&mut self, pane: &PaneInfo) {
        for (key, slot) in &mut self.tokens.slots {
            if let Has::Known(text) = &slot.has
                && !judge::shows_token(pane, key, text)
            {
                slot.has = Has::Absent;
            }
        }
    }

    /// The pane after a release that was asked for once.
    fn judge_release(&mut self, now: Duration, pane: &PaneInfo) {
        let ours = pane.agent.as_deref() == Some(self.claim.agent.as_str());
        // Herdr may show an agent that it knows by itself.
        if ours && self.state.unseen && !self.claim.agent.is_known() {
            self.state.has = Has::Unsure;
            if self.state.send_again(now) {
                return;
            }
            let reason = Reason::StaleSequence;
            let detail = format!("{reason}; {}", reason.remedy());
            self.raise(DiagnosticKind::Ignored, About::Pane, detail);
            self.receipts.note(Receipt::new(Outcome::Ignored, Part::Release).because(reason));
        }
        self.state = Slot::default();
        self.say_once(pane);
    }
}
