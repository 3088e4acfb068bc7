//! Delivers a report to the reporter of the pane or straight to Herdr.

use std::thread;
use std::time::{Duration, Instant};

use herdr_reporter::sidecar::{Activity, EventLine, LeaseFile};
use herdr_reporter::{AgentEvent, Config, Role};
use herdr_socket_transport::Absence;

use super::Common;
use super::direct::{DirectReport, started};
use super::event::Event;
use super::hook_supervisor::start_supervisor;
use super::outcome::{complain_about_lines, confirm, judge};
use super::route::{
    Route, Target, find_route, hello, late, named_supervisor, not_in_herdr, time_left,
};
use crate::commands::{KEPT, settings};
use crate::control::{Answers, Refusal, is_timeout};
use crate::exit::{Exit, Stop, say_why};
use crate::output::say;
use crate::place::Place;
use crate::program_status::Terminal;
use crate::settings::Loaded;

/// The time limit of the whole command. An agent waits for its hooks.
const LIMIT: Duration = Duration::from_secs(1);
/// The pause before a route to the pane is looked for again.
const AGAIN: Duration = Duration::from_millis(10);

/// The report of a one-shot.
pub(crate) struct Report {
    common: Common,
    confirm: bool,
    /// The settings, if they have already been read.
    loaded: Option<Loaded>,
    /// The program of the agent whose hook this is. If the pane has no reporter, a supervisor
    /// is started for the agent.
    agent: Option<&'static str>,
}

impl Report {
    pub(crate) fn new(common: Common, confirm: bool) -> Self {
        Self { common, confirm, loaded: None, agent: None }
    }

    /// Starts a supervisor for the agent that runs this program, if the pane has no reporter.
    pub(crate) fn supervising(mut self, program: &'static str) -> Self {
        self.agent = Some(program);
        self
    }

    /// Reports the events of an agent's hook with these settings.
    pub(crate) fn hook(mut self, loaded: Loaded, events: Vec<AgentEvent>) -> Exit {
        self.loaded = Some(loaded);
        self.events((events.into_iter().map(Event::of).collect(), Exit::Fine))
    }

    /// Reports these events. `read` says whether all of them could be read.
    pub(super) fn events(self, (events, read): (Vec<Event>, Exit)) -> Exit {
        let (wants_outcome, confirm) = (self.wants_outcome(), self.confirm);
        match self.report(&events, read) {
            Exit::NotApplied if !confirm => Exit::Fine,
            exit if wants_outcome => exit,
            _ => Exit::Fine,
        }
    }

    pub(crate) fn refuse(self, wrong: &str) -> Exit {
        say(wrong);
        if self.wants_outcome() { Exit::Usage } else { Exit::Fine }
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

    fn wants_outcome(&self) -> bool {
        self.common.strict || self.confirm
    }

    /// Finds the route to the pane and delivers the events within the time limit.
    fn deliver(&self, loaded: &Loaded, started: u64, events: &[Event]) -> Result<Exit, Stop> {
        let until = Instant::now() + LIMIT;
        let config = &loaded.settings.config;
        let wants_outcome = self.wants_outcome();
        let place = self.common.pane.find();
        let pane = match &place {
            Ok(Place::Pane(pane)) => Some((pane, LeaseFile::of_pane(config, pane))),
            _ => None,
        };
        let confirmed = |exit| self.confirmed(exit, events, pane.as_ref(), config, until);
        let off = matches!(place, Ok(Place::Outside(Absence::SwitchedOff)));
        let mut named = named_supervisor(&self.common.pane, pane.as_ref()).filter(|_| !off);
        if let (Ok(place @ Place::Outside(_)), None) = (&place, &named) {
            let told = tell_terminal(loaded, place, events);
            // A caller that asks for the outcome asks for that in a pane.
            return if told && !wants_outcome {
                Ok(Exit::Fine)
            } else {
                Err(not_in_herdr(wants_outcome))
            };
        }
        let hello = hello(pane.as_ref(), &self.common.settings);
        let lines: Vec<String> = events.iter().filter_map(Event::line).collect();
        let mut agent = self.agent;
        loop {
            let call =
                match find_route(named.as_deref(), &place, pane.as_ref(), until, wants_outcome)? {
                    Route::Owner(call) => call,
                    Route::Direct(target, shared) => {
                        if agent.take().is_some_and(|it| start_supervisor(it, target, config)) {
                            continue;
                        }
                        let (pane, lease) = target;
                        let ttl = self.common.ttl;
                        let shared = shared.as_ref();
                        let report =
                            DirectReport { pane, lease, shared, loaded, ttl, started, until };
                        let (exit, is_shown) = deliver_directly(&report, events);
                        if let Ok(place) = &place {
                            tell_terminal(loaded, place, events);
                        }
                        return Ok(if is_shown { exit } else { confirmed(exit) });
                    }
                };
            let refused = match call.tell(&hello, &lines, wants_outcome) {
                Ok(answers) if answers.refused.is_none() => {
                    return Ok(confirmed(self.judge_answers(&answers, events)));
                }
                Ok(answers) => answers.refused,
                Err(error) if is_timeout(&error) => {
                    let why = "the pane's reporter does not answer within 1 s; `doctor` says \
                               which process it is";
                    return Err(Stop(Exit::Unreachable, why.to_owned()));
                }
                // The reporter ended without an answer.
                Err(_) => None,
            };
            match refused {
                Some((Refusal::Late, why)) => return Err(late(why, wants_outcome)),
                Some((Refusal::Foreign | Refusal::OtherAgent, why)) => {
                    return Err(Stop(Exit::Refused, why));
                }
                Some((Refusal::OtherPane, _)) if named.is_some() => named = None,
                Some(_) if time_left(until).is_zero() => {
                    return Err(Stop(Exit::Refused, KEPT.to_owned()));
                }
                None if named.is_some() => {
                    let why = "late: the supervisor has ended".to_owned();
                    return Err(late(why, wants_outcome));
                }
                None if time_left(until).is_zero() => {
                    let why = "the pane's reporter went away without an answer".to_owned();
                    return Err(Stop(Exit::Unreachable, why));
                }
                // The next try finds the lease free or the next reporter.
                _ => thread::sleep(AGAIN),
            }
        }
    }

    /// The outcome after reading the pane back, with `--confirm`.
    fn confirmed(
        &self,
        exit: Exit,
        events: &[Event],
        pane: Option<&Target<'_>>,
        config: &Config,
        until: Instant,
    ) -> Exit {
        let wanted = events.iter().rev().find_map(Event::state);
        match (pane, wanted) {
            (Some((pane, _)), Some(wanted)) if self.confirm && exit == Exit::Fine => {
                say_why(confirm(wanted, pane, config, until))
            }
            _ => exit,
        }
    }

    fn judge_answers(&self, answers: &Answers, events: &[Event]) -> Exit {
        complain_about_lines(answers, events);
        match judge(answers) {
            _ if !answers.bad_lines.is_empty() => Exit::Usage,
            Err(stop) if self.wants_outcome() => say_why(Err(stop)),
            _ => Exit::Fine,
        }
    }
}

/// Reports straight to Herdr. The second value says whether the pane was seen to show the
/// state.
fn deliver_directly(report: &DirectReport<'_>, events: &[Event]) -> (Exit, bool) {
    let mut exit = Exit::Fine;
    let mut activity = Activity::default();
    let mut sent = Vec::new();
    for event in events {
        // A flush has no effect here, because everything has been sent when this returns.
        let EventLine::Event(what) = event.what.clone() else { continue };
        if let Err(refused) = activity.apply(what.clone()) {
            event.complain(&refused.to_string());
            exit = Exit::Usage;
        }
        sent.push(what);
    }
    let Some(reported) = report.send(sent) else {
        say("nothing can be sent");
        return (Exit::Unreachable, false);
    };
    let mut answers = Answers::of_direct_report(&reported);
    if !reported.in_time && answers.diagnostics.iter().all(|(kind, _)| kind == "timeout") {
        let detail = "the server does not answer within 1 s";
        answers.diagnostics = vec![("timeout".to_owned(), detail.to_owned())];
    }
    let is_shown = answers.states.last().is_some_and(|state| state.receipt == "applied");
    (say_why(judge(&answers).map(|()| exit)), is_shown)
}

/// Reports to the terminal, if it is to be told. Returns whether it is.
fn tell_terminal(loaded: &Loaded, place: &Place, events: &[Event]) -> bool {
    let Some(terminal) = Terminal::of(&loaded.settings, place, None) else { return false };
    let events = events.iter().filter_map(|event| match &event.what {
        EventLine::Event(what) => Some(what.clone()),
        _ => None,
    });
    terminal.tell_once(&loaded.settings, events);
    true
}
