//! The last event counts, and earlier ones that it contradicts do not.

use herdr_proto::{ReportState, StateKey};
use herdr_reporter::sidecar::Snapshot;
use herdr_reporter::{AgentEvent, Config, Prompt, ReasonLabel, SessionStarted, TurnOutcome};

use super::support::{config, fold, show};

fn shown(events: impl IntoIterator<Item = AgentEvent>) -> Snapshot {
    show(&Config::default(), events)
}

fn session(id: &str, reason: Option<&str>) -> AgentEvent {
    let mut session = SessionStarted::new(id);
    session.reason = reason.map(str::to_owned);
    AgentEvent::SessionStarted(session)
}

#[test]
fn f13_another_session_ends_what_the_main_agent_left_open() {
    let open = [
        session("a", None),
        AgentEvent::agent_started(),
        AgentEvent::state_set(ReportState::Working, None),
        AgentEvent::tool_started("t", "bash"),
        AgentEvent::prompt_opened("p", Prompt::approval("Old?")),
    ];
    for (next, state) in [
        (session("b", Some("clear")), ReportState::Idle),
        (session("b", None), ReportState::Idle),
        (session("b", Some("compact")), ReportState::Blocked),
        (session("a", Some("clear")), ReportState::Blocked),
    ] {
        let said = open.iter().cloned().chain([next.clone()]);
        assert_eq!(shown(said).state, state, "{next:?}");
    }
    let helper = AgentEvent::agent_started().of_agent(Some("helper".into()));
    let said = [session("a", None), helper, session("b", None)];
    assert_eq!(shown(said).state, ReportState::Working, "a subagent's work is its own");
}

#[test]
fn f14_what_is_opened_again_has_the_newest_text() {
    let ask = |text: &str| AgentEvent::prompt_opened("p", Prompt::approval(text));
    let snapshot = shown([ask("First?"), ask("Second?")]);
    assert_eq!(snapshot.reason.unwrap().as_str(), "Second?");
    let other = AgentEvent::prompt_opened("q", Prompt::approval("Other?"));
    let snapshot = shown([ask("First?"), other, ask("Second?")]);
    assert_eq!(snapshot.reason.unwrap().as_str(), "Second?", "and is the newest");
    let tool = |name: &str| AgentEvent::tool_started("t", name);
    let snapshot = shown([tool("grep"), tool("bash")]);
    assert_eq!(snapshot.reason.unwrap().as_str(), "bash");
}

#[test]
fn f16_a_state_that_settles_ends_what_is_open() {
    let open = [
        AgentEvent::agent_started().of_agent(Some("helper".into())),
        AgentEvent::tool_started("t", "bash"),
        AgentEvent::prompt_opened("p", Prompt::question("Which?")),
    ];
    let settled = AgentEvent::state_settled(ReportState::Idle, None);
    assert_eq!(shown(open.iter().cloned().chain([settled])).state, ReportState::Idle);
    let set = AgentEvent::state_set(ReportState::Idle, None);
    assert_eq!(shown(open.into_iter().chain([set])).state, ReportState::Blocked);
}

#[test]
fn an_errors_message_is_the_label_of_idle_where_all_reasons_show() {
    let failed = AgentEvent::agent_settled()
        .with_outcome(TurnOutcome::Error, Some("out of credit".to_owned()));
    let said = [AgentEvent::agent_started(), failed];
    let all = config(|config| config.reason_label = ReasonLabel::All);
    let labels = fold(said.clone()).snapshot(&all).unwrap().presentation.labels;
    assert_eq!(labels[&StateKey::Idle].as_str(), "out of credit");
    assert_eq!(labels[&StateKey::Done].as_str(), "out of credit");
    assert!(shown(said.clone()).presentation.labels.is_empty());
    let again = said.into_iter().chain([AgentEvent::agent_started()]);
    assert_eq!(fold(again).snapshot(&all).unwrap().reason, None);
}

#[test]
fn an_idle_label_shows_for_done_unless_done_has_its_own() {
    let label = |state, text: &str| (state, Some(text.to_owned()));
    let idle = AgentEvent::labels_changed([label(StateKey::Idle, "ready")]);
    let done = AgentEvent::labels_changed([label(StateKey::Done, "finished")]);
    let begin = AgentEvent::state_set(ReportState::Idle, None);
    let labels = shown([begin.clone(), idle.clone()]).presentation.labels;
    assert_eq!(labels[&StateKey::Done].as_str(), "ready");
    let labels = shown([begin, idle, done]).presentation.labels;
    assert_eq!(labels[&StateKey::Done].as_str(), "finished");
}

#[test]
fn f52_a_provider_without_runs_is_forgotten() {
    let mut activity = fold([]);
    for number in 0..5_000 {
        let name = format!("provider {number}");
        activity.apply(AgentEvent::workflow_unavailable(&name)).unwrap();
        if number % 2 == 0 {
            activity.apply(AgentEvent::workflow_snapshot(&name, vec![], vec![])).unwrap();
            activity.apply(AgentEvent::workflow_unavailable(name)).unwrap();
        }
    }
    activity.apply(AgentEvent::agent_started()).unwrap();
}

#[test]
fn a_state_that_settles_shows_its_label_and_another_state_does_not() {
    let said = |event| shown([event]).presentation.labels;
    let label = || Some("Compiling".to_owned());
    let last = said(AgentEvent::state_settled(ReportState::Working, label()));
    assert_eq!(last[&StateKey::Working].as_str(), "Compiling");
    // A supervisor gets the events of a supervised host in this form.
    assert!(said(AgentEvent::state_set(ReportState::Working, label())).is_empty());
}
