//! Saying it: to the pane's reporter, or straight to Herdr.

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
use super::supervised::give_a_supervisor;
use super::way::{Way, hello, late, left, named_supervisor, nobody, way};
use crate::commands::{KEPT, settings};
use crate::control::{Answers, Refusal, is_timeout};
use crate::exit::{Exit, Stop, say_why};
use crate::output::say;
use crate::place::Place;
use crate::program_status::Terminal;
use crate::settings::Loaded;
use crate::wait::blocking;

/// How long the whole may take. A hook that waits holds its agent up.
const LIMIT: Duration = Duration::from_secs(1);
/// Between two ways that are tried.
const AGAIN: Duration = Duration::from_millis(10);

/// One report of one of these commands.
pub(crate) struct Report {
    common: Common,
    confirm: bool,
    /// The settings, where they have been read.
    loaded: Option<Loaded>,
    /// The program of the agent that calls, if it gets a supervisor where nobody
    /// reports for the pane.
    agent: Option<&'static str>,
}

impl Report {
    pub(crate) fn new(common: Common, confirm: bool) -> Self {
        Self { common, confirm, loaded: None, agent: None }
    }

    /// Gives the agent that runs this program a supervisor where nobody reports
    /// for the pane.
    pub(crate) fn supervising(mut self, program: &'static str) -> Self {
        self.agent = Some(program);
        self
    }

    /// Reports what a hook of an agent says, with these settings.
    pub(crate) fn hook(mut self, loaded: Loaded, events: Vec<AgentEvent>) -> Exit {
        self.loaded = Some(loaded);
        self.events((events.into_iter().map(Event::of).collect(), Exit::Fine))
    }

    /// Reports events that were read, and how that went.
    pub(super) fn events(self, (events, read): (Vec<Event>, Exit)) -> Exit {
        let (asked, confirm) = (self.asked(), self.confirm);
        match self.report(&events, read) {
            Exit::NotApplied if !confirm => Exit::Fine,
            exit if asked => exit,
            _ => Exit::Fine,
        }
    }

    pub(crate) fn refuse(self, wrong: &str) -> Exit {
        say(wrong);
        if self.asked() { Exit::Usage } else { Exit::Fine }
    }

    fn report(mut self, events: &[Event], read: Exit) -> Exit {
        let started = started();
        let read_now = || settings(self.common.settings.clone());
        let loaded = match self.loaded.take().map_or_else(read_now, Ok) {
            Ok(loaded) => loaded,
            Err(stop) => return say_why(Err(stop)),
        };
        let config = &loaded.settings.config;
        if !config.enabled || config.role != Role::Interactive {
            if self.confirm {
                say("not shown: the settings let nothing be reported (enabled, role)");
                return Exit::NotApplied;
            }
            return read;
        }
        if events.is_empty() {
            return read;
        }
        let outcome = say_why(self.deliver(&loaded, started, events));
        if read == Exit::Fine { outcome } else { read }
    }

    fn asked(&self) -> bool {
        self.common.strict || self.confirm
    }

    /// Finds out who takes the report and has it taken, within the limit.
    fn deliver(&self, loaded: &Loaded, started: u64, events: &[Event]) -> Result<Exit, Stop> {
        let until = Instant::now() + LIMIT;
        let config = &loaded.settings.config;
        let wanted = events.iter().rev().find_map(Event::state);
        let place = self.common.pane.find();
        let pane = match &place {
            Ok(Place::Pane(pane)) => Some((pane, LeaseFile::of_pane(config, pane))),
            _ => None,
        };
        let confirmed = |exit| match &pane {
            Some((pane, _)) => self.confirmed(exit, wanted, pane, config, until),
            None => exit,
        };
        let off = matches!(place, Ok(Place::Outside(Absence::SwitchedOff)));
        let mut named = named_supervisor(&self.common.pane, pane.as_ref()).filter(|_| !off);
        if let (Ok(place @ Place::Outside(_)), None) = (&place, &named) {
            let told = tell_terminal(loaded, place, events);
            // Who asked wants to know of a pane.
            return if told && !self.asked() { Ok(Exit::Fine) } else { Err(nobody(self.asked())) };
        }
        let hello = hello(pane.as_ref(), &self.common.settings);
        let lines: Vec<String> = events.iter().filter_map(Event::line).collect();
        let mut agent = self.agent;
        loop {
            let call = match way(named.as_deref(), &place, pane.as_ref(), until, self.asked())? {
                Way::Owner(call) => call,
                Way::Straight(target, shared) => {
                    if agent.take().is_some_and(|it| give_a_supervisor(it, target, config)) {
                        continue;
                    }
                    let (pane, lease) = target;
                    let ttl = self.common.ttl;
                    let shared = shared.as_ref();
                    let once = Once { pane, lease, shared, loaded, ttl, started, until };
                    let (exit, shows) = straight(&once, events);
                    if let Ok(place) = &place {
                        tell_terminal(loaded, place, events);
                    }
                    return Ok(if shows { exit } else { confirmed(exit) });
                }
            };
            let refused = match call.tell(&hello, &lines, self.asked()) {
                Ok(answers) if answers.refused.is_none() => {
                    return Ok(confirmed(self.judge_answers(&answers, events)));
                }
                Ok(answers) => answers.refused,
                Err(error) if is_timeout(&error) => {
                    let why = "the pane's reporter does not answer within 1 s; `doctor` says \
                               which process it is";
                    return Err(Stop(Exit::Unreachable, why.to_owned()));
                }
                // It went without an answer.
                Err(_) => None,
            };
            match refused {
                Some((Refusal::Late, why)) => return Err(late(why, self.asked())),
                Some((Refusal::Foreign | Refusal::OtherAgent, why)) => {
                    return Err(Stop(Exit::Refused, why));
                }
                Some((Refusal::OtherPane, _)) if named.is_some() => named = None,
                Some(_) if left(until).is_zero() => {
                    return Err(Stop(Exit::Refused, KEPT.to_owned()));
                }
                None if named.is_some() => {
                    let why = "late: the supervisor has ended".to_owned();
                    return Err(late(why, self.asked()));
                }
                None if left(until).is_zero() => {
                    let why = "the pane's reporter went away without an answer".to_owned();
                    return Err(Stop(Exit::Unreachable, why));
                }
                // The next look finds the pane free, or whoever has it then.
                _ => thread::sleep(AGAIN),
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
        // What was delivered in time is worth a look.
        let limit = left(until).max(LOOK);
        say_why(match blocking(shown(pane, config, limit)) {
            Some(Ok(pane)) if pane.agent.is_none() => {
                Err(Stop(Exit::NotApplied, "not shown: the pane shows no agent".to_owned()))
            }
            Some(Ok(pane)) if pane.agent_status.same_as(&wanted.status()) => Ok(Exit::Fine),
            Some(Ok(pane)) => {
                let status = crate::text::shown(pane.agent_status.as_str());
                Err(Stop(Exit::NotApplied, format!("not shown: the pane shows {status}")))
            }
            Some(Err(error)) => Err(Stop(Exit::Unreachable, error.to_string())),
            None => Ok(Exit::Unreachable),
        })
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
        match judge(answers) {
            _ if !answers.bad_lines.is_empty() => Exit::Usage,
            Err(stop) if self.asked() => say_why(Err(stop)),
            _ => Exit::Fine,
        }
    }
}

/// How long a look at the pane may take at least.
const LOOK: Duration = Duration::from_millis(100);

/// What the answers come to.
fn judge(answers: &Answers) -> Result<(), Stop> {
    let raised = |kinds: &[&str]| {
        answers.diagnostics.iter().rev().find(|(kind, _)| kinds.contains(&kind.as_str()))
    };
    if let Some(state) = answers.states.last() {
        let because = state.reason.as_deref().unwrap_or("nobody knows why");
        let remedy =
            state.remedy.as_deref().map(|remedy| format!("; {remedy}")).unwrap_or_default();
        match state.receipt.as_str() {
            "ignored" | "hidden" => {
                return Err(Stop(Exit::NotApplied, format!("not shown: {because}{remedy}")));
            }
            "failed" => {
                let refused = because == "rejected";
                let exit = if refused { Exit::Refused } else { Exit::Unreachable };
                return Err(Stop(exit, format!("not delivered: {because}{remedy}")));
            }
            "applied" => return Ok(()),
            // Replaced or not looked at; whether anything goes out at all is
            // said below.
            _ => {}
        }
    }
    if let Some(detail) = &answers.not_ours {
        return Err(Stop(Exit::Refused, detail.clone()));
    }
    if let Some((kind, detail)) = raised(&["foreign_pane", "deferred", "protocol_rejected"]) {
        return Err(Stop(Exit::Refused, format!("{kind}: {detail}")));
    }
    let Some(Err(reason)) = &answers.flushed else { return Ok(()) };
    let why = raised(&["connect_failed", "timeout", "not_pane_api"]);
    let why = match why {
        Some((kind, detail)) => format!("{kind}: {detail}"),
        None if reason == "timeout" => "not delivered in time".to_owned(),
        None => format!("not delivered: {reason}"),
    };
    Err(Stop(Exit::Unreachable, why))
}

/// Says it to Herdr, and whether the pane was seen to show the state.
fn straight(once: &Once<'_>, events: &[Event]) -> (Exit, bool) {
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
        return (Exit::Unreachable, false);
    };
    let mut answers = Answers::of_once(&reported);
    if !reported.in_time && answers.diagnostics.iter().all(|(kind, _)| kind == "timeout") {
        let detail = "the server does not answer within 1 s";
        answers.diagnostics = vec![("timeout".to_owned(), detail.to_owned())];
    }
    let shows = answers.states.last().is_some_and(|state| state.receipt == "applied");
    (say_why(judge(&answers).map(|()| exit)), shows)
}

/// Tells the terminal, if it is to be told; whether it is.
fn tell_terminal(loaded: &Loaded, place: &Place, events: &[Event]) -> bool {
    let Some(terminal) = Terminal::of(&loaded.settings, place, None) else { return false };
    let events = events.iter().filter_map(|event| match &event.what {
        EventLine::Event(what) => Some(what.clone()),
        _ => None,
    });
    terminal.tell_once(&loaded.settings, events);
    true
}
