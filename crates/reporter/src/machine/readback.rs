//! The read-back: what the pane shows, and what follows from it.

use std::time::Duration;

use herdr_proto::{PaneInfo, TokenKey};

use super::judge::{self, Verdict};
use super::one_shot::{OneShotStage, derived_tokens};
use super::slot::{Check, Escalation, OnServer, Slot, StateRecord};
use super::{PaneMachine, StopReason, Subject};
use crate::diagnostic::DiagnosticKind;
use crate::receipt::{Outcome, Part, Reason, Receipt};

#[derive(Debug, Default)]
pub(super) struct ReadBacks {
    /// Since when a read-back has been wanted.
    pub(super) due: Option<Duration>,
    /// When the pane was last read, or a state last delivered.
    pub(super) last: Option<Duration>,
    /// A state was delivered in this claim.
    state_delivered: bool,
    /// Metadata was delivered in this claim.
    metadata_delivered: bool,
    /// How many read-backs in a row found the session of another integration.
    foreign_sessions: u32,
    /// The pane has been read before its tokens are cleared, or it cannot be read.
    pub(super) done_before_clearing: bool,
}

impl ReadBacks {
    pub(super) fn schedule(&mut self, at: Duration) {
        self.due.get_or_insert(at);
    }
}

impl PaneMachine {
    /// Schedules a read-back if a new state was delivered.
    pub(super) fn state_delivered(&mut self, now: Duration, before: &OnServer<StateRecord>) {
        let same = matches!((before, &self.state.on_server),
            (OnServer::Known(before), OnServer::Known(after)) if before.state == after.state);
        let first = !std::mem::replace(&mut self.read_backs.state_delivered, true);
        if (self.claim.config.verify && (first || !same))
            || self.state.escalation > Escalation::None
        {
            self.read_backs.schedule(now);
        }
        self.read_backs.last = Some(now);
    }

    /// Schedules a read-back for the first metadata of a claim: its sequence mark is not the
    /// state's, so the read-back of the state says nothing about it.
    pub(super) fn metadata_delivered(&mut self, now: Duration, escalation: Escalation) {
        let first = !std::mem::replace(&mut self.read_backs.metadata_delivered, true);
        if (first && self.claim.config.verify && self.one_shot.is_none())
            || escalation > Escalation::None
        {
            self.read_backs.schedule(now);
        }
    }

    pub(super) fn pane_read(&mut self, now: Duration, pane: &PaneInfo) {
        self.read_backs.due = None;
        self.current_pane_id = Some(pane.pane_id.clone());
        self.detected.session_stored = pane.agent_session.is_some();
        match &self.one_shot {
            Some(OneShotStage::ReadFirst) => return self.begin_one_shot(pane),
            Some(OneShotStage::ClearingLabels(before)) => {
                let before = before.clone();
                return self.restore_labels(before, pane);
            }
            Some(OneShotStage::Releasing) => return self.judge_release(now, pane),
            _ => {}
        }
        if !self.wants_pane || self.ending.is_some() {
            self.read_backs.done_before_clearing = true;
            self.drop_foreign_tokens(pane);
            self.clear_noted_tokens(pane);
            return;
        }
        let row_is_ours = if self.reports_state() {
            match self.judge_state(now, pane) {
                Some(row_is_ours) => row_is_ours,
                None => return,
            }
        } else {
            self.check_herdrs_agent(now, pane);
            let herdrs = self.state_left_to();
            herdrs.is_some_and(|agent| pane.agent.as_deref() == Some(agent.as_str()))
        };
        if row_is_ours
            || !self.reports_state()
            || matches!(self.state.on_server, OnServer::Known(_))
        {
            self.judge_metadata(now, pane, row_is_ours);
        }
        if (row_is_ours || !self.reports_state()) && self.one_shot.is_none() {
            self.clear_leavings(pane);
        }
    }

    /// Judges the state and acts on it. Returns whether the row is ours, or `None` if that is not
    /// known.
    fn judge_state(&mut self, now: Duration, pane: &PaneInfo) -> Option<bool> {
        if self.state.has_yielded() && self.state.yielded_to.is_some() && pane.agent.is_none() {
            // The agent to which the row was left is gone.
            self.state.reset_conflicts();
            self.state.mark_unknown();
            self.read_backs.schedule(now);
            return None;
        }
        let OnServer::Known(record) = self.state.on_server.clone() else { return None };
        let verdict = judge::state(pane, &self.claim.source, &self.claim.agent, &record);
        if self.state_stop == Some(StopReason::ForeignSession)
            && !matches!(verdict.1, Some(Reason::ForeignSession(_)))
        {
            self.state_stop = None;
            self.read_backs = ReadBacks::default();
            self.state.mark_unknown();
            return None;
        }
        let just_sent = self.state.awaits_read_back;
        match &verdict {
            (Outcome::Applied, _) => {
                self.state.confirmed();
                self.read_backs.foreign_sessions = 0;
                self.raised_diagnostics.remove(&DiagnosticKind::Ignored);
                self.receipts.judged(Part::State, verdict);
                return Some(true);
            }
            (_, Some(Reason::ForeignSession(_))) => self.foreign_session(now, verdict),
            (_, Some(Reason::ScreenPrompt)) | (Outcome::Unverified, _) => {
                self.receipts.judged(Part::State, verdict);
            }
            _ if self.state_stop == Some(StopReason::Superseded) => {
                self.receipts.give_up(Part::State);
            }
            _ if self.state_stop.is_some() || self.state.has_yielded() && !just_sent => {}
            _ if self.state.try_resend(now) => self.read_backs.schedule(now),
            _ => self.stop_resending(just_sent, verdict, pane),
        }
        Some(false)
    }

    /// The session of another integration hides every state of ours (failure B36). After a second
    /// read-back has confirmed it, title and tokens go on alone.
    fn foreign_session(&mut self, now: Duration, verdict: Verdict) {
        self.read_backs.foreign_sessions += 1;
        if self.read_backs.foreign_sessions < 2 {
            self.state.mark_unknown();
            self.read_backs.schedule(now);
            return;
        }
        if let (_, Some(reason)) = &verdict {
            let detail = format!("{reason}: the state cannot show; title and tokens go on");
            self.raise_once(DiagnosticKind::Ignored, Subject::Pane, detail);
        }
        self.state_stop = Some(StopReason::ForeignSession);
        self.receipts.judged(Part::State, verdict);
    }

    /// Sending the state again does not help. Either another writer has the row, which is left to
    /// it, or no number of ours gets above the sequence mark.
    fn stop_resending(&mut self, just_sent: bool, verdict: Verdict, pane: &PaneInfo) {
        let detail = match &verdict {
            (_, Some(reason)) if just_sent => format!("{reason}; {}", reason.remedy()),
            _ => "another reporter keeps taking the pane; from now on only own changes are \
                  reported"
                .to_owned(),
        };
        self.raise_once(DiagnosticKind::Ignored, Subject::Pane, detail);
        let other = pane.agent.clone().filter(|shown| shown != self.claim.agent.as_str());
        if just_sent && other.is_none() && !self.claim.agent.is_known() {
            self.state_stop = Some(StopReason::StaleSequence);
        } else {
            self.state.yield_to(other);
        }
        self.receipts.judged(Part::State, verdict);
    }

    fn judge_metadata(&mut self, now: Duration, pane: &PaneInfo, row_is_ours: bool) {
        let repairs = !self.state.has_yielded() && self.one_shot.is_none();
        if let OnServer::Known(record) = &self.presentation.on_server {
            let verdict = judge::presentation(pane, &record.presentation, row_is_ours);
            let lost = verdict.0 == Outcome::Ignored;
            match self.presentation.check(!lost, repairs, now) {
                Check::Resent => self.read_backs.schedule(now),
                _ => self.receipts.judged(Part::Presentation, verdict),
            }
        }
        let (mut differ, mut resent) = (false, false);
        for (key, slot) in &mut self.tokens.slots {
            let OnServer::Known(text) = &slot.on_server else { continue };
            match slot.check(judge::shows_token(pane, key, text), repairs, now) {
                Check::Shown => {}
                Check::Resent => resent = true,
                Check::Differs => differ = true,
            }
        }
        if resent {
            self.read_backs.schedule(now);
        } else {
            let differs = judge::ignored(Reason::OtherWriter);
            self.receipts.judged(Part::Tokens, if differ { differs } else { judge::APPLIED });
        }
    }

    /// Clears what an earlier run of this source left when it was killed; this happens once. Tokens
    /// have no owner. Derived tokens describe the agent of this row, and the row is ours now. Other
    /// tokens belong to the earlier run if it has noted them and they still show the noted text.
    fn clear_leavings(&mut self, pane: &PaneInfo) {
        if self.leavings_cleared || self.presentation.needs_update() {
            return;
        }
        let titled = pane.title.is_some() || pane.display_agent.is_some();
        let ours = self.presentation.wanted.as_ref().map(|record| &record.presentation.labels);
        let is_ours = |state: &str| ours.is_some_and(|it| it.keys().any(|it| it.as_str() == state));
        let labels = !pane.state_labels.keys().all(|state| is_ours(state));
        if (titled || labels) && self.presentation.wanted.is_none() {
            self.presentation.on_server = OnServer::Unknown;
        }
        if labels {
            self.reason.on_server = OnServer::Unknown;
        }
        self.mark_for_clearing(derived_tokens(pane).collect());
        self.clear_noted_tokens(pane);
    }

    fn clear_noted_tokens(&mut self, pane: &PaneInfo) {
        if !std::mem::replace(&mut self.leavings_cleared, true) {
            self.mark_for_clearing(self.leavings.tokens_on(pane).cloned().collect());
        }
    }

    fn mark_for_clearing(&mut self, keys: Vec<TokenKey>) {
        for key in keys {
            let slot = self.tokens.slots.entry(key).or_default();
            if slot.wanted.is_none() && !slot.may_be_on_server() {
                slot.on_server = OnServer::Unknown;
            }
        }
    }

    /// Forgets the tokens that show another text, or none: they are not ours to clear. A token
    /// whose report got no answer may show in a moment, so it is still cleared.
    fn drop_foreign_tokens(&mut self, pane: &PaneInfo) {
        for (key, slot) in &mut self.tokens.slots {
            if let OnServer::Known(text) = &slot.on_server
                && !judge::shows_token(pane, key, text)
            {
                slot.on_server = OnServer::Absent;
            }
        }
    }

    /// Judges the pane after the release of a one-shot.
    fn judge_release(&mut self, now: Duration, pane: &PaneInfo) {
        let ours = pane.agent.as_deref() == Some(self.claim.agent.as_str());
        // A row of a known agent may be one that Herdr detects by itself.
        if ours && self.state.awaits_read_back && !self.claim.agent.is_known() {
            self.state.on_server = OnServer::Unknown;
            if self.state.try_resend(now) {
                return;
            }
            let reason = Reason::StaleSequence;
            let detail = format!("{reason}; {}", reason.remedy());
            self.raise_once(DiagnosticKind::Ignored, Subject::Pane, detail);
            self.receipts.note(Receipt::new(Outcome::Ignored, Part::Release).because(reason));
        }
        self.state = Slot::default();
        self.report_one_shot(pane);
    }
}
