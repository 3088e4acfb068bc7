//! Functions that make events, and properties of events.

use std::collections::BTreeMap;

use herdr_proto::{ReportState, StateKey};

use super::{AgentEvent, EventId, ID_MAX_BYTES, Prompt, SessionStarted, TurnOutcome};

impl AgentEvent {
    /// A session began or continues. Only its id is known.
    pub fn session_started(session_id: impl Into<String>) -> Self {
        Self::SessionStarted(SessionStarted::new(session_id))
    }

    /// The session has ended.
    pub fn session_ended() -> Self {
        Self::SessionEnded { agent_id: EventId::default() }
    }

    /// The main agent began a turn.
    pub fn agent_started() -> Self {
        Self::AgentStarted { agent_id: EventId::default() }
    }

    /// The main agent has finished its turn.
    pub fn agent_settled() -> Self {
        Self::AgentSettled { agent_id: EventId::default(), outcome: None, message: None }
    }

    /// A tool of the main agent has started.
    pub fn tool_started(tool_id: impl Into<EventId>, tool: impl Into<String>) -> Self {
        let (tool_id, tool) = (tool_id.into(), tool.into());
        Self::ToolStarted { tool_id, tool, agent_id: EventId::default() }
    }

    /// A tool has ended.
    pub fn tool_finished(tool_id: impl Into<EventId>) -> Self {
        Self::ToolFinished { tool_id: tool_id.into() }
    }

    /// The main agent has started to wait for a person.
    pub fn prompt_opened(prompt_id: impl Into<EventId>, prompt: Prompt) -> Self {
        let agent_id = Some(EventId::default());
        Self::PromptOpened { prompt_id: prompt_id.into(), prompt, agent_id }
    }

    /// The agent no longer waits for an answer to this prompt.
    pub fn prompt_closed(prompt_id: impl Into<EventId>) -> Self {
        Self::PromptClosed { prompt_id: prompt_id.into() }
    }

    /// The progress of the main agent's turn, in percent.
    pub fn progress_changed(percent: Option<u8>) -> Self {
        Self::ProgressChanged { percent, agent_id: EventId::default() }
    }

    /// The runs of a workflow provider: those that are executing, and those that wait for a person.
    pub fn workflow_snapshot(
        provider: impl Into<String>,
        running: Vec<String>,
        waiting: Vec<String>,
    ) -> Self {
        Self::WorkflowSnapshot { provider: provider.into(), ready: true, running, waiting }
    }

    /// A workflow provider does not know the state of its runs.
    pub fn workflow_unavailable(provider: impl Into<String>) -> Self {
        Self::WorkflowUnavailable { provider: provider.into() }
    }

    /// The state, from a host that knows only states.
    pub fn state_set(state: ReportState, label: Option<String>) -> Self {
        Self::StateSet { state, label, settles: false }
    }

    /// The state, after everything that is open has ended: agents, tools and prompts.
    pub fn state_settled(state: ReportState, label: Option<String>) -> Self {
        Self::StateSet { state, label, settles: true }
    }

    /// The title, which says what the session is about; `None` clears it.
    pub fn title_changed(title: Option<String>) -> Self {
        Self::TitleChanged { title, agent_id: EventId::default() }
    }

    /// Which model answers, and how many tokens its context window holds.
    pub fn model_changed(model: Option<String>, context_window: Option<u64>) -> Self {
        Self::ModelChanged { model, context_window, agent_id: EventId::default() }
    }

    /// How many tokens of the context window are used.
    pub fn usage_changed(used: u64) -> Self {
        Self::UsageChanged { used, agent_id: EventId::default() }
    }

    /// The host's own tokens; `None` clears a token.
    pub fn tokens_changed(tokens: impl IntoIterator<Item = (String, Option<String>)>) -> Self {
        Self::TokensChanged { tokens: BTreeMap::from_iter(tokens) }
    }

    /// Texts for states; `None` falls back to the configured one.
    pub fn labels_changed(labels: impl IntoIterator<Item = (StateKey, Option<String>)>) -> Self {
        Self::LabelsChanged { labels: BTreeMap::from_iter(labels) }
    }

    /// The same event for another agent, if the event belongs to an agent. `None` means no agent,
    /// which is possible only for a prompt; other events fall back to the main agent.
    #[must_use]
    pub fn of_agent(mut self, agent: Option<EventId>) -> Self {
        let or_main = agent.clone().unwrap_or_default();
        match &mut self {
            Self::PromptOpened { agent_id, .. } => *agent_id = agent,
            Self::SessionStarted(session) => session.agent_id = or_main,
            Self::SessionEnded { agent_id }
            | Self::AgentStarted { agent_id }
            | Self::AgentSettled { agent_id, .. }
            | Self::ToolStarted { agent_id, .. }
            | Self::ProgressChanged { agent_id, .. }
            | Self::TitleChanged { agent_id, .. }
            | Self::ModelChanged { agent_id, .. }
            | Self::UsageChanged { agent_id, .. } => *agent_id = or_main,
            _ => {}
        }
        self
    }

    /// The same end of a turn, with its outcome and an optional message.
    #[must_use]
    pub fn with_outcome(mut self, how: TurnOutcome, text: Option<String>) -> Self {
        if let Self::AgentSettled { outcome, message, .. } = &mut self {
            (*outcome, *message) = (Some(how), text);
        }
        self
    }

    /// Whether the event can change the state.
    pub(crate) fn is_about_work(&self) -> bool {
        match self {
            Self::SessionStarted(session) => session.agent_id.is_main(),
            Self::SessionEnded { agent_id } => agent_id.is_main(),
            Self::ProgressChanged { .. }
            | Self::TitleChanged { .. }
            | Self::ModelChanged { .. }
            | Self::UsageChanged { .. }
            | Self::TokensChanged { .. }
            | Self::LabelsChanged { .. }
            | Self::Release => false,
            _ => true,
        }
    }

    /// Whether the event begins something. Such an event claims a pane again after a release.
    pub(crate) fn is_beginning(&self) -> bool {
        match self {
            Self::SessionStarted(session) => session.agent_id.is_main(),
            Self::AgentStarted { .. }
            | Self::ToolStarted { .. }
            | Self::PromptOpened { .. }
            | Self::StateSet { .. } => true,
            Self::WorkflowSnapshot { ready, running, waiting, .. } => {
                *ready && !(running.is_empty() && waiting.is_empty())
            }
            _ => false,
        }
    }

    pub(crate) fn has_long_id(&self) -> bool {
        match self {
            Self::SessionStarted(session) => {
                session.session_id.len() > ID_MAX_BYTES || session.agent_id.is_too_long()
            }
            Self::SessionEnded { agent_id: id }
            | Self::AgentStarted { agent_id: id }
            | Self::AgentSettled { agent_id: id, .. }
            | Self::ToolFinished { tool_id: id }
            | Self::PromptClosed { prompt_id: id } => id.is_too_long(),
            Self::ToolStarted { tool_id, agent_id, .. } => {
                tool_id.is_too_long() || agent_id.is_too_long()
            }
            Self::PromptOpened { prompt_id, agent_id, .. } => {
                prompt_id.is_too_long() || agent_id.as_ref().is_some_and(EventId::is_too_long)
            }
            Self::WorkflowSnapshot { provider, .. } | Self::WorkflowUnavailable { provider } => {
                provider.len() > ID_MAX_BYTES
            }
            _ => false,
        }
    }
}
