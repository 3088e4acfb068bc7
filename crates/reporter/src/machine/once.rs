//! What a few events say where nobody remembers what came before: it is put on
//! top of what the pane shows.

use herdr_proto::{
    AgentLabel, AgentStatus, PaneInfo, PresentationText, ReportState, StateKey, StateLabels,
    TokenKey,
};

use super::said::{Said, SaidState};
use super::slot::{Has, PresentationRecord, StateRecord};
use super::{About, Claim, PaneMachine, Stop};
use crate::activity::{Presentation, Session, Snapshot};
use crate::config::{Config, Privacy, Source};
use crate::diagnostic::DiagnosticKind;
use crate::receipt::{Outcome, Part, Reason, Receipt};

/// The tokens on a pane that events make, so that a release takes them off.
pub(super) fn made_tokens(pane: &PaneInfo) -> impl Iterator<Item = TokenKey> {
    let shown =
        pane.tokens.keys().filter(|key| ["model", "ctx", "session"].contains(&key.as_str()));
    shown.filter_map(|key| TokenKey::parse(key.as_str()).ok())
}

#[derive(Debug)]
pub(super) enum Once {
    /// The pane has to be read first.
    Unread,
    /// The row is given back first.
    Releasing,
    /// The labels of the state are taken off, so that the others can be told
    /// from them. These were all.
    Parting(StateLabels),
    /// All that is to be said is in the slots.
    Saying,
}

impl Once {
    pub(super) fn new(claim: &Claim) -> Option<Self> {
        claim.once.is_some().then_some(Self::Unread)
    }
}

impl PaneMachine {
    /// The pane has to be read before anything is sent.
    pub(super) fn must_read_first(&self) -> bool {
        matches!(self.once, Some(Once::Unread))
    }

    pub(super) fn begin_once(&mut self, pane: &PaneInfo) {
        let Some(once) = &self.claim.once else { return };
        let said = Said::of(once);
        if said.release && self.stop.is_none() {
            self.once = Some(Once::Releasing);
            self.release_once(pane);
        } else if said.takes_a_label_off(pane) {
            self.once = Some(Once::Parting(labels_of(pane)));
            self.reason.has = Has::Unsure;
        } else {
            self.say_once(pane);
        }
    }

    /// The pane without the labels of its state, which come back.
    pub(super) fn say_after_parting(&mut self, all: StateLabels, pane: &PaneInfo) {
        let others = labels_of(pane);
        let mut reason = all;
        reason.retain(|state, text| others.get(state) != Some(text));
        self.reason.wanted = (!reason.is_empty()).then_some(reason);
        self.say_once(pane);
    }

    /// The server does not let the pane be read, so the row may be ours.
    pub(super) fn begin_once_blindly(&mut self) {
        let (pane, agent) = (&self.claim.pane, self.claim.agent.as_str());
        let pane = serde_json::json!({"pane_id": pane, "agent": agent});
        if let Ok(pane) = serde_json::from_value(pane) {
            self.begin_once(&pane);
        }
    }

    fn release_once(&mut self, pane: &PaneInfo) {
        self.wants = false;
        if !self.is_beside() {
            self.release_row(pane);
        }
        if self.claim.once.as_ref().is_some_and(|once| once.only_the_row) {
            return;
        }
        self.presentation.has = Has::Unsure;
        self.reason.has = Has::Unsure;
        for key in made_tokens(pane).chain(self.left.tokens_on(pane).cloned()) {
            self.tokens.slots.entry(key).or_default().has = Has::Unsure;
        }
    }

    fn release_row(&mut self, pane: &PaneInfo) {
        match pane.agent.as_deref() {
            Some(shown) if shown == self.claim.agent.as_str() => self.state.has = Has::Unsure,
            // Herdr says ok to a release of a row that somebody else has (C2, C3).
            Some(shown) => {
                let detail = format!(
                    "nothing is given back: the pane shows {}, and no row of ours; if that row \
                     is meant, name it with --agent",
                    super::io::shown(shown)
                );
                self.raise(DiagnosticKind::Ignored, About::Pane, detail);
                let receipt = Receipt::new(Outcome::Ignored, Part::Release);
                self.receipts.note(receipt.because(Reason::OtherWriter));
            }
            None => {}
        }
    }

    /// Whether the row is Herdr's whatever the pane shows yet.
    pub(super) fn is_beside(&self) -> bool {
        self.once.is_some() && self.claim.config.leave_state
    }

    pub(super) fn say_once(&mut self, pane: &PaneInfo) {
        let Some(once) = &self.claim.once else { return };
        let (said, config) = (Said::of(once), self.claim.config.clone());
        self.once = Some(Once::Saying);
        self.wants = true;
        let snapshot = said.snapshot(&config);
        let shown = pane.agent.as_deref().and_then(AgentLabel::normalize);
        let beside = self.is_beside();
        let of_our_agent = shown.as_ref() == Some(&self.claim.agent);
        let ours = of_our_agent && !beside;
        let others =
            shown.filter(|shown| !self.claim.config.own_label && shown.is_known() && !ours);
        let herdrs = if beside { Some(self.claim.agent.clone()) } else { others };
        // Herdr may have seen already that its agent goes on.
        let status = if beside { &AgentStatus::BLOCKED } else { &pane.agent_status };
        let state = said.state((ours || beside).then_some(status), snapshot.as_ref());
        if let Some(state) = state {
            let fresh = said.state == SaidState::Said;
            let reason = snapshot.as_ref().filter(|_| fresh).and_then(|it| it.reason.clone());
            let session = snapshot.as_ref().and_then(|it| it.session.clone());
            self.session = session
                .map(|session| Session { path: None, resume_argv: None, ..session })
                .filter(|session| session.id.is_some());
            // A session that begins leaves the reason as it is.
            if said.state != SaidState::AtLeastIdle || !ours {
                let others =
                    if self.shows_leavings() { StateLabels::new() } else { labels_of(pane) };
                let labels = accompanying(&others, state, snapshot.as_ref());
                self.reason.wanted = (!labels.is_empty()).then_some(labels);
                // What is shown may be a reason that is over; so may one that is
                // hidden until Herdr shows our agent.
                let hidden = beside && !of_our_agent;
                let clean = self.reason.wanted.is_none() && pane.state_labels.is_empty() && !hidden;
                self.reason.has = if clean { Has::Absent } else { Has::Unsure };
            }
            if self.stop.is_some() {
                self.receipts.note(Receipt::new(Outcome::Superseded, Part::State));
                self.reason.wanted = None;
                self.reason.has = Has::Absent;
            } else if herdrs.is_none() {
                self.state.wanted = Some(StateRecord { state, reason, resend: 0 });
                self.receipts.offer(Part::State, true);
            }
        }
        if herdrs.is_some() {
            // The state is Herdr's; the reason shows under it.
            self.leave_state_to(herdrs);
        }
        self.edit_presentation(&said, pane, &config);
        self.edit_tokens(&said, pane, &config, snapshot.as_ref());
    }

    /// Title and labels are those of a run that was killed.
    fn shows_leavings(&self) -> bool {
        self.left.presented_by.as_ref() == Some(&self.claim.source)
    }

    fn edit_presentation(&mut self, said: &Said, pane: &PaneInfo, config: &Config) {
        let mut has = Presentation {
            title: pane.title.as_deref().and_then(PresentationText::normalize),
            display_agent: None,
            labels: labels_of(pane),
        };
        let before = has.clone();
        let mut wanted = if self.shows_leavings() { Presentation::default() } else { has.clone() };
        if said.titled && shows_title(config) {
            wanted.title.clone_from(&said.title);
            if said.title.is_some() && !self.is_beside() {
                // It may be somebody else's, or about to go by its ttl.
                has.title = None;
            }
        }
        if config.privacy != Privacy::Fixed {
            for (state, text) in &said.labels {
                // Where the host takes one off, the configured one is back.
                let configured = || PresentationText::normalize(config.state_labels.get(state)?);
                let text = text.clone().or_else(configured);
                // Idle is called done until somebody has seen it.
                let own_done = before.labels.get(&StateKey::Done);
                let own_done = own_done.is_some_and(|done| before.labels.get(state) != Some(done));
                let done = *state == StateKey::Idle
                    && !own_done
                    && !said.labels.contains_key(&StateKey::Done);
                for state in [Some(*state), done.then_some(StateKey::Done)].into_iter().flatten() {
                    if let Some(text) = &text {
                        has.labels.remove(&state);
                        wanted.labels.insert(state, text.clone());
                    } else {
                        wanted.labels.remove(&state);
                    }
                }
            }
            if said.labels.get(&StateKey::Done) == Some(&None)
                && let Some(idle) = wanted.labels.get(&StateKey::Idle).cloned()
            {
                wanted.labels.entry(StateKey::Done).or_insert(idle);
            }
        }
        if wanted == before && has == before {
            return;
        }
        let record = |presentation| PresentationRecord { presentation, ..Default::default() };
        self.presentation.has = Has::Known(record(has));
        self.presentation.wanted = Some(record(wanted));
        let lacks = self.presentation.lacks();
        self.receipts.offer(Part::Presentation, lacks);
    }

    fn edit_tokens(
        &mut self,
        said: &Said,
        pane: &PaneInfo,
        config: &Config,
        snapshot: Option<&Snapshot>,
    ) {
        if config.tokens == Source::None {
            return;
        }
        let mut tokens = said.tokens.clone();
        if config.privacy == Privacy::Fixed {
            tokens.clear();
        }
        let derived = snapshot.map(|snapshot| snapshot.tokens.clone()).unwrap_or_default();
        tokens.extend(derived.into_iter().map(|(key, text)| (key, Some(text))));
        let beside = self.is_beside();
        if beside && said.session_begins {
            // What shows is another session's: tokens stay when an agent goes.
            for key in made_tokens(pane) {
                tokens.entry(key).or_insert(None);
            }
        }
        for (key, text) in tokens {
            let shows = pane.tokens.get(key.as_str());
            if shows.is_some() || text.is_some() {
                let slot = self.tokens.slots.entry(key).or_default();
                slot.has = match (shows, &text) {
                    (None, _) => Has::Absent,
                    // A status line is drawn often.
                    (Some(shows), Some(text)) if beside && shows == text.as_str() => {
                        Has::Known(text.clone())
                    }
                    (Some(_), _) => Has::Unsure,
                };
                slot.wanted = text;
            }
        }
        for key in self.left.tokens_on(pane) {
            let slot = self.tokens.slots.entry(key.clone()).or_default();
            if slot.wanted.is_none() {
                slot.has = Has::Unsure;
            }
        }
        if self.tokens.lack() {
            self.receipts.offer(Part::Tokens, true);
        }
    }

    /// What is missing of title and labels, and what the server has after it.
    /// There is no edit that takes one label off, so all go and the others come
    /// back.
    pub(super) fn next_edit(&self) -> Option<PresentationRecord> {
        let mut next = self.presentation.wanted.clone()?;
        if let Has::Known(has) = &self.presentation.has {
            let labels = &next.presentation.labels;
            if has.presentation.labels.keys().any(|state| !labels.contains_key(state)) {
                next.presentation.labels.clear();
            }
        }
        Some(next)
    }

    pub(super) fn superseded(&mut self) {
        if self.once.is_some() && self.stop.is_none() {
            self.stop = Some(Stop::Superseded);
            self.looks.due = None;
            self.reason.wanted = None;
            self.reason.has = Has::Absent;
            self.receipts.give_up(Part::State);
        }
    }
}

/// The labels that go with a state: its reason, and the configured ones where
/// nobody has set another.
fn accompanying(
    others: &StateLabels,
    state: ReportState,
    snapshot: Option<&Snapshot>,
) -> StateLabels {
    let Some(snapshot) = snapshot else { return StateLabels::new() };
    let key = StateKey::from(state);
    let mut labels = snapshot.presentation.labels.clone();
    labels.retain(|state, text| {
        let shown = others.get(state);
        // The settings have decided by now whether the reason is the label.
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

fn shows_title(config: &Config) -> bool {
    config.title != Source::None && config.privacy != Privacy::Fixed
}
