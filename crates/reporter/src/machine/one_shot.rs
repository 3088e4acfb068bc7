//! One-shots. What their events say is added to what the pane shows, since no process remembers
//! what was reported before.

use herdr_proto::{
    AgentLabel, AgentStatus, PaneInfo, PresentationText, ReportState, StateKey, StateLabels,
    TokenKey,
};

use super::one_shot_events::{OneShotEvents, StateChange};
use super::slot::{OnServer, PresentationRecord, StateRecord};
use super::{PaneMachine, StopReason, Subject};
use crate::activity::{Presentation, Session, Snapshot};
use crate::config::{Config, Privacy, Source};
use crate::diagnostic::DiagnosticKind;
use crate::receipt::{Outcome, Part, Reason, Receipt};

/// The tokens on a pane that are derived from events, not set by the host. A release clears them.
pub(super) fn derived_tokens(pane: &PaneInfo) -> impl Iterator<Item = TokenKey> {
    let shown =
        pane.tokens.keys().filter(|key| ["model", "ctx", "session"].contains(&key.as_str()));
    shown.filter_map(|key| TokenKey::parse(key.as_str()).ok())
}

#[derive(Debug)]
pub(super) enum OneShotStage {
    /// The pane has to be read first.
    ReadFirst,
    /// The row is released; what else the events say is reported after that.
    Releasing,
    /// The labels that go with the state are cleared, so that the next read-back shows which labels
    /// were set in another way. Holds all labels that the pane showed before.
    ClearingLabels(StateLabels),
    /// The slots hold everything that the events say.
    Reporting,
}

impl PaneMachine {
    pub(super) fn must_read_first(&self) -> bool {
        matches!(self.one_shot, Some(OneShotStage::ReadFirst))
    }

    pub(super) fn begin_one_shot(&mut self, pane: &PaneInfo) {
        let Some(once) = &self.claim.once else { return };
        let events = OneShotEvents::of(once);
        if events.release && self.state_stop.is_none() {
            self.one_shot = Some(OneShotStage::Releasing);
            self.begin_release(pane);
        } else if events.clears_a_label(pane) {
            self.one_shot = Some(OneShotStage::ClearingLabels(labels_of(pane)));
            self.reason.on_server = OnServer::Unknown;
        } else {
            self.report_one_shot(pane);
        }
    }

    /// The pane was read without the labels that go with its state. The labels that are missing now
    /// are set again.
    pub(super) fn restore_labels(&mut self, before: StateLabels, pane: &PaneInfo) {
        let others = labels_of(pane);
        let mut reason = before;
        reason.retain(|state, text| others.get(state) != Some(text));
        self.reason.wanted = (!reason.is_empty()).then_some(reason);
        self.report_one_shot(pane);
    }

    /// The server refuses to let the pane be read. The row is assumed to be ours.
    pub(super) fn begin_one_shot_unread(&mut self) {
        let (pane, agent) = (&self.claim.pane, self.claim.agent.as_str());
        let pane = serde_json::json!({"pane_id": pane, "agent": agent});
        if let Ok(pane) = serde_json::from_value(pane) {
            self.begin_one_shot(&pane);
        }
    }

    fn begin_release(&mut self, pane: &PaneInfo) {
        self.wants_pane = false;
        if !self.leaves_state_to_herdr() {
            self.release_row(pane);
        }
        if self.claim.once.as_ref().is_some_and(|once| once.only_the_row) {
            return;
        }
        self.presentation.on_server = OnServer::Unknown;
        self.reason.on_server = OnServer::Unknown;
        for key in derived_tokens(pane).chain(self.leavings.tokens_on(pane).cloned()) {
            self.tokens.slots.entry(key).or_default().on_server = OnServer::Unknown;
        }
    }

    fn release_row(&mut self, pane: &PaneInfo) {
        match pane.agent.as_deref() {
            Some(shown) if shown == self.claim.agent.as_str() => {
                self.state.on_server = OnServer::Unknown;
            }
            // The server answers `ok` even to a release of another source's row (protocol §5.4 C2,
            // C3).
            Some(shown) => {
                let detail = format!(
                    "nothing is released: the pane shows {}, and no row of ours; to release \
                     that row, name it with --agent",
                    super::io::shown(shown)
                );
                self.raise_once(DiagnosticKind::Ignored, Subject::Pane, detail);
                let receipt = Receipt::new(Outcome::Ignored, Part::Release);
                self.receipts.note(receipt.because(Reason::OtherWriter));
            }
            None => {}
        }
    }

    /// Whether this one-shot leaves the state to the row of a detected agent, even if the pane does
    /// not show that agent yet.
    pub(super) fn leaves_state_to_herdr(&self) -> bool {
        self.one_shot.is_some() && self.claim.config.leave_state
    }

    pub(super) fn report_one_shot(&mut self, pane: &PaneInfo) {
        let Some(once) = &self.claim.once else { return };
        let (events, config) = (OneShotEvents::of(once), self.claim.config.clone());
        self.one_shot = Some(OneShotStage::Reporting);
        self.wants_pane = true;
        let snapshot = events.snapshot(&config);
        let shown = pane.agent.as_deref().and_then(AgentLabel::normalize);
        let left_to_herdr = self.leaves_state_to_herdr();
        let of_our_agent = shown.as_ref() == Some(&self.claim.agent);
        let ours = of_our_agent && !left_to_herdr;
        let detected_agent = if left_to_herdr {
            Some(self.claim.agent.clone())
        } else {
            shown.filter(|shown| !self.claim.config.own_label && shown.is_known() && !ours)
        };
        // Herdr may show already that the agent goes on, while our reason for a block is still
        // there.
        let status = if left_to_herdr { &AgentStatus::BLOCKED } else { &pane.agent_status };
        let state = events.state((ours || left_to_herdr).then_some(status), snapshot.as_ref());
        if let Some(state) = state {
            let explicit = events.state == StateChange::Explicit;
            let reason = snapshot.as_ref().filter(|_| explicit).and_then(|it| it.reason.clone());
            let session = snapshot.as_ref().and_then(|it| it.session.clone());
            self.session = session
                .map(|session| Session { path: None, resume_argv: None, ..session })
                .filter(|session| session.id.is_some());
            // A new session does not change the reason.
            if events.state != StateChange::IdleIfNone || !ours {
                let others =
                    if self.shows_leavings() { StateLabels::new() } else { labels_of(pane) };
                let labels = labels_with_state(&others, state, snapshot.as_ref());
                self.reason.wanted = (!labels.is_empty()).then_some(labels);
                // A shown label may be the reason of an earlier state. So may a label that is
                // hidden until Herdr shows our agent.
                let hidden = left_to_herdr && !of_our_agent;
                let clean = self.reason.wanted.is_none() && pane.state_labels.is_empty() && !hidden;
                self.reason.on_server = if clean { OnServer::Absent } else { OnServer::Unknown };
            }
            if self.state_stop.is_some() {
                self.receipts.note(Receipt::new(Outcome::Superseded, Part::State));
                self.reason.wanted = None;
                self.reason.on_server = OnServer::Absent;
            } else if detected_agent.is_none() {
                self.state.wanted = Some(StateRecord { state, reason, resend: 0 });
                self.receipts.offer(Part::State, true);
            }
        }
        if detected_agent.is_some() {
            self.leave_state_to(detected_agent);
        }
        self.edit_presentation(&events, pane, &config);
        self.edit_tokens(&events, pane, &config, snapshot.as_ref());
    }

    /// Whether the title and labels on the pane are those of an earlier run that was killed.
    fn shows_leavings(&self) -> bool {
        self.leavings.presented_by.as_ref() == Some(&self.claim.source)
    }

    fn edit_presentation(&mut self, events: &OneShotEvents, pane: &PaneInfo, config: &Config) {
        let shown = Presentation {
            title: pane.title.as_deref().and_then(PresentationText::normalize),
            display_agent: None,
            labels: labels_of(pane),
        };
        let (mut on_server, mut wanted) = (shown.clone(), shown.clone());
        if self.shows_leavings() {
            wanted = Presentation::default();
        }
        if events.titled && config.title != Source::None && config.privacy != Privacy::Fixed {
            wanted.title.clone_from(&events.title);
            if events.title.is_some() && !self.leaves_state_to_herdr() {
                // Another source may have set the same title, or its ttl may end soon.
                on_server.title = None;
            }
        }
        if config.privacy != Privacy::Fixed {
            for (state, text) in &events.labels {
                // A label that the host clears gives way to the configured one.
                let configured = || PresentationText::normalize(config.state_labels.get(state)?);
                let text = text.clone().or_else(configured);
                // Herdr shows idle as done until a person has looked at the pane, so the label of
                // idle is the label of done if that has none of its own.
                let own_done = shown.labels.get(&StateKey::Done);
                let own_done = own_done.is_some_and(|done| shown.labels.get(state) != Some(done));
                let done = *state == StateKey::Idle
                    && !own_done
                    && !events.labels.contains_key(&StateKey::Done);
                for state in [Some(*state), done.then_some(StateKey::Done)].into_iter().flatten() {
                    if let Some(text) = &text {
                        on_server.labels.remove(&state);
                        wanted.labels.insert(state, text.clone());
                    } else {
                        wanted.labels.remove(&state);
                    }
                }
            }
            if events.labels.get(&StateKey::Done) == Some(&None)
                && let Some(idle) = wanted.labels.get(&StateKey::Idle).cloned()
            {
                wanted.labels.entry(StateKey::Done).or_insert(idle);
            }
        }
        if wanted == shown && on_server == shown {
            return;
        }
        let record = |presentation| PresentationRecord { presentation, ..Default::default() };
        self.presentation.on_server = OnServer::Known(record(on_server));
        self.presentation.wanted = Some(record(wanted));
        self.receipts.offer(Part::Presentation, self.presentation.needs_update());
    }

    fn edit_tokens(
        &mut self,
        events: &OneShotEvents,
        pane: &PaneInfo,
        config: &Config,
        snapshot: Option<&Snapshot>,
    ) {
        if config.tokens == Source::None {
            return;
        }
        let mut tokens = events.tokens.clone();
        if config.privacy == Privacy::Fixed {
            tokens.clear();
        }
        let derived = snapshot.map(|snapshot| snapshot.tokens.clone()).unwrap_or_default();
        tokens.extend(derived.into_iter().map(|(key, text)| (key, Some(text))));
        let left_to_herdr = self.leaves_state_to_herdr();
        if left_to_herdr && events.session_begins {
            // The tokens are an earlier session's: they stay on the pane when an agent ends.
            for key in derived_tokens(pane) {
                tokens.entry(key).or_insert(None);
            }
        }
        for (key, text) in tokens {
            let shown = pane.tokens.get(key.as_str());
            if shown.is_some() || text.is_some() {
                let slot = self.tokens.slots.entry(key).or_default();
                slot.on_server = match (shown, &text) {
                    (None, _) => OnServer::Absent,
                    // A status line is drawn often, so a token that shows already is not sent
                    // again.
                    (Some(shown), Some(text)) if left_to_herdr && shown == text.as_str() => {
                        OnServer::Known(text.clone())
                    }
                    (Some(_), _) => OnServer::Unknown,
                };
                slot.wanted = text;
            }
        }
        for key in self.leavings.tokens_on(pane) {
            let slot = self.tokens.slots.entry(key.clone()).or_default();
            if slot.wanted.is_none() {
                slot.on_server = OnServer::Unknown;
            }
        }
        if self.tokens.needs_update() {
            self.receipts.offer(Part::Tokens, true);
        }
    }

    /// The next edit of title and labels, as what the server has after it. No edit takes a single
    /// label off, so all labels are cleared and the wanted ones set again.
    pub(super) fn next_edit(&self) -> Option<PresentationRecord> {
        let mut next = self.presentation.wanted.clone()?;
        if let OnServer::Known(known) = &self.presentation.on_server {
            let labels = &next.presentation.labels;
            if known.presentation.labels.keys().any(|state| !labels.contains_key(state)) {
                next.presentation.labels.clear();
            }
        }
        Some(next)
    }

    /// A one-shot that was started later has reported, so this one's state is out of date.
    pub(super) fn superseded(&mut self) {
        if self.one_shot.is_some() && self.state_stop.is_none() {
            self.state_stop = Some(StopReason::Superseded);
            self.read_backs.due = None;
            self.reason.wanted = None;
            self.reason.on_server = OnServer::Absent;
            self.receipts.give_up(Part::State);
        }
    }
}

/// The labels that go with a state: its reason, and the configured ones for states that have no
/// other label.
fn labels_with_state(
    others: &StateLabels,
    state: ReportState,
    snapshot: Option<&Snapshot>,
) -> StateLabels {
    let Some(snapshot) = snapshot else { return StateLabels::new() };
    let key = StateKey::from(state);
    let mut labels = snapshot.presentation.labels.clone();
    labels.retain(|state, text| {
        let shown = others.get(state);
        // Whether the reason is the label has been decided by the settings already.
        let ends_with = |reason: &PresentationText| text.as_str().ends_with(reason.as_str());
        let is_reason = *state == key && snapshot.reason.as_ref().is_some_and(ends_with);
        is_reason || shown.is_none_or(|shown| shown == text)
    });
    labels
}

fn labels_of(pane: &PaneInfo) -> StateLabels {
    let text = |key: StateKey| PresentationText::normalize(pane.state_labels.get(key.as_str())?);
    StateKey::ALL.into_iter().filter_map(|key| Some((key, text(key)?))).collect()
}
