//! The reason of a state, as the message of a report and as the label of the state.

use herdr_proto::{ReportState, StateKey};
use herdr_reporter::{AgentEvent, Config, Prompt, PromptKind, ReasonLabel, Source};

use crate::support::{
    config, label, prompt, reason, set, show, shown_label, started, tool, waiting,
};

fn blocked() -> Vec<AgentEvent> {
    vec![started(), tool("t", "bash"), prompt("p", Prompt::approval("Run it?"))]
}

#[test]
fn the_reason_becomes_the_label_of_the_states_that_the_setting_names() {
    for (reason_label, while_blocked, while_working) in [
        (ReasonLabel::Off, None, None),
        (ReasonLabel::Blocked, Some("Run it?"), None),
        (ReasonLabel::All, Some("Run it?"), Some("bash")),
    ] {
        let config = config(|config| config.reason_label = reason_label);
        let shown = show(&config, blocked());
        assert_eq!(shown_label(&shown, StateKey::Blocked), while_blocked, "{reason_label:?}");
        assert_eq!(shown_label(&shown, StateKey::Working), None);
        assert_eq!(reason(&shown), Some("Run it?"), "the message does not depend on it");

        let shown = show(&config, [started(), tool("t", "bash")]);
        assert_eq!(shown_label(&shown, StateKey::Working), while_working, "{reason_label:?}");
        assert_eq!(shown_label(&shown, StateKey::Blocked), None);
        assert_eq!(reason(&shown), Some("bash"));
    }
}

#[test]
fn a_configured_label_stands_before_the_reason() {
    for (reason_label, expected) in [
        (ReasonLabel::Off, "needs you"),
        (ReasonLabel::Blocked, "needs you: Run it?"),
        (ReasonLabel::All, "needs you: Run it?"),
    ] {
        let config = config(|config| {
            config.reason_label = reason_label;
            config.state_labels.insert(StateKey::Blocked, "needs you".into());
        });
        assert_eq!(shown_label(&show(&config, blocked()), StateKey::Blocked), Some(expected));
        let unasked = show(&config, [started()]);
        assert_eq!(shown_label(&unasked, StateKey::Blocked), Some("needs you"), "kept ready");
    }
}

#[test]
fn the_hosts_label_wins_and_null_or_blank_falls_back() {
    let config = config(|config| {
        config.state_labels.insert(StateKey::Working, "configured".into());
        config.state_labels.insert(StateKey::Idle, " \n".into());
    });
    for (text, expected) in [
        (Some("the host's"), "the host's"),
        (None, "configured"),
        (Some(" \u{1b}[31m"), "configured"),
    ] {
        let first = label(StateKey::Working, Some("first"));
        let shown = show(&config, [started(), first, label(StateKey::Working, text)]);
        assert_eq!(shown_label(&shown, StateKey::Working), Some(expected));
        assert_eq!(shown_label(&shown, StateKey::Idle), None, "blank counts as absent");
    }
}

#[test]
fn the_newest_prompt_comes_first_then_the_newest_run_then_the_label_of_the_state() {
    let said = set(ReportState::Blocked, "said");
    let newer = AgentEvent::workflow_snapshot("other", vec![], vec!["run-2".into()]);
    let base = || vec![said.clone(), waiting("run-1"), newer.clone()];
    let with = |more: Vec<AgentEvent>| show(&Config::default(), [base(), more].concat());
    let one = || prompt("1", Prompt::question("one"));
    let two = || prompt("2", Prompt::approval("two"));

    assert_eq!(reason(&with(vec![two(), one()])), Some("one"));
    assert_eq!(reason(&with(vec![one(), two()])), Some("two"));
    let closed = AgentEvent::prompt_closed("2");
    assert_eq!(reason(&with(vec![one(), two(), closed])), Some("one"));
    assert_eq!(reason(&with(vec![])), Some("Workflow needs attention: run-2"));
    assert_eq!(reason(&show(&Config::default(), [said])), Some("said"));
}

#[test]
fn while_working_the_newest_tool_that_still_runs_is_the_reason() {
    let events = [started(), tool("1", "read"), tool("2", "grep"), tool("3", "\u{1b}[0m")];
    let shown = show(&Config::default(), events.clone());
    assert_eq!(reason(&shown), Some("grep"), "a tool without a name says nothing");
    let finished = AgentEvent::tool_finished("2");
    let shown = show(&Config::default(), events.into_iter().chain([finished]));
    assert_eq!(reason(&shown), Some("read"));
    assert_eq!(
        reason(&show(&Config::default(), [set(ReportState::Working, "said")])),
        Some("said")
    );
}

#[test]
fn a_prompt_without_a_text_gets_a_phrase() {
    for (kind, phrase) in [
        (PromptKind::Approval, "Waiting for approval"),
        (PromptKind::Question, "Waiting for an answer"),
        (PromptKind::Other, "Waiting for an answer"),
    ] {
        let shown = show(&Config::default(), [prompt("p", Prompt::of(kind))]);
        assert_eq!(shown.state, ReportState::Blocked);
        assert_eq!(reason(&shown), Some(phrase), "{kind:?}");
    }
}

#[test]
fn message_and_working_message_can_be_turned_off_one_by_one() {
    let working = || [started(), tool("t", "bash")];
    let config_of = |message, working_message| {
        config(|config| {
            config.message = message;
            config.working_message = working_message;
            config.reason_label = ReasonLabel::All;
        })
    };
    for (message, working_message) in
        [(Source::None, Source::Auto), (Source::Auto, Source::None), (Source::None, Source::None)]
    {
        let config = config_of(message, working_message);
        let expected = |source, text| (source == Source::Auto).then_some(text);
        let shown = show(&config, blocked());
        assert_eq!(reason(&shown), expected(message, "Run it?"));
        assert_eq!(shown_label(&shown, StateKey::Blocked), expected(message, "Run it?"));
        let shown = show(&config, working());
        assert_eq!(reason(&shown), expected(working_message, "bash"));
        assert_eq!(shown_label(&shown, StateKey::Working), expected(working_message, "bash"));
    }
}

#[test]
fn a_long_reason_is_cut_with_its_label() {
    let config = config(|config| {
        config.state_labels.insert(StateKey::Blocked, "blocked".into());
    });
    let shown = show(&config, [prompt("p", Prompt::approval("x".repeat(10_000)))]);
    let label = shown_label(&shown, StateKey::Blocked).unwrap();
    assert_eq!(label.chars().count(), 80);
    assert!(label.starts_with("blocked: xxx") && label.ends_with('…'), "{label}");
    assert_eq!(reason(&shown).unwrap().chars().count(), 80);
}

#[test]
fn idle_has_the_label_that_is_set_with_it() {
    let config = config(|config| config.reason_label = ReasonLabel::All);
    let shown = show(&config, [set(ReportState::Idle, "said")]);
    // Herdr shows idle as done until a person has seen it.
    assert_eq!((reason(&shown), shown.presentation.labels.len()), (Some("said"), 2));
}
