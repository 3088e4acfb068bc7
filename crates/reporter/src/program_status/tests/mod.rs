//! What a terminal shows after any events at any times. The terminal is another author's
//! implementation of the protocol.

mod cases;
mod properties;

use std::time::Duration;

use herdr_program_status::AppName;
use termstate_core::scan::{Event, Scanner};
use termstate_store::Store;

use super::pace::Due;
use super::{Pace, encode};
use crate::activity::{Activity, Record};
use crate::config::Config;
use crate::event::{AgentEvent, EventId, TurnOutcome};

const MILLI: Duration = Duration::from_millis(1);
/// The least time between two writes to a terminal.
const WRITE_INTERVAL: Duration = Duration::from_millis(100);

/// A terminal, and everything that writes to it.
struct World {
    activity: Activity,
    config: Config,
    pace: Pace,
    store: Store,
    now: Duration,
    wrote: Vec<Duration>,
    /// The states of the root record, in order.
    states: Vec<String>,
}

impl World {
    fn new(config: Config) -> Self {
        let app = AppName::parse("host").ok();
        Self {
            activity: Activity::default(),
            pace: Pace::new(app, config.settle, 1),
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

    /// Writes what is due. Returns when to write more.
    fn step(&mut self) -> Option<Duration> {
        let program = self.activity.program(&self.config);
        let Due { reports, wake } = self.pace.step(self.now, program.as_ref());
        if !reports.is_empty() {
            self.wrote.push(self.now);
        }
        self.read(&reports);
        wake
    }

    /// Lets time pass until everything is written.
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

    /// Asserts that the terminal shows the whole activity. Everything must be written.
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
