//! What a few events say together, where nobody remembers what came before.

use std::collections::BTreeMap;

use herdr_proto::{AgentStatus, PaneInfo, PresentationText, ReportState, StateKey, TokenKey};

use super::OneShot;
use crate::activity::{Activity, Snapshot};
use crate::config::Config;
use crate::event::AgentEvent;

#[derive(Debug, Default)]
pub(super) struct Said {
    activity: Activity,
    pub(super) state: SaidState,
    pub(super) titled: bool,
    pub(super) title: Option<PresentationText>,
    pub(super) labels: BTreeMap<StateKey, Option<PresentationText>>,
    pub(super) tokens: BTreeMap<TokenKey, Option<PresentationText>>,
    /// The row is given back first.
    pub(super) release: bool,
    pub(super) session_begins: bool,
}

/// Which state is to be shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum SaidState {
    /// The one that is shown.
    #[default]
    Same,
    /// The one that is shown if it is ours; else idle.
    AtLeastIdle,
    /// Working, if our block is shown.
    NotBlocked,
    Said,
}

impl Said {
    pub(super) fn of(once: &OneShot) -> Self {
        let mut said = Self::default();
        for event in &once.events {
            said.note(event);
            if !matches!(event, AgentEvent::LabelsChanged { .. }) {
                // What of it does not fit was told by whoever read it.
                let _ = said.activity.apply(event.clone());
            }
        }
        said
    }

    fn note(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Release => *self = Self { release: true, ..Self::default() },
            AgentEvent::SessionStarted(session) if session.agent_id.is_main() => {
                self.session_begins = true;
                if let Some(title) = &session.title {
                    self.titled = true;
                    self.title = PresentationText::normalize(title);
                }
                self.at_least(SaidState::AtLeastIdle);
            }
            AgentEvent::SessionEnded { agent_id } | AgentEvent::AgentSettled { agent_id, .. }
                if agent_id.is_main() =>
            {
                self.state = SaidState::Said;
            }
            AgentEvent::PromptClosed { .. } => self.at_least(SaidState::NotBlocked),
            AgentEvent::TitleChanged { title, agent_id, .. } if agent_id.is_main() => {
                self.titled = true;
                self.title = title.as_deref().and_then(PresentationText::normalize);
            }
            AgentEvent::LabelsChanged { labels, .. } => {
                let text = |text: &Option<String>| PresentationText::normalize(text.as_deref()?);
                self.labels.extend(labels.iter().map(|(state, label)| (*state, text(label))));
            }
            AgentEvent::TokensChanged { tokens, .. } => {
                self.tokens.extend(tokens.iter().filter_map(|(key, text)| {
                    let text = text.as_deref().and_then(PresentationText::normalize);
                    Some((TokenKey::parse(key.as_str()).ok()?, text))
                }));
            }
            other if other.is_beginning() => self.state = SaidState::Said,
            _ => {}
        }
    }

    pub(super) fn takes_a_label_off(&self, pane: &PaneInfo) -> bool {
        let mut off = self.labels.iter().filter(|(_, text)| text.is_none());
        off.any(|(state, _)| pane.state_labels.contains_key(state.as_str()))
    }

    fn at_least(&mut self, state: SaidState) {
        if self.state != SaidState::Said {
            self.state = state;
        }
    }

    /// What the events say, also where they say no state.
    pub(super) fn snapshot(&self, config: &Config) -> Option<Snapshot> {
        self.activity.snapshot(config).or_else(|| {
            let mut activity = self.activity.clone();
            let idle = AgentEvent::state_set(ReportState::Idle, None);
            activity.apply(idle).ok()?;
            activity.snapshot(config)
        })
    }

    /// The state to report, on top of what the pane shows of ours.
    pub(super) fn state(
        &self,
        shown: Option<&AgentStatus>,
        snapshot: Option<&Snapshot>,
    ) -> Option<ReportState> {
        let shown = shown.filter(|status| **status != AgentStatus::UNKNOWN);
        let known = [ReportState::Working, ReportState::Blocked, ReportState::Idle];
        let shown =
            shown.and_then(|status| known.into_iter().find(|state| state.status().same_as(status)));
        match self.state {
            SaidState::Same => None,
            SaidState::Said => snapshot.map(|snapshot| snapshot.state),
            SaidState::AtLeastIdle => Some(shown.unwrap_or(ReportState::Idle)),
            SaidState::NotBlocked => {
                (shown == Some(ReportState::Blocked)).then_some(ReportState::Working)
            }
        }
    }
}
