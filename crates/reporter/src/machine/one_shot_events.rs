//! What the events of a one-shot say together.

use std::collections::BTreeMap;

use herdr_proto::{AgentStatus, PaneInfo, PresentationText, ReportState, StateKey, TokenKey};

use super::OneShot;
use crate::activity::{Activity, Snapshot};
use crate::config::Config;
use crate::event::AgentEvent;

#[derive(Debug, Default)]
pub(super) struct OneShotEvents {
    activity: Activity,
    pub(super) state: StateChange,
    /// The events set or clear the title.
    pub(super) titled: bool,
    pub(super) title: Option<PresentationText>,
    /// `None` clears the label.
    pub(super) labels: BTreeMap<StateKey, Option<PresentationText>>,
    /// `None` clears the token.
    pub(super) tokens: BTreeMap<TokenKey, Option<PresentationText>>,
    /// The row is released before anything else is reported.
    pub(super) release: bool,
    pub(super) session_begins: bool,
}

/// What the events do to the state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum StateChange {
    #[default]
    None,
    /// Idle, unless our row shows a state already.
    IdleIfNone,
    /// Working, if our row shows blocked.
    Unblock,
    /// The state that the events lead to by themselves.
    Explicit,
}

impl OneShotEvents {
    pub(super) fn of(once: &OneShot) -> Self {
        let mut events = Self::default();
        for event in &once.events {
            events.note(event);
            if !matches!(event, AgentEvent::LabelsChanged { .. }) {
                // What does not fit was already reported when the event was read.
                let _ = events.activity.apply(event.clone());
            }
        }
        events
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
                self.unless_explicit(StateChange::IdleIfNone);
            }
            AgentEvent::SessionEnded { agent_id } | AgentEvent::AgentSettled { agent_id, .. }
                if agent_id.is_main() =>
            {
                self.state = StateChange::Explicit;
            }
            AgentEvent::PromptClosed { .. } => self.unless_explicit(StateChange::Unblock),
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
            other if other.is_beginning() => self.state = StateChange::Explicit,
            _ => {}
        }
    }

    /// Whether the events clear a label that the pane shows.
    pub(super) fn clears_a_label(&self, pane: &PaneInfo) -> bool {
        let mut cleared = self.labels.iter().filter(|(_, text)| text.is_none());
        cleared.any(|(state, _)| pane.state_labels.contains_key(state.as_str()))
    }

    fn unless_explicit(&mut self, state: StateChange) {
        if self.state != StateChange::Explicit {
            self.state = state;
        }
    }

    /// What the events lead to; idle if they say no state.
    pub(super) fn snapshot(&self, config: &Config) -> Option<Snapshot> {
        self.activity.snapshot(config).or_else(|| {
            let mut activity = self.activity.clone();
            let idle = AgentEvent::state_set(ReportState::Idle, None);
            activity.apply(idle).ok()?;
            activity.snapshot(config)
        })
    }

    /// The state to report. `shown` is what our row shows, `None` if the row is not ours.
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
            StateChange::None => None,
            StateChange::Explicit => snapshot.map(|snapshot| snapshot.state),
            StateChange::IdleIfNone => Some(shown.unwrap_or(ReportState::Idle)),
            StateChange::Unblock => {
                (shown == Some(ReportState::Blocked)).then_some(ReportState::Working)
            }
        }
    }
}
