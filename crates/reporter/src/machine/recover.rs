//! What to do about what the pane shows: judge, climb, repair, yield or stop.

use std::time::Duration;

use herdr_proto::{PaneInfo, SourceId};

use super::judge::{self, Verdict};
use super::look::Climb;
use super::plan::{Known, StateRecord};
use super::{PaneMachine, Stop};
use crate::diagnostic::DiagnosticKind;
use crate::receipt::{Outcome, Part, Reason};

/// The last fresh source that is tried: `NAME.9`.
const LAST_FRESH_SOURCE: u32 = 9;

impl PaneMachine {
    pub(super) fn looked(&mut self, now: Duration, pane: &PaneInfo) {
        self.watcher.due = None;
        if self.wanted.is_none() || self.ending.is_some() {
            self.watcher.looked_before_clearing = true;
            self.keep_only_own_tokens(pane);
            return;
        }
        let state_sent = std::mem::take(&mut self.watcher.state_sent);
        let metadata_sent = std::mem::take(&mut self.watcher.metadata_sent);
        let Some(record) = self.confirmed.state.clone() else { return };
        let (claim, mut holds) = (&self.claim, false);
        let verdict = judge::state(pane, &claim.source, &claim.agent, &record);
        if self.stop == Some(Stop::Owned) && !matches!(verdict.1, Some(Reason::ForeignSession(_))) {
            self.stop = None;
            self.watcher.new_claim();
            self.confirmed.state = None;
            return;
        }
        match &verdict {
            (Outcome::Applied, _) => {
                holds = true;
                self.state_holds();
                self.ledger.judged(Part::State, verdict);
            }
            (_, Some(Reason::ForeignSession(_))) => self.owned(now, verdict),
            (_, Some(Reason::ScreenPrompt)) | (Outcome::Unverified, _) => {
                self.ledger.judged(Part::State, verdict);
            }
            _ if state_sent => self.climb(now, verdict, pane),
            _ => self.repair(now, record, verdict),
        }
        if holds || self.confirmed.state.is_some() {
            self.judge_metadata(now, pane, holds, metadata_sent);
        }
        if holds && !self.watcher.cleaned && judge::has_leftover(pane, &self.confirmed) {
            // Once per claim: what an earlier run left behind goes, and what
            // somebody else shows without guards is theirs.
            self.watcher.cleaned = true;
            self.confirmed.presentation = Known::Unsure;
        }
    }

    fn state_holds(&mut self) {
        self.watcher.climb = Climb::Ground;
        self.watcher.owned_looks = 0;
        self.watcher.yielded = None;
        self.rearm(&[DiagnosticKind::Ignored]);
    }

    /// A session of another integration blocks every state of ours. The
    /// second look makes sure; then title and tokens go on alone.
    fn owned(&mut self, now: Duration, verdict: Verdict) {
        self.watcher.owned_looks += 1;
        if self.watcher.owned_looks < 2 {
            self.confirmed.state = None;
            self.watcher.look_at(now);
            return;
        }
        if let (_, Some(reason)) = &verdict {
            let detail = format!("{reason}: the state cannot show; title and tokens go on");
            self.raise(DiagnosticKind::Ignored, detail);
        }
        self.stop = Some(Stop::Owned);
        self.ledger.judged(Part::State, verdict);
    }

    /// We said it a moment ago and the pane shows something else: get above
    /// the mark, or say why that is not possible.
    fn climb(&mut self, now: Duration, verdict: Verdict, pane: &PaneInfo) {
        if let Some(next) = self.watcher.climb.next() {
            self.watcher.climb = next;
            self.watcher.look_at(now);
            self.confirmed.state = None;
            return;
        }
        self.watcher.climb = Climb::Ground;
        if let (_, Some(reason)) = &verdict {
            self.raise(DiagnosticKind::Ignored, format!("{reason}; {}", reason.remedy()));
        }
        // Where nobody else shows, no number of ours gets through.
        let muted = pane.agent.as_deref().is_none_or(|shown| shown == self.claim.agent.as_str());
        if muted && !self.claim.agent.is_known() {
            if self.claim.fresh_source && self.take_fresh_source(now) {
                return;
            }
            self.stop = Some(Stop::Muted);
        } else {
            self.watcher.yielded.clone_from(&self.confirmed.state);
        }
        self.ledger.judged(Part::State, verdict);
    }

    fn take_fresh_source(&mut self, now: Duration) -> bool {
        let number = self.watcher.fresh_sources + 2;
        let name = format!("{}.{number}", self.first_source);
        let Ok(source) = SourceId::parse(name) else { return false };
        if number > LAST_FRESH_SOURCE {
            return false;
        }
        self.watcher.fresh_sources += 1;
        self.claim.source = source;
        self.confirmed.forget();
        self.watcher.look_at(now);
        true
    }

    /// The row was ours and is not: somebody took it or cleared it.
    fn repair(&mut self, now: Duration, record: StateRecord, verdict: Verdict) {
        if self.stop.is_some() || self.watcher.yielded.is_some() {
            return;
        }
        if self.watcher.repair(now) {
            self.raise(
                DiagnosticKind::Ignored,
                "another reporter keeps taking the pane; from now on only own changes are reported",
            );
            self.watcher.yielded = Some(record);
            self.ledger.judged(Part::State, verdict);
            return;
        }
        self.confirmed.state = None;
        self.watcher.look_at(now);
    }

    fn judge_metadata(&mut self, now: Duration, pane: &PaneInfo, holds: bool, sent: bool) {
        let presentation = match &self.confirmed.presentation {
            Known::Is(record) => judge::presentation(pane, &record.presentation, holds),
            Known::Unsure => return,
        };
        let tokens = judge::tokens(pane, &self.confirmed);
        let lost = |verdict: &Verdict| verdict.0 == Outcome::Ignored;
        let (lost_presentation, lost_tokens) = (lost(&presentation), lost(&tokens));
        if !lost_presentation && !lost_tokens {
            self.watcher.metadata_climb = Climb::Ground;
        } else if self.may_repair_metadata(now, sent) {
            if lost_presentation {
                self.confirmed.presentation = Known::Unsure;
            }
            if lost_tokens {
                self.confirmed.tokens.values_mut().for_each(|text| *text = None);
            }
            self.watcher.look_at(now);
            return;
        }
        self.ledger.judged(Part::Presentation, presentation);
        self.ledger.judged(Part::Tokens, tokens);
    }

    fn may_repair_metadata(&mut self, now: Duration, sent: bool) -> bool {
        if self.watcher.metadata_yielded || self.watcher.yielded.is_some() {
            return false;
        }
        let again = if sent {
            let next = self.watcher.metadata_climb.next();
            self.watcher.metadata_climb = next.unwrap_or_default();
            next.is_some()
        } else {
            !self.watcher.repair(now)
        };
        self.watcher.metadata_yielded = !again;
        again
    }

    /// Of the tokens that may be ours, those that show another value or none
    /// are not ours to clear. One that is on its way may show in a moment.
    fn keep_only_own_tokens(&mut self, pane: &PaneInfo) {
        self.confirmed.tokens.retain(|key, text| {
            let shown = pane.tokens.get(key.as_str());
            match (shown, text) {
                (_, None) => true,
                (None, Some(_)) => false,
                (Some(shown), Some(text)) => shown == text.as_str(),
            }
        });
    }
}
