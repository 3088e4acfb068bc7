//! What a terminal comes to show, read by another author's reader of the
//! protocol, whatever is said and whenever.

use std::time::Duration;

use herdr_program_status::{AppName, State};
use herdr_proto::{AgentLabel, ReportState};
use proptest::prelude::*;
use termstate_core::scan::{Event, Scanner};
use termstate_store::Store;

use super::pace::Due;
use super::{Pace, app_name, encode};
use crate::activity::{Activity, Record};
use crate::config::{Config, Privacy};
use crate::event::{AgentEvent, EventId, Prompt, SessionStarted, TurnOutcome};

const MILLI: Duration = Duration::from_millis(1);
/// The least time between two changes of a terminal.
const PACE: Duration = Duration::from_millis(100);

/// A terminal, and whatever leads to it.
struct World {
    activity: Activity,
    config: Config,
    pace: Pace,
    store: Store,
    now: Duration,
    wrote: Vec<Duration>,
    /// The root's states, one for each change.
    states: Vec<String>,
}

impl World {
    fn new(config: Config) -> Self {
        let app = AppName::parse("host").ok();
        Self {
            activity: Activity::default(),
            pace: Pace::new(app, config.settle),
            config,
            store: Store::new(),
            now: Duration::ZERO,
            wrote: Vec::new(),
            states: Vec::new(),
        }
    }

    fn say(&mut self, events: impl IntoIterator<Item = AgentEvent>) {
        for event in events {
            let _ = self.activity.apply(event);
        }
    }

    /// Whether anything is left to be told later, and when.
    fn step(&mut self) -> Option<Duration> {
        let program = self.activity.program(&self.config);
        let Due { reports, wake } = self.pace.step(self.now, program.as_ref());
        if !reports.is_empty() {
            self.wrote.push(self.now);
        }
        self.read(&reports);
        wake
    }

    /// Lets time pass until everything is told.
    fn rest(&mut self) {
        while let Some(wake) = self.step() {
            assert!(wake > self.now);
            self.now = wake;
        }
    }

    fn end(&mut self) {
        let program = self.activity.program(&self.config);
        let reports = self.pace.end(program.as_ref());
        self.read(&reports);
    }

    fn read(&mut self, reports: &[herdr_program_status::Report]) {
        let bytes = encode(reports);
        let mut scanner = Scanner::new();
        scanner.feed(&bytes, |event| match event {
            Event::Sequence { message, .. } => {
                let before = self.store.get(None).map(|root| root.state.to_string());
                self.store.apply(&message.expect("it breaks no rule"));
                let root = self.store.get(None).map(|root| root.state.to_string());
                if before != root {
                    self.states.push(root.unwrap_or_default());
                }
            }
            other @ Event::Passthrough(_) => panic!("{other:?}"),
        });
        assert!(scanner.is_ground());
    }

    /// What the terminal should show once everything is told.
    fn assert_true(&self) {
        let program = self.activity.program(&self.config);
        let shown: Vec<_> = self.store.iter().map(|(_, record)| text(record)).collect();
        let mut expected = Vec::new();
        if let Some(program) = program {
            expected.push(wanted(&program.root));
            expected.extend(program.parts.values().map(wanted));
        }
        let sorted = |mut records: Vec<String>| {
            records.sort();
            records
        };
        assert_eq!(sorted(shown), sorted(expected));
    }
}

fn text(record: &termstate_store::Record) -> String {
    let kind = record.kind.map(|kind| kind.to_string());
    let (title, message) = (&record.title, &record.msg);
    format!("{} {kind:?} {:?} {title:?} {message:?}", record.state, record.progress)
}

fn wanted(record: &Record) -> String {
    let Record { state, kind, progress, title, message } = record;
    let kind = kind.map(|kind| kind.as_str().to_owned());
    let (title, message) =
        (title.as_ref().map(ToString::to_string), message.as_ref().map(ToString::to_string));
    format!("{} {kind:?} {progress:?} {title:?} {message:?}", state.as_str())
}

fn helper(event: AgentEvent) -> AgentEvent {
    event.of_agent(Some(EventId::from("helper")))
}

fn settled(outcome: TurnOutcome, message: &str) -> AgentEvent {
    AgentEvent::agent_settled().with_outcome(outcome, Some(message.to_owned()))
}

#[test]
fn a_turn_is_told_with_its_reasons_and_its_end() {
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
        &[("1", r#"working None None None Some("grep")"#)],
    );
    shows(
        vec![
            helper(AgentEvent::prompt_opened("p", Prompt::question("Which?"))),
            helper(AgentEvent::progress_changed(Some(7))),
            run(&["build"], &["deploy"]),
        ],
        &[
            ("1", r#"blocked Some("question") Some(7) None Some("Which?")"#),
            ("2", r#"working None None Some("build") None"#),
            ("3", r#"blocked None None Some("deploy") Some("Workflow needs attention")"#),
        ],
    );
    shows(
        vec![helper(AgentEvent::agent_settled()), run(&["deploy"], &[])],
        &[("3", r#"working None None Some("deploy") None"#)],
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
fn a_rest_waits_for_work_to_go_on() {
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
fn at_the_end_an_outcome_stays_and_the_rest_goes() {
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
        // Nobody waits for an end to settle.
        world.say(end);
        world.end();
        let shown: Vec<_> =
            world.store.iter().map(|(_, record)| record.state.to_string()).collect();
        assert_eq!(shown, Vec::from_iter(left));
    }
}

#[test]
fn what_others_report_below_the_root_stays_while_we_are_there() {
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
fn a_label_becomes_a_name_that_a_terminal_takes() {
    let name = |label: &str| {
        app_name(&AgentLabel::parse(label).unwrap()).map(|name| name.as_str().to_owned())
    };
    assert_eq!(name("My Agent/2").as_deref(), Some("my-agent-2"));
    assert_eq!(name(&"x".repeat(80)).map(|name| name.len()), Some(32));
    assert_eq!(name("日本"), None);
}

fn event() -> impl Strategy<Value = AgentEvent> {
    let agent = proptest::sample::select(vec!["main", "a", "b", "c"]).prop_map(EventId::from);
    let id = proptest::sample::select(vec!["1", "2", "3"]);
    let text = "[a-z]{0,3}|\u{1b}]0;x\u{7}|\n\u{202e}x";
    let runs = || proptest::collection::vec("[x-z]", 0..3);
    let outcomes = vec![TurnOutcome::Done, TurnOutcome::Error, TurnOutcome::Cancelled];
    let outcome = proptest::option::of(proptest::sample::select(outcomes));
    let states = vec![ReportState::Idle, ReportState::Working, ReportState::Blocked];
    let state = (proptest::sample::select(states), any::<bool>());
    let own = prop_oneof![
        4 => Just(AgentEvent::agent_started()),
        3 => (outcome, text).prop_map(|(outcome, text)| match outcome {
            Some(outcome) => AgentEvent::agent_settled().with_outcome(outcome, Some(text)),
            None => AgentEvent::agent_settled(),
        }),
        2 => (id.clone(), text).prop_map(|(id, text)| AgentEvent::tool_started(id, text)),
        2 => (id.clone(), text).prop_map(|(id, text)| AgentEvent::prompt_opened(id, Prompt::auth(text))),
        2 => proptest::option::of(any::<u8>()).prop_map(AgentEvent::progress_changed),
    ];
    prop_oneof![
        12 => (own, agent).prop_map(|(event, agent)| event.of_agent(Some(agent))),
        2 => id.clone().prop_map(AgentEvent::tool_finished),
        2 => id.prop_map(AgentEvent::prompt_closed),
        2 => (runs(), runs()).prop_map(|(running, waiting)| AgentEvent::workflow_snapshot("f", running, waiting)),
        1 => (state, text).prop_map(|((state, settles), text)| {
            let set = if settles { AgentEvent::state_settled } else { AgentEvent::state_set };
            set(state, Some(text))
        }),
        1 => text.prop_map(|text| AgentEvent::title_changed(Some(text))),
        1 => Just(AgentEvent::session_ended()),
        1 => Just(AgentEvent::Release),
    ]
}

proptest! {
    #[test]
    fn a_terminal_comes_to_show_what_is_true_and_is_not_told_too_often(
        said in proptest::collection::vec((event(), 0..400_u64), 1..40),
        settle in 0..400_u64,
    ) {
        let config = Config { settle: Duration::from_millis(settle), ..Config::default() };
        let mut world = World::new(config);
        for (event, later) in said {
            world.say([event]);
            let until = world.now + Duration::from_millis(later);
            while let Some(wake) = world.step().filter(|wake| *wake <= until) {
                world.now = wake;
            }
            world.now = until;
        }
        world.rest();
        world.assert_true();
        prop_assert!(world.wrote.windows(2).all(|two| two[0] + PACE <= two[1]));
        world.step();
        let wrote = world.wrote.len();
        world.now += 10 * PACE;
        prop_assert!(world.step().is_none() && world.wrote.len() == wrote, "nothing is said twice");

        let outcome = world.activity.program(&world.config).map(|program| program.root.state);
        world.end();
        let left: Vec<_> = world.store.iter().map(|(id, record)| (id.is_none(), record.state.to_string())).collect();
        let stays = outcome.filter(|state| matches!(state, State::Done | State::Error));
        prop_assert_eq!(left, Vec::from_iter(stays.map(|state| (true, state.as_str().to_owned()))));
    }
}
