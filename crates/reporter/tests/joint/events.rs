//! Short names for what agents do.

use std::collections::BTreeMap;

use herdr_reporter::{AgentEvent, MAIN_AGENT, Prompt, SessionStarted};

pub(crate) fn started() -> AgentEvent {
    AgentEvent::agent_started()
}

pub(crate) fn settled() -> AgentEvent {
    AgentEvent::agent_settled()
}

pub(crate) fn asked(label: &str) -> AgentEvent {
    AgentEvent::prompt_opened("p", Prompt::approval(label)).of_agent(Some(MAIN_AGENT.into()))
}

pub(crate) fn answered() -> AgentEvent {
    AgentEvent::prompt_closed("p")
}

pub(crate) fn title(title: &str) -> AgentEvent {
    AgentEvent::title_changed(Some(title.into()))
}

pub(crate) fn token(key: &str, text: Option<&str>) -> AgentEvent {
    let tokens = BTreeMap::from([(key.to_owned(), text.map(str::to_owned))]);
    AgentEvent::tokens_changed(tokens)
}

pub(crate) fn session(id: &str) -> AgentEvent {
    AgentEvent::SessionStarted(SessionStarted::new(id))
}
