//! Short functions for events and for parts of a snapshot.

use std::collections::BTreeMap;

use herdr_proto::{ReportState, StateKey};
use herdr_reporter::sidecar::{Activity, Snapshot};
use herdr_reporter::{AgentEvent, Config, Prompt, PromptKind};

pub(crate) fn fold(events: impl IntoIterator<Item = AgentEvent>) -> Activity {
    let mut activity = Activity::default();
    for event in events {
        activity.apply(event).unwrap();
    }
    activity
}

pub(crate) fn show(config: &Config, events: impl IntoIterator<Item = AgentEvent>) -> Snapshot {
    fold(events).snapshot(config).expect("a state")
}

pub(crate) fn config(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = Config::default();
    change(&mut config);
    config
}

pub(crate) fn started() -> AgentEvent {
    AgentEvent::agent_started()
}

pub(crate) fn tool(id: &str, name: &str) -> AgentEvent {
    AgentEvent::tool_started(id, name)
}

pub(crate) fn prompt(id: &str, prompt: Prompt) -> AgentEvent {
    AgentEvent::prompt_opened(id, prompt)
}

pub(crate) fn unknown_prompt(label: &str) -> Prompt {
    let mut prompt = Prompt::of(PromptKind::Other);
    prompt.label = Some(label.into());
    prompt
}

pub(crate) fn waiting(run: &str) -> AgentEvent {
    AgentEvent::workflow_snapshot("flow", vec![], vec![run.into()])
}

pub(crate) fn set(state: ReportState, label: &str) -> AgentEvent {
    AgentEvent::state_set(state, Some(label.into()))
}

pub(crate) fn title(title: Option<&str>) -> AgentEvent {
    AgentEvent::title_changed(title.map(Into::into))
}

pub(crate) fn model(model: Option<&str>, context_window: Option<u64>) -> AgentEvent {
    AgentEvent::model_changed(model.map(Into::into), context_window)
}

pub(crate) fn usage(used: u64) -> AgentEvent {
    AgentEvent::usage_changed(used)
}

pub(crate) fn tokens<'a>(
    tokens: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
) -> AgentEvent {
    let own = |(key, text): (&str, Option<&str>)| (key.to_owned(), text.map(str::to_owned));
    AgentEvent::tokens_changed(tokens.into_iter().map(own))
}

pub(crate) fn label(state: StateKey, text: Option<&str>) -> AgentEvent {
    AgentEvent::labels_changed(BTreeMap::from([(state, text.map(Into::into))]))
}

pub(crate) fn reason(snapshot: &Snapshot) -> Option<&str> {
    snapshot.reason.as_ref().map(AsRef::as_ref)
}

pub(crate) fn shown_title(snapshot: &Snapshot) -> Option<&str> {
    snapshot.presentation.title.as_ref().map(AsRef::as_ref)
}

pub(crate) fn shown_label(snapshot: &Snapshot, state: StateKey) -> Option<&str> {
    snapshot.presentation.labels.get(&state).map(AsRef::as_ref)
}

pub(crate) fn shown_tokens(snapshot: &Snapshot) -> Vec<(&str, &str)> {
    snapshot.tokens.iter().map(|(key, text)| (key.as_ref(), text.as_ref())).collect()
}
