//! Short names for events.

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

pub(crate) fn state(state: &str) -> AgentEvent {
    AgentEvent::state_settled(serde_json::from_value(state.into()).unwrap(), None)
}

pub(crate) fn blocked(label: &str) -> AgentEvent {
    AgentEvent::state_settled(herdr_proto::ReportState::Blocked, Some(label.into()))
}

pub(crate) fn labels(labels: &[(&str, Option<&str>)]) -> AgentEvent {
    let of = |(state, text): &(&str, Option<&str>)| {
        let key = herdr_proto::StateKey::ALL.into_iter().find(|key| key.as_str() == *state);
        (key.unwrap(), text.map(str::to_owned))
    };
    AgentEvent::labels_changed(labels.iter().map(of).collect::<Vec<_>>())
}
