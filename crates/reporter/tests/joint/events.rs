//! Short names for what agents do.

use std::collections::BTreeMap;

use herdr_reporter::{AgentEvent, MAIN_AGENT, Prompt, SessionStarted};

pub(crate) fn started() -> AgentEvent {
    AgentEvent::AgentStarted { agent_id: MAIN_AGENT.into() }
}

pub(crate) fn settled() -> AgentEvent {
    AgentEvent::AgentSettled { agent_id: MAIN_AGENT.into() }
}

pub(crate) fn asked(label: &str) -> AgentEvent {
    AgentEvent::PromptOpened {
        prompt_id: "p".into(),
        prompt: Prompt::approval(label),
        agent_id: Some(MAIN_AGENT.into()),
    }
}

pub(crate) fn answered() -> AgentEvent {
    AgentEvent::PromptClosed { prompt_id: "p".into() }
}

pub(crate) fn title(title: &str) -> AgentEvent {
    AgentEvent::TitleChanged { title: Some(title.into()), agent_id: MAIN_AGENT.into() }
}

pub(crate) fn token(key: &str, text: Option<&str>) -> AgentEvent {
    let tokens = BTreeMap::from([(key.to_owned(), text.map(str::to_owned))]);
    AgentEvent::TokensChanged { tokens }
}

pub(crate) fn session(id: &str) -> AgentEvent {
    AgentEvent::SessionStarted(SessionStarted::new(id))
}

pub(crate) fn state(state: &str) -> AgentEvent {
    AgentEvent::StateSet { state: serde_json::from_value(state.into()).unwrap(), label: None }
}

pub(crate) fn blocked(label: &str) -> AgentEvent {
    AgentEvent::StateSet { state: herdr_proto::ReportState::Blocked, label: Some(label.into()) }
}

pub(crate) fn labels(labels: &[(&str, Option<&str>)]) -> AgentEvent {
    let of = |(state, text): &(&str, Option<&str>)| {
        let key = herdr_proto::StateKey::ALL.into_iter().find(|key| key.as_str() == *state);
        (key.unwrap(), text.map(str::to_owned))
    };
    AgentEvent::LabelsChanged { labels: labels.iter().map(of).collect() }
}
