//! The events of a one-shot, and what is wrong with events that cannot be read.

use std::io::Read;

use herdr_proto::ReportState;
use herdr_reporter::AgentEvent;
use herdr_reporter::sidecar::EventLine;
use serde_json::Value;

use crate::exit::Exit;
use crate::input::{Item, LineReader};
use crate::output::say;

/// The limit for stdin, in bytes.
const INPUT_MAX: u64 = 16 * 1024 * 1024;

pub(super) struct Event {
    /// What messages about this event begin with, such as `event 2: `. Empty if there is only
    /// one event.
    name: String,
    pub(super) what: EventLine,
}

impl Event {
    pub(super) fn of(event: AgentEvent) -> Self {
        Self { name: String::new(), what: EventLine::Event(event) }
    }

    /// The line for the reporter. A flush has none, because its answer would be taken for the
    /// answer to the flush of this command.
    pub(super) fn line(&self) -> Option<String> {
        let EventLine::Event(event) = &self.what else { return None };
        serde_json::to_string(event).ok()
    }

    pub(super) fn state(&self) -> Option<ReportState> {
        match &self.what {
            EventLine::Event(AgentEvent::StateSet { state, .. }) => Some(*state),
            _ => None,
        }
    }

    pub(super) fn complain(&self, wrong: &str) {
        say(&format!("{}{wrong}", self.name));
    }
}

/// Reads the arguments, each as one event, and prints what is wrong. JSON at the end that is
/// not an event was appended by an agent and is left out.
pub(super) fn from_arguments(words: &[String]) -> (Vec<Event>, Exit) {
    let mut events = Vec::new();
    let mut exit = Exit::Fine;
    for (number, word) in (1..).zip(words) {
        let name = if words.len() > 1 { format!("event {number}: ") } else { String::new() };
        match EventLine::parse(word.as_bytes()) {
            Ok(Some(what)) => events.push(Event { name, what }),
            Ok(None) => {}
            Err(wrong) => {
                let values = serde_json::Deserializer::from_str(word).into_iter::<Value>();
                let values: Vec<_> = values.take(2).collect();
                let wrong = match &values[..] {
                    [Ok(Value::Object(fields))]
                        if number > 1 && number == words.len() && !fields.contains_key("event") =>
                    {
                        continue;
                    }
                    [Ok(_), Ok(_)] => {
                        "several JSON values; give each event an argument of its own".to_owned()
                    }
                    _ => wrong.to_string(),
                };
                say(&format!("{name}{wrong}"));
                exit = Exit::Usage;
            }
        }
    }
    (events, exit)
}

/// Reads an input to its end, each line as one event, and prints what is wrong.
pub(super) fn from_lines(mut input: impl Read) -> (Vec<Event>, Exit) {
    let mut reader = LineReader::new();
    let (mut items, mut bytes) = (Vec::new(), Vec::new());
    let mut exit = Exit::Fine;
    if let Err(error) = input.by_ref().take(INPUT_MAX).read_to_end(&mut bytes) {
        say(&format!("stdin cannot be read: {error}"));
        exit = Exit::Usage;
    } else if matches!(input.read(&mut [0]), Ok(1..)) {
        say("stdin has over 16 MiB; the rest is left out");
        exit = Exit::Usage;
    }
    reader.push(&bytes, &mut items);
    reader.finish(&mut items);
    let mut events = Vec::new();
    for Item { line, what } in items {
        let name = format!("line {line}: ");
        match what {
            Ok(what) => events.push(Event { name, what }),
            Err(why) => {
                say(&format!("{name}{why}"));
                exit = Exit::Usage;
            }
        }
    }
    (events, exit)
}
