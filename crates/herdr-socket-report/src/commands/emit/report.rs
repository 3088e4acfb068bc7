//! Saying it: to the pane's reporter, or straight to Herdr.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use herdr_proto::{AgentLabel, PaneGet};
use herdr_reporter::{AgentEvent, EventLine, LeaseFile, ReasonLabel, Role, Source, source_for};
use herdr_socket_transport::{Absence, Client, Endpoint, Options};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::Common;
use crate::commands::settings_of;
use crate::control::{Answers, Call, HERDR_REPORT_SOCKET, is_timeout};
use crate::direct::{Batch, Direct, Problem};
use crate::exit::Exit;
use crate::output::say;
use crate::place::Place;
use crate::settings::Settings;
use crate::wait::wait_for;

/// How long a look at the pane may take.
const LOOK: Duration = Duration::from_millis(500);
/// How long a pane's reporter may take to answer.
const OWNER: Duration = Duration::from_secs(2);
/// How long a guard that is starting is waited for where nothing but its socket
/// is known.
const START: Duration = Duration::from_millis(500);
/// How long a reporter that is starting or ending is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long others that report to the pane at the same time are waited for.
const TURN: Duration = Duration::from_secs(1);

/// One report of one of these commands.
pub(crate) struct Report {
    common: Common,
    /// The outcome is asked for.
    confirm: bool,
    /// The agent whose hook this is.
    hook: Option<&'static str>,
}

/// An event that is to be reported.
struct Event {
    /// Its place among the arguments, from 1.
    number: usize,
    /// As one line.
    line: String,
    what: EventLine,
}

/// Who takes the report.
enum Way {
    /// The pane's reporter.
    Owner(Call),
    /// Herdr itself, while the lease is shared.
    Straight(Endpoint, LeaseFile, Option<File>),
}

impl Report {
    pub(crate) fn new(common: Common, confirm: bool) -> Self {
        Self { common, confirm, hook: None }
    }

    /// Reports what a hook of an agent says. `first_title` is for a pane that
    /// has none.
    pub(crate) fn hook(
        mut self,
        agent: &'static str,
        mut events: Vec<Value>,
        first_title: Option<String>,
    ) -> Exit {
        self.hook = Some(agent);
        if events.is_empty() {
            return Exit::Fine;
        }
        if let Some(title) = first_title.filter(|_| !self.is_titled()) {
            events.push(json!({"event": "title_changed", "title": title}));
        }
        let lines: Vec<_> = events.iter().map(Value::to_string).collect();
        self.lines(&lines)
    }

    /// Whether the pane has a title, as far as that can be told.
    fn is_titled(&self) -> bool {
        let Ok(Place::Pane(pane)) = self.common.pane.find(|name| std::env::var_os(name)) else {
            return false;
        };
        let look = async {
            let client = Client::new(pane.socket(), Options::default().deadline(LOOK));
            client.call(&PaneGet::new(pane.pane().clone())).await
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let looked = runtime.ok().and_then(|runtime| runtime.block_on(look).ok());
        looked.is_some_and(|looked| looked.pane.title.is_some())
    }

    pub(crate) fn event(self, event: &Value) -> Exit {
        self.lines(&[event.to_string()])
    }

    /// Reports event lines.
    pub(crate) fn lines(self, lines: &[String]) -> Exit {
        let (strict, confirm) = (self.common.strict || self.confirm, self.confirm);
        let exit = self.report(lines);
        let asked = confirm || exit != Exit::NotApplied;
        if strict && asked { exit } else { Exit::Fine }
    }

    /// Something about the arguments is wrong.
    pub(crate) fn refuse(self, wrong: &str) -> Exit {
        say(wrong);
        if self.common.strict || self.confirm { Exit::Usage } else { Exit::Fine }
    }

    fn report(self, lines: &[String]) -> Exit {
        let several = lines.len() > 1;
        let (mut events, mut exit) = read(lines);
        let named = self.hook.map(str::to_owned);
        let loaded = match settings_of(self.common.settings.clone(), named) {
            Ok(loaded) => loaded.settings,
            Err(exit) => return exit,
        };
        let config = &loaded.config;
        let silent = config.message == Source::None || config.reason_label == ReasonLabel::Off;
        if self.hook.is_some() && silent {
            // A hook's label is the reason of a block.
            events.retain(|event| {
                !matches!(event.what, EventLine::Event(AgentEvent::LabelsChanged { .. }))
            });
        }
        let active = loaded.config.enabled && loaded.config.role == Role::Interactive;
        if !active || events.is_empty() {
            return exit;
        }
        let way = match self.way(&loaded) {
            Ok(Some(way)) => way,
            Ok(None) => return exit,
            Err(other) => return other,
        };
        let outcome = match way {
            Way::Owner(call) => self.tell_the_owner(call, &events, several),
            Way::Straight(pane, lease, shared) => {
                let _turn = take_turn(&lease);
                let outcome = self.straight(&pane, &loaded, events, several);
                drop(shared);
                outcome
            }
        };
        if exit == Exit::Fine {
            exit = outcome;
        }
        exit
    }

    /// Finds out who takes the report; nobody does outside Herdr.
    fn way(&self, settings: &Settings) -> Result<Option<Way>, Exit> {
        let place = self.common.pane.find(|name| std::env::var_os(name));
        if let Ok(Place::Outside(Absence::SwitchedOff)) = place {
            return Ok(None);
        }
        // A scrubbed environment still has this one.
        let named = std::env::var_os(HERDR_REPORT_SOCKET).map(PathBuf::from);
        if let Some(path) = named.filter(|_| !self.common.pane.any()) {
            // There it is the only way, and a guard may only be starting: the
            // command does not wait for one that is late.
            let scrubbed = matches!(place, Ok(Place::Outside(_)));
            let limit = if scrubbed { START } else { Duration::ZERO };
            if let Some(call) = wait_for(limit, || Call::to(&path, OWNER).ok()) {
                return Ok(Some(Way::Owner(call)));
            }
        }
        let pane = match place {
            Ok(Place::Pane(pane)) => pane,
            Ok(Place::Outside(_)) => return Ok(None),
            Ok(Place::Broken(why)) => {
                say(&format!("misconfigured: {why}"));
                return Err(Exit::Unreachable);
            }
            Err(wrong) => {
                say(&wrong);
                return Err(Exit::Usage);
            }
        };
        let lease = LeaseFile::of_pane(&settings.config, &pane);
        let socket = lease.control_socket();
        let way = wait_for(PATIENCE, || {
            if let Ok(call) = Call::to(&socket, OWNER) {
                return Some(Way::Owner(call));
            }
            match lease.try_share() {
                Ok(None) => None,
                Ok(shared) => Some(Way::Straight(pane.clone(), lease.clone(), shared)),
                // A folder that cannot be written to keeps nobody from
                // reporting.
                Err(_) => Some(Way::Straight(pane.clone(), lease.clone(), None)),
            }
        });
        if way.is_none() {
            say("deferred: a reporter has the pane and takes no events from others");
            return Err(Exit::Refused);
        }
        Ok(way)
    }

    /// Reports to Herdr itself.
    fn straight(
        &self,
        pane: &Endpoint,
        settings: &Settings,
        events: Vec<Event>,
        several: bool,
    ) -> Exit {
        let config = &settings.config;
        let Some(agent) = AgentLabel::normalize(&settings.agent) else { return Exit::Usage };
        // Herdr reads the state of an agent that it knows.
        let beside = self.hook.is_some() && agent.is_known();
        let source = config.source.clone().unwrap_or_else(|| source_for(&agent));
        let direct = Direct::new(pane, source, agent, self.common.ttl, config);
        let mut batch = Batch::default();
        let mut exit = Exit::Fine;
        for Event { number, what, .. } in events {
            // Everything is delivered when this ends, so there is nothing to flush.
            let EventLine::Event(event) = what else { continue };
            if let Some(refused) = batch.add(event) {
                complain_of(number, &refused, several);
                exit = Exit::Usage;
            }
        }
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => {
                say(&format!("nothing can be sent: {error}"));
                return Exit::Unreachable;
            }
        };
        let reported: Result<(), Problem> = runtime.block_on(async {
            direct.check_place(config, None).await?;
            if beside {
                batch.report_beside(&direct, config).await
            } else {
                batch.report(&direct, config).await
            }
        });
        match reported {
            Ok(()) => exit,
            Err(problem) => {
                say(&problem.to_string());
                problem.exit()
            }
        }
    }

    fn tell_the_owner(&self, call: Call, events: &[Event], several: bool) -> Exit {
        // The answer to a flush among them would be taken for that to ours.
        let told = events.iter().filter(|event| !matches!(event.what, EventLine::Flush { .. }));
        let (numbers, lines): (Vec<usize>, Vec<String>) =
            told.map(|event| (event.number, event.line.clone())).unzip();
        let flush = self.common.strict || self.confirm;
        let answers = match call.tell(&lines, flush) {
            Ok(answers) => answers,
            Err(error) if is_timeout(&error) => {
                let limit = OWNER.as_secs();
                say(&format!(
                    "the pane's reporter does not answer within {limit} s; `doctor` says which \
                     process it is"
                ));
                return Exit::Unreachable;
            }
            Err(error) => {
                say(&format!("the pane's reporter does not answer: {error}"));
                return Exit::Unreachable;
            }
        };
        for wrong in &answers.bad_lines {
            // The reporter counts the lines that it gets.
            let numbered = wrong.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
            let place = numbered.and_then(|(line, _)| line.parse::<usize>().ok()?.checked_sub(1));
            match (numbered, place.and_then(|place| numbers.get(place))) {
                (Some((_, wrong)), Some(number)) => complain_of(*number, wrong, several),
                _ => say(wrong),
            }
        }
        if answers.bad_lines.is_empty() { judge(&answers, flush) } else { Exit::Usage }
    }
}

/// Event lines, each on one line, and the events in them. What is wrong is
/// said.
fn read(lines: &[String]) -> (Vec<Event>, Exit) {
    let mut events = Vec::new();
    let mut exit = Exit::Fine;
    for (number, line) in (1..).zip(lines) {
        match EventLine::parse(line.as_bytes()) {
            Ok(Some(what)) => events.push(Event { number, line: one_line(line), what }),
            Ok(None) => {}
            Err(wrong) => {
                let wrong = if holds_several(line) {
                    "several JSON values; give each event an argument of its own".to_owned()
                } else {
                    wrong.to_string()
                };
                complain_of(number, &wrong, lines.len() > 1);
                exit = Exit::Usage;
            }
        }
    }
    (events, exit)
}

/// Says what is wrong with an event, and with which if there are several.
fn complain_of(number: usize, wrong: &str, several: bool) {
    say(&if several { format!("event {number}: {wrong}") } else { wrong.to_owned() });
}

/// Whether it is one event after the other, as `run` reads them from lines.
fn holds_several(text: &str) -> bool {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    matches!((values.next(), values.next()), (Some(Ok(_)), Some(Ok(_))))
}

/// JSON may be laid out over several lines.
fn one_line(json: &str) -> String {
    let value = serde_json::from_str::<Value>(json);
    value.map_or_else(|_| json.to_owned(), |value| value.to_string())
}

/// What the reporter's answers come to.
fn judge(answers: &Answers, asked: bool) -> Exit {
    if !asked {
        return Exit::Fine;
    }
    let raised = |kinds: &[&str]| {
        answers.diagnostics.iter().rev().find(|(kind, _)| kinds.contains(&kind.as_str()))
    };
    if let Some(state) = answers.states.last() {
        let because = state.reason.as_deref().unwrap_or("nobody knows why");
        let remedy =
            state.remedy.as_deref().map(|remedy| format!("; {remedy}")).unwrap_or_default();
        match state.receipt.as_str() {
            "ignored" | "hidden" => {
                say(&format!("not shown: {because}{remedy}"));
                return Exit::NotApplied;
            }
            "failed" => {
                say(&format!("not delivered: {because}{remedy}"));
                return if because == "rejected" { Exit::Refused } else { Exit::Unreachable };
            }
            "applied" => return Exit::Fine,
            // Replaced or not looked at; whether anything goes out at all is
            // said below.
            _ => {}
        }
    }
    if answers.flushed != Some(true) {
        let why = raised(&["connect_failed", "timeout", "not_pane_api"]);
        say(&match why {
            Some((kind, detail)) => format!("{kind}: {detail}"),
            None => "not delivered in time".to_owned(),
        });
        return Exit::Unreachable;
    }
    match raised(&["foreign_pane", "deferred", "protocol_rejected"]) {
        Some((kind, detail)) => {
            say(&format!("{kind}: {detail}"));
            Exit::Refused
        }
        None => Exit::Fine,
    }
}

/// Waits for the others that report to the pane right now: what a read-back
/// shows is then what the last one said. One that hangs is not waited for.
fn take_turn(lease: &LeaseFile) -> Option<File> {
    let file = open(&lease.path().with_extension("turn")).ok()?;
    wait_for(TURN, || file.try_lock().ok());
    Some(file)
}

fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;

    File::options().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}
