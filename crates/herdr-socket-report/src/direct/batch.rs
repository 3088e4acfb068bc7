//! What a few events say where nobody remembers what came before.

use std::collections::{BTreeMap, BTreeSet};

use herdr_proto::{
    AgentStatus, PaneInfo, PresentationText, ReportState, SessionId, StateKey, StateLabels,
    TokenKey,
};
use herdr_reporter::{Activity, AgentEvent, Config, Privacy, ReasonLabel, Snapshot, Source};

use super::state::Said;
use super::{Direct, Guard, Problem};

/// Events that are to be reported at once, and what they say together.
///
/// Ends without a beginning change nothing, as everywhere in the event
/// language; but a prompt that is closed makes a pane that shows our block
/// working again.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    activity: Activity,
    pub(super) state: Wanted,
    pub(super) session: Option<SessionId>,
    pub(super) titled: bool,
    pub(super) title: Option<PresentationText>,
    pub(super) labels: BTreeMap<StateKey, Option<PresentationText>>,
    tokens: BTreeMap<TokenKey, Option<PresentationText>>,
    begun: BTreeSet<String>,
    /// The row is given back first.
    pub(super) release: bool,
    /// What was asked before, if anything was, is over.
    pub(super) rests: bool,
}

/// Which state is to be shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The one that is shown.
    #[default]
    Same,
    /// The one that is shown if it is ours; else idle.
    AtLeastIdle,
    /// Working, if our block is shown.
    NotBlocked,
    /// What the events say.
    Said,
}

impl Batch {
    /// Takes one more event; what of it does not fit is the answer.
    pub(crate) fn add(&mut self, event: AgentEvent) -> Option<String> {
        self.note(&event);
        if matches!(event, AgentEvent::LabelsChanged { .. }) {
            return None;
        }
        self.activity.apply(event).err().map(|refused| refused.to_string())
    }

    /// Reports all of it. The first problem is the answer; what is left is
    /// tried all the same.
    pub(crate) async fn report(&self, to: &Direct, config: &Config) -> Result<(), Problem> {
        let mut outcome = Ok(());
        let mut keep = |part: Result<(), Problem>| {
            if let (Ok(()), Err(problem)) = (&outcome, part) {
                outcome = Err(problem);
            }
        };
        if self.release {
            keep(to.release().await);
        }
        let snapshot = self.snapshot(config);
        keep(self.report_state(to, config, snapshot.as_ref()).await);
        if self.titled && shows_title(config) {
            keep(to.title(self.title.clone(), Guard::None).await);
        }
        if !self.labels.is_empty() && config.privacy != Privacy::Fixed {
            keep(to.labels(&self.labels(config)).await);
        }
        let tokens = self.tokens(config, snapshot.as_ref());
        if !tokens.is_empty() {
            keep(to.tokens(&tokens).await);
        }
        outcome
    }

    fn note(&mut self, event: &AgentEvent) {
        self.rests |= matches!(
            event,
            AgentEvent::SessionStarted(_)
                | AgentEvent::SessionEnded { .. }
                | AgentEvent::AgentSettled { .. }
                | AgentEvent::PromptClosed { .. }
                | AgentEvent::StateSet { .. }
        );
        match event {
            AgentEvent::Release => {
                *self = Self { release: true, ..Self::default() };
            }
            AgentEvent::SessionStarted(session) if session.agent_id.is_main() => {
                self.session = SessionId::parse(session.session_id.as_str()).ok();
                if let Some(title) = &session.title {
                    self.set_title(Some(title));
                }
                self.at_least(Wanted::AtLeastIdle);
            }
            AgentEvent::SessionEnded { agent_id, .. } if agent_id.is_main() => {
                self.state = Wanted::Said;
            }
            AgentEvent::AgentStarted { agent_id, .. } => {
                self.begun.insert(format!("agent {agent_id:?}"));
                self.state = Wanted::Said;
            }
            AgentEvent::AgentSettled { agent_id, .. } => {
                let begun = self.begun.contains(&format!("agent {agent_id:?}"));
                if begun || agent_id.is_main() {
                    self.state = Wanted::Said;
                }
            }
            AgentEvent::PromptOpened { prompt_id, .. } => {
                self.begun.insert(format!("prompt {prompt_id:?}"));
                self.state = Wanted::Said;
            }
            AgentEvent::PromptClosed { prompt_id, .. }
                if !self.begun.contains(&format!("prompt {prompt_id:?}")) =>
            {
                self.at_least(Wanted::NotBlocked);
            }
            AgentEvent::WorkflowSnapshot { ready: true, running, waiting, .. }
                if !running.is_empty() || !waiting.is_empty() =>
            {
                self.state = Wanted::Said;
            }
            AgentEvent::ToolStarted { .. } | AgentEvent::StateSet { .. } => {
                self.state = Wanted::Said;
            }
            AgentEvent::TitleChanged { title, agent_id, .. } if agent_id.is_main() => {
                self.set_title(title.as_deref());
            }
            AgentEvent::LabelsChanged { labels, .. } => {
                self.labels.extend(labels.iter().map(|(state, text)| {
                    (*state, text.as_deref().and_then(PresentationText::normalize))
                }));
            }
            AgentEvent::TokensChanged { tokens, .. } => {
                self.tokens.extend(tokens.iter().filter_map(|(key, text)| {
                    let text = text.as_deref().and_then(PresentationText::normalize);
                    Some((TokenKey::parse(key.as_str()).ok()?, text))
                }));
            }
            _ => {}
        }
    }

    fn set_title(&mut self, title: Option<&str>) {
        self.titled = true;
        self.title = title.and_then(PresentationText::normalize);
    }

    fn at_least(&mut self, wanted: Wanted) {
        if self.state != Wanted::Said {
            self.state = wanted;
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

    async fn report_state(
        &self,
        to: &Direct,
        config: &Config,
        snapshot: Option<&Snapshot>,
    ) -> Result<(), Problem> {
        let state = match self.state {
            Wanted::Same => return Ok(()),
            Wanted::Said => match snapshot {
                Some(snapshot) => snapshot.state,
                None => return Ok(()),
            },
            Wanted::AtLeastIdle => self.shown(to).await?.unwrap_or(ReportState::Idle),
            Wanted::NotBlocked => match self.shown(to).await? {
                Some(ReportState::Blocked) => ReportState::Working,
                _ => return Ok(()),
            },
        };
        let session = self.session.clone().filter(|_| reports_session(config));
        let reason = snapshot.filter(|_| self.state == Wanted::Said);
        let reason = reason.and_then(|snapshot| snapshot.reason.clone());
        let pane = to.state(state, &Said { reason, session }).await?;
        let labels = accompanying(&pane, state, config, snapshot);
        // What is shown may be a reason that is over.
        if labels.is_empty() && pane.state_labels.is_empty() {
            return Ok(());
        }
        to.accompany(labels).await
    }

    /// The state that the pane shows for our agent.
    async fn shown(&self, to: &Direct) -> Result<Option<ReportState>, Problem> {
        let pane = to.look().await?;
        if pane.agent.as_deref() != Some(to.agent.as_str()) {
            return Ok(None);
        }
        let status = &pane.agent_status;
        let known = [ReportState::Working, ReportState::Blocked, ReportState::Idle];
        Ok(known.into_iter().find(|state| state.status().same_as(status)))
            .map(|state| state.filter(|_| *status != AgentStatus::UNKNOWN))
    }

    /// Where the host takes one off, the configured one is back.
    pub(super) fn labels(&self, config: &Config) -> BTreeMap<StateKey, Option<PresentationText>> {
        let configured =
            |state: StateKey| PresentationText::normalize(config.state_labels.get(&state)?);
        let labels = self.labels.iter();
        labels.map(|(state, text)| (*state, text.clone().or_else(|| configured(*state)))).collect()
    }

    pub(super) fn tokens(
        &self,
        config: &Config,
        snapshot: Option<&Snapshot>,
    ) -> BTreeMap<TokenKey, Option<PresentationText>> {
        if config.tokens == Source::None {
            return BTreeMap::new();
        }
        let mut tokens = self.tokens.clone();
        if config.privacy == Privacy::Fixed {
            tokens.clear();
        }
        let derived = snapshot.map(|snapshot| snapshot.tokens.clone()).unwrap_or_default();
        tokens.extend(derived.into_iter().map(|(key, text)| (key, Some(text))));
        tokens
    }
}

/// The labels that go with a state: its reason, and the configured ones where
/// nobody has set another.
fn accompanying(
    pane: &PaneInfo,
    state: ReportState,
    config: &Config,
    snapshot: Option<&Snapshot>,
) -> StateLabels {
    let Some(snapshot) = snapshot else { return StateLabels::new() };
    let of_reason = match config.reason_label {
        ReasonLabel::Off => false,
        ReasonLabel::All => true,
        _ => state == ReportState::Blocked,
    };
    let key = StateKey::from(state);
    let mut labels = snapshot.presentation.labels.clone();
    labels.retain(|state, text| {
        let shown = pane.state_labels.get(state.as_str());
        let is_reason = *state == key && of_reason && snapshot.reason.is_some();
        is_reason || shown.is_none_or(|shown| shown == text.as_str())
    });
    labels
}

pub(super) fn shows_title(config: &Config) -> bool {
    config.title != Source::None && config.privacy != Privacy::Fixed
}

fn reports_session(config: &Config) -> bool {
    config.report_session && config.privacy != Privacy::Fixed
}
