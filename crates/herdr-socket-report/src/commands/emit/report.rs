//! Saying it: to the pane's reporter, or straight to Herdr.

use std::io::{self, IsTerminal as _};
use std::thread;
use std::time::{Duration, Instant};

use herdr_proto::ReportState;
use herdr_reporter::sidecar::shown;
use herdr_reporter::sidecar::{Activity, EventLine, LeaseFile};
use herdr_reporter::{AgentEvent, Config, Role};
use herdr_socket_transport::{Absence, Endpoint};

use super::Common;
use super::event::Event;
use super::once::{Once, started};
use super::way::{Untaken, Way, hello, left, named_supervisor, way};
use crate::commands::{KEPT, settings};
use crate::control::{Answers, Call, Hello, Refusal, is_timeout};
use crate::exit::Exit;
use crate::output::say;
use crate::place::Place;
use crate::program_status::Terminal;
use crate::settings::Loaded;

/// How long the whole may take. A hook that waits holds its agent up.
const LIMIT: Duration = Duration::from_secs(1);
/// Between two ways that are tried.
const AGAIN: Duration = Duration::from_millis(10);

/// One report of one of these commands.
pub(super) struct Report {
    common: Common,
    /// The outcome is asked for.
    confirm: bool,
}

/// What became of telling an owner.
enum Told {
    /// It was taken.
    Taken(Answers),
    /// The pane is another one's than the supervisor's, or it is let go.
    NotHere(Refusal),
    /// The owner went without an answer.
    Gone,
}

impl Report {
    pub(super) fn new(common: Common, confirm: bool) -> Self {
        Self { common, confirm }
    }

    pub(super) fn event(self, event: AgentEvent) -> Exit {
        self.events((vec![Event::of(event)], Exit::Fine))
    }

    /// Reports events that were read, and how that went.
    pub(super) fn events(self, (events, read): (Vec<Event>, Exit)) -> Exit {
        let (strict, confirm) = (self.common.strict || self.confirm, self.confirm);
        let exit = self.report(&events, read);
        let asked = confirm || exit != Exit::NotApplied;
        if strict && asked { exit } else { Exit::Fine }
    }

    /// Something about the arguments is wrong.
    pub(super) fn refuse(self, wrong: &str) -> Exit {
        say(wrong);
        if self.common.strict || self.confirm { Exit::Usage } else { Exit::Fine }
    }

    fn report(self, events: &[Event], mut exit: Exit) -> Exit {
        let started = started();
        let loaded = match settings(self.common.settings.clone()) {
            Ok(loaded) => loaded,
            Err(exit) => return exit,
        };
        let config = &loaded.settings.config;
        if !config.enabled || config.role != Role::Interactive {
            if self.confirm {
                say("not shown: the settings let nothing be reported (enabled, role)");
                return Exit::NotApplied;
            }
            return exit;
        }
        if events.is_empty() {
            return exit;
        }
        let outcome = self.deliver(&loaded, started, events).unwrap_or_else(|untaken| {
            match untaken {
                Untaken::Nobody => {
                    let told = self.tell_terminal(&loaded, events);
                    if told && !self.confirm { Exit::Fine } else { self.nobody() }
                }
                Untaken::Late(why) => {
                    // Every hook that outlives its agent is; nobody can help it.
                    if self.common.strict || self.confirm {
                        say(&why);
                    }
                    Exit::Refused
                }
                Untaken::Failed(exit, why) => {
                    say(&why);
                    exit
                }
            }
        });
        if exit == Exit::Fine {
            exit = outcome;
        }
        exit
    }

    /// Outside Herdr there is nothing to do, and nothing wrong with it, unless
    /// somebody waits for what is not going to happen.
    fn nobody(&self) -> Exit {
        if self.confirm || io::stderr().is_terminal() {
            say("nothing is reported: this is not a pane of Herdr");
        }
        if self.confirm { Exit::Unreachable } else { Exit::Fine }
    }

    /// Tells the terminal, if it is to be told; whether it is.
    fn tell_terminal(&self, loaded: &Loaded, events: &[Event]) -> bool {
        let place = self.common.pane.find(|name| std::env::var_os(name));
        let terminal = place.ok().and_then(|place| Terminal::of(&loaded.settings, &place, None));
        let Some(terminal) = terminal else { return false };
        let events = events.iter().filter_map(|event| match &event.what {
            EventLine::Event(what) => Some(what.clone()),
            _ => None,
        });
        terminal.tell_once(&loaded.settings, events);
        true
    }

    /// Finds out who takes the report and has it taken, within the limit.
    fn deliver(&self, loaded: &Loaded, started: u64, events: &[Event]) -> Result<Exit, Untaken> {
        let until = Instant::now() + LIMIT;
        let config = &loaded.settings.config;
        let wanted = events.iter().rev().find_map(Event::state);
        let place = self.common.pane.find(|name| std::env::var_os(name));
        if let Ok(Place::Outside(Absence::SwitchedOff)) = place {
            return Err(Untaken::Nobody);
        }
        let pane = match &place {
            Ok(Place::Pane(pane)) => Some((pane, LeaseFile::of_pane(config, pane))),
            _ => None,
        };
        let mut named = named_supervisor(&self.common.pane, pane.as_ref());
        let hello = hello(pane.as_ref(), &self.common.settings);
        loop {
            let (call, is_supervisor) = match way(named.as_deref(), &place, pane.as_ref(), until)? {
                Way::Supervisor(call) => (call, true),
                Way::Owner(call) => (call, false),
                Way::Straight(pane, lease, shared) => {
                    let ttl = self.common.ttl;
                    let (pane, lease) = (&pane, &lease);
                    let once = Once { pane, lease, loaded, ttl, started, until };
                    let exit = straight(&once, events);
                    self.tell_terminal(loaded, events);
                    drop(shared);
                    return Ok(self.confirmed(exit, wanted, pane, config, until));
                }
            };
            match self.tell(call, &hello, events)? {
                Told::Taken(answers) => {
                    let exit = self.judge_answers(&answers, events);
                    return Ok(match &pane {
                        Some((pane, _)) => self.confirmed(exit, wanted, pane, config, until),
                        None => exit,
                    });
                }
                Told::NotHere(Refusal::OtherPane) if is_supervisor => named = None,
                Told::NotHere(_) if left(until).is_zero() => {
                    return Err(Untaken::Failed(Exit::Refused, KEPT.to_owned()));
                }
                Told::Gone if is_supervisor => {
                    return Err(Untaken::Late("late: the supervisor has ended".to_owned()));
                }
                Told::Gone if left(until).is_zero() => {
                    let why = "the pane's reporter went away without an answer".to_owned();
                    return Err(Untaken::Failed(Exit::Unreachable, why));
                }
                // The next look finds the pane free, or whoever has it then.
                Told::Gone | Told::NotHere(_) => thread::sleep(AGAIN),
            }
        }
    }

    /// Looks whether the pane shows the state, if that is asked for: an owner
    /// may know better than this command, and Herdr better than both.
    fn confirmed(
        &self,
        exit: Exit,
        wanted: Option<ReportState>,
        pane: &Endpoint,
        config: &Config,
        until: Instant,
    ) -> Exit {
        let Some(wanted) = wanted.filter(|_| self.confirm && exit == Exit::Fine) else {
            return exit;
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return Exit::Unreachable };
        // What was delivered in time is worth a look.
        let limit = left(until).max(LOOK);
        match runtime.block_on(shown(pane, config, limit)) {
            Ok(pane) if pane.agent.is_none() => {
                say("not shown: the pane shows no agent");
                Exit::NotApplied
            }
            Ok(pane) if pane.agent_status.same_as(&wanted.status()) => Exit::Fine,
            Ok(pane) => {
                say(&format!(
                    "not shown: the pane shows {}",
                    crate::text::shown(pane.agent_status.as_str())
                ));
                Exit::NotApplied
            }
            Err(error) => {
                say(&error.to_string());
                Exit::Unreachable
            }
        }
    }

    fn tell(&self, call: Call, hello: &Hello, events: &[Event]) -> Result<Told, Untaken> {
        let lines: Vec<String> = events.iter().filter_map(Event::line).collect();
        let flush = self.common.strict || self.confirm;
        match call.tell(hello, &lines, flush) {
            Ok(Answers { refused: Some((because, detail)), .. }) => match because {
                Refusal::OtherPane | Refusal::LetGo => Ok(Told::NotHere(because)),
                Refusal::Late => Err(Untaken::Late(detail)),
                Refusal::Foreign | Refusal::OtherAgent => {
                    Err(Untaken::Failed(Exit::Refused, detail))
                }
            },
            Ok(answers) => Ok(Told::Taken(answers)),
            Err(error) if is_timeout(&error) => {
                let why = format!(
                    "the pane's reporter does not answer within {} s; `doctor` says which process \
                     it is",
                    LIMIT.as_secs()
                );
                Err(Untaken::Failed(Exit::Unreachable, why))
            }
            Err(_) => Ok(Told::Gone),
        }
    }

    fn judge_answers(&self, answers: &Answers, events: &[Event]) -> Exit {
        let told: Vec<&Event> = events.iter().filter(|event| event.line().is_some()).collect();
        for wrong in &answers.bad_lines {
            // The reporter counts the lines that it gets.
            let numbered = wrong.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
            let place = numbered.and_then(|(line, _)| line.parse::<usize>().ok()?.checked_sub(1));
            match (numbered, place.and_then(|place| told.get(place))) {
                (Some((_, wrong)), Some(event)) => event.complain(wrong),
                _ => say(wrong),
            }
        }
        let asked = self.common.strict || self.confirm;
        if answers.bad_lines.is_empty() { judge(answers, asked) } else { Exit::Usage }
    }
}

/// How long a look at the pane may take at least.
const LOOK: Duration = Duration::from_millis(100);

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
    if let Some(detail) = &answers.not_ours {
        say(detail);
        return Exit::Refused;
    }
    let refusals = ["foreign_pane", "deferred", "protocol_rejected"];
    if let Some(Err(reason)) = answers.flushed.as_ref().filter(|_| raised(&refusals).is_none()) {
        let why = raised(&["connect_failed", "timeout", "not_pane_api"]);
        say(&match why {
            Some((kind, detail)) => format!("{kind}: {detail}"),
            None if reason == "timeout" => "not delivered in time".to_owned(),
            None => format!("not delivered: {reason}"),
        });
        return Exit::Unreachable;
    }
    match raised(&refusals) {
        Some((kind, detail)) => {
            say(&format!("{kind}: {detail}"));
            Exit::Refused
        }
        None => Exit::Fine,
    }
}

/// Reports to Herdr itself.
fn straight(once: &Once<'_>, events: &[Event]) -> Exit {
    let mut exit = Exit::Fine;
    let mut activity = Activity::default();
    let mut said = Vec::new();
    for event in events {
        // Everything is delivered when this ends, so there is nothing to flush.
        let EventLine::Event(what) = event.what.clone() else { continue };
        if let Err(refused) = activity.apply(what.clone()) {
            event.complain(&refused.to_string());
            exit = Exit::Usage;
        }
        said.push(what);
    }
    let Some(reported) = once.report(said) else {
        say("nothing can be sent");
        return Exit::Unreachable;
    };
    let mut answers = Answers::of_once(&reported);
    if !reported.in_time && answers.diagnostics.iter().all(|(kind, _)| kind == "timeout") {
        let detail = format!("the server does not answer within {} s", LIMIT.as_secs());
        answers.diagnostics = vec![("timeout".to_owned(), detail)];
    }
    match judge(&answers, true) {
        Exit::Fine => exit,
        other => other,
    }
}
