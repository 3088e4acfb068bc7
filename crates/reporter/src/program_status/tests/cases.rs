use std::time::Duration;

use herdr_proto::{AgentLabel, ReportState};
use termstate_core::scan::{Event, Scanner};

use super::{MILLI, World, helper, settled, text};
use crate::activity::Activity;
use crate::config::{Config, Privacy};
use crate::event::{AgentEvent, Prompt, SessionStarted, TurnOutcome};
use crate::program_status::{Pace, app_name};

#[test]
fn a_turn_is_shown_with_its_reasons_and_its_end() {
    let mut world = World::new(Config::default());
    let mut shows = |events: Vec<AgentEvent>, expected: &str| {
        world.say(events);
        world.rest();
        let root = world.store.get(None).map(text).unwrap_or_default();
        assert_eq!(root, expected);
    };
    shows(vec![AgentEvent::title_changed(Some("T".into()))], "");
    shows(
        vec![AgentEvent::agent_started(), AgentEvent::tool_started("t", "grep")],
        r#"working None None Some("T") Some("grep")"#,
    );
    shows(
        vec![AgentEvent::tool_finished("t"), AgentEvent::progress_changed(Some(40))],
        r#"working None Some(40) Some("T") None"#,
    );
    for (prompt, kind, label) in [
        (Prompt::approval("Run it?"), "permission", "Run it?"),
        (Prompt::question("Which?"), "question", "Which?"),
        (Prompt::auth("Sign in"), "auth", "Sign in"),
    ] {
        shows(
            vec![AgentEvent::prompt_opened("p", prompt)],
            &format!(r#"blocked Some("{kind}") Some(40) Some("T") Some("{label}")"#),
        );
    }
    shows(
        vec![settled(TurnOutcome::Error, "No such host")],
        r#"error None None Some("T") Some("No such host")"#,
    );
    shows(vec![AgentEvent::agent_started()], r#"working None None Some("T") None"#);
    shows(
        vec![settled(TurnOutcome::Done, "12 passed")],
        r#"done None None Some("T") Some("12 passed")"#,
    );
    shows(vec![AgentEvent::agent_settled()], r#"done None None Some("T") Some("12 passed")"#);
    shows(
        vec![AgentEvent::agent_started(), settled(TurnOutcome::Cancelled, "x")],
        r#"idle None None Some("T") None"#,
    );
    shows(vec![AgentEvent::Release], "");
}

#[test]
fn subagents_and_runs_have_records_until_they_end() {
    let mut world = World::new(Config::default());
    let mut shows = |events: Vec<AgentEvent>, expected: &[(&str, &str)]| {
        world.say(events);
        world.rest();
        let shown: Vec<_> =
            world.store.iter().filter_map(|(id, it)| Some((id?, text(it)))).collect();
        let expected: Vec<_> = expected.iter().map(|(id, it)| (*id, (*it).to_owned())).collect();
        assert_eq!(shown, expected);
    };
    let run = |running: &[&str], waiting: &[&str]| {
        let names = |runs: &[&str]| runs.iter().map(ToString::to_string).collect();
        AgentEvent::workflow_snapshot("flow", names(running), names(waiting))
    };
    let tool = helper(AgentEvent::tool_started("t", "grep"));
    shows(
        vec![AgentEvent::agent_started(), helper(AgentEvent::agent_started()), tool],
        &[("1.1", r#"working None None None Some("grep")"#)],
    );
    shows(
        vec![
            helper(AgentEvent::prompt_opened("p", Prompt::question("Which?"))),
            helper(AgentEvent::progress_changed(Some(7))),
            run(&["build"], &["deploy"]),
        ],
        &[
            ("1.1", r#"blocked Some("question") Some(7) None Some("Which?")"#),
            ("1.2", r#"working None None Some("build") None"#),
            ("1.3", r#"blocked None None Some("deploy") Some("Workflow needs attention")"#),
        ],
    );
    shows(
        vec![helper(AgentEvent::agent_settled()), run(&["deploy"], &[])],
        &[("1.3", r#"working None None Some("deploy") None"#)],
    );
    shows(vec![run(&[], &[])], &[]);
}

#[test]
fn nothing_private_goes_to_a_terminal() {
    let mut session = SessionStarted::new("s");
    session.title = Some("SECRET".into());
    let events = [
        AgentEvent::SessionStarted(session),
        helper(AgentEvent::agent_started()),
        helper(AgentEvent::tool_started("SECRET", "SECRET")),
        AgentEvent::workflow_snapshot("SECRET", vec!["SECRET".into()], vec!["SECRET 2".into()]),
        AgentEvent::prompt_opened("SECRET", Prompt::question("SECRET")),
        AgentEvent::agent_started(),
        settled(TurnOutcome::Error, "SECRET"),
        AgentEvent::state_set(ReportState::Blocked, Some("SECRET".into())),
    ];
    let mut world = World::new(Config { privacy: Privacy::Fixed, ..Config::default() });
    for event in events {
        world.say([event]);
        world.rest();
        for (_, record) in world.store.iter() {
            assert!(!text(record).contains("SECRET"), "{record:?}");
        }
    }
}

#[test]
fn a_rest_is_held_back_in_case_work_goes_on() {
    let mut world = World::new(Config::default());
    world.say([AgentEvent::agent_started()]);
    world.rest();
    world.say([AgentEvent::agent_settled()]);
    world.now += 200 * MILLI;
    let wake = world.step().unwrap();
    assert_eq!(wake, world.now + world.config.settle);
    world.say([AgentEvent::agent_started()]);
    assert_eq!(world.step(), None);
    world.say([AgentEvent::agent_settled()]);
    world.rest();
    assert_eq!(world.states, ["working", "idle"]);
}

#[test]
fn at_the_end_an_outcome_stays_and_the_rest_is_cleared() {
    let begin = [AgentEvent::agent_started(), helper(AgentEvent::agent_started())];
    for (end, left) in [
        (vec![], None),
        (vec![AgentEvent::agent_settled()], None),
        (vec![settled(TurnOutcome::Cancelled, "x")], None),
        (vec![settled(TurnOutcome::Done, "x")], None),
        (vec![helper(AgentEvent::agent_settled()), settled(TurnOutcome::Done, "x")], Some("done")),
        (
            vec![helper(AgentEvent::agent_settled()), settled(TurnOutcome::Error, "x")],
            Some("error"),
        ),
    ] {
        let mut world = World::new(Config::default());
        world.say(begin.clone());
        world.rest();
        // The end does not wait for the settle time.
        world.say(end);
        world.end();
        let shown: Vec<_> =
            world.store.iter().map(|(_, record)| record.state.to_string()).collect();
        assert_eq!(shown, Vec::from_iter(left));
    }
}

#[test]
fn nothing_is_cleared_if_nothing_was_shown() {
    let mut pace = Pace::new(None, Duration::ZERO, 1);
    assert_eq!(pace.end(None), []);
    assert_eq!(pace.hand_over(), []);
    let mut activity = Activity::default();
    activity.apply(AgentEvent::agent_started()).unwrap();
    let program = activity.program(&Config::default());
    assert_eq!(pace.end(program.as_ref()), []);
}

#[test]
fn a_predecessor_does_not_clear_the_records_of_its_successor() {
    let mut predecessor = World::new(Config::default());
    let events = || [AgentEvent::agent_started(), helper(AgentEvent::agent_started())];
    predecessor.say(events());
    predecessor.rest();
    let mut successor = World::new(Config::default());
    successor.pace = Pace::new(None, Duration::ZERO, 2);
    std::mem::swap(&mut successor.store, &mut predecessor.store);
    successor.say(events());
    successor.rest();
    let left = predecessor.pace.hand_over();
    successor.read(&left);
    successor.assert_true();
}

#[test]
fn the_records_of_other_programs_are_not_cleared() {
    let mut world = World::new(Config::default());
    let other = "\x1b]7501;state=working:id=build\x1b\\";
    world.say([AgentEvent::agent_started(), helper(AgentEvent::agent_started())]);
    world.rest();
    Scanner::new().feed(other.as_bytes(), |event| {
        if let Event::Sequence { message, .. } = event {
            world.store.apply(&message.unwrap());
        }
    });
    world.say([helper(AgentEvent::agent_settled()), settled(TurnOutcome::Done, "x")]);
    world.rest();
    world.end();
    assert!(world.store.get(Some("build")).is_some() && world.store.len() == 2);
}

#[test]
fn a_label_becomes_a_valid_program_name() {
    let name = |label: &str| {
        app_name(&AgentLabel::parse(label).unwrap()).map(|name| name.as_str().to_owned())
    };
    assert_eq!(name("My Agent/2").as_deref(), Some("my-agent-2"));
    assert_eq!(name(&"x".repeat(80)).map(|name| name.len()), Some(32));
    assert_eq!(name("日本"), None);
}
