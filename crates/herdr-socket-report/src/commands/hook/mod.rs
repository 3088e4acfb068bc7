//! `hook` and `statusline`: the commands that agents call.

mod payload;
mod statusline;
mod translate;

#[cfg(test)]
mod tests;

use std::io::{IsTerminal, Read};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use herdr_proto::AgentLabel;
use herdr_reporter::AgentEvent;
use herdr_reporter::sidecar::repaired;

pub(crate) use statusline::Args as StatuslineArgs;

use super::agents::{Agent, names};
use super::emit::{Common, Report};
use super::settings_of;
use crate::exit::{Exit, say_why};
use crate::output::{print, say};
use crate::place::Place;
use crate::settings::Loaded;
use crate::text::{alternatives, shown};
use crate::wait::blocking;
use crate::words::{agents, lossy};
use payload::Payload;
use translate::Translation;

/// Handle one hook call of an agent
///
/// Reads the call as the agent makes it, a JSON object on stdin or as the last
/// argument, and reports what it says. `init AGENT` writes the hooks that call
/// this. For an agent that Herdr knows the state is left to Herdr, and title,
/// tokens and the reason of a block are shown.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,
    /// claude, codex, gemini, cursor, copilot or qwen
    #[arg(
        value_name = "AGENT",
        value_parser = lossy(),
        add = agents(names(Agent::has_hooks))
    )]
    caller: String,
    /// The event's name, where the call does not hold it, and the call, where
    /// it does not come on stdin
    #[arg(value_name = "EVENT", num_args = 0..=2, value_parser = lossy())]
    call: Vec<String>,
}

/// The time limit for reading a call from stdin.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time limit for reading the pane.
const LOOK: Duration = Duration::from_millis(200);
/// The longest call that is read, in bytes. It may contain the result of a tool.
const CALL_MAX: u64 = 16 * 1024 * 1024;

impl Args {
    pub(crate) fn run(self) -> Exit {
        let agent = match agent(&self.caller, Agent::has_hooks) {
            Ok(agent) => agent,
            Err(wrong) => return refuse(self.common, &wrong),
        };
        let (calls, mut events): (Vec<_>, Vec<_>) =
            self.call.into_iter().partition(|word| word.trim_start().starts_with('{'));
        let event = events.pop();
        if let Some(answer) = agent.answer(event.as_deref()) {
            print(answer.as_bytes(), std::io::stdout().lock());
        }
        let call = calls.into_iter().next().map(String::into_bytes);
        let Some(call) = call.or_else(stdin) else {
            let wrong = "a hook call is a JSON object on stdin or the last argument";
            return refuse(self.common, wrong);
        };
        let call = repaired(&call);
        let Some(payload) = Payload::parse(&call) else {
            return refuse(self.common, "this hook call is not a JSON object");
        };
        report(self.common, agent, true, |loaded| {
            translate::translate(agent, event.as_deref(), &payload, &loaded.settings.config)
        })
    }
}

fn refuse(common: Common, wrong: &str) -> Exit {
    Report::new(common, false).refuse(wrong)
}

/// Reports events of an agent and, if asked, starts a supervisor for the agent.
fn report(
    common: Common,
    agent: &'static Agent,
    supervising: bool,
    translated: impl FnOnce(&Loaded) -> Translation,
) -> Exit {
    let mut loaded = match settings_of(common.settings.clone(), Some(agent.name.to_owned())) {
        Ok(loaded) => loaded,
        Err(stop) => {
            let exit = say_why(Err(stop));
            return if common.strict { exit } else { Exit::Fine };
        }
    };
    let label = AgentLabel::normalize(&loaded.settings.agent);
    // Herdr detects such an agent by itself, at the latest within seconds.
    loaded.settings.config.leave_state = label.is_some_and(|label| label.is_known());
    let Translation { mut events, first_title } = translated(&loaded);
    let enabled = loaded.settings.config.enabled;
    if let Some(title) = first_title.filter(|_| enabled && !is_titled(&common, &loaded)) {
        events.push(AgentEvent::title_changed(Some(title)));
    }
    // A supervisor reads its settings from the environment and the files and cannot be given
    // these flags.
    let has_flags = common.pane.any() || common.settings.any();
    let supervising = supervising && !has_flags && loaded.settings.config.leave_state;
    let mut report = Report::new(common, false);
    if supervising {
        report = report.supervising(agent.program);
    }
    report.hook(loaded, events)
}

/// Whether the pane shows a title; false if that cannot be told.
fn is_titled(common: &Common, loaded: &Loaded) -> bool {
    let Ok(Place::Pane(pane)) = common.pane.find() else {
        return false;
    };
    let look = herdr_reporter::sidecar::shown(&pane, &loaded.settings.config, LOOK);
    let shown = blocking(look).and_then(Result::ok);
    shown.is_some_and(|pane| pane.title.is_some())
}

/// The agent of this name, if `has` is true for it.
fn agent(name: &str, has: fn(&Agent) -> bool) -> Result<&'static Agent, String> {
    Agent::named(name).filter(|agent| has(agent)).ok_or_else(|| {
        let names: Vec<_> = names(has).collect();
        format!("{} is not known here; expected {}", shown(name), alternatives(&names))
    })
}

/// Reads stdin to its end; `None` at a terminal.
fn stdin() -> Option<Vec<u8>> {
    if std::io::stdin().is_terminal() {
        return None;
    }
    let (give, take) = mpsc::channel();
    // A pipe that is never closed must not hold up the agent.
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = std::io::stdin().lock().take(CALL_MAX).read_to_end(&mut bytes);
        let _ = give.send(bytes);
    });
    take.recv_timeout(PATIENCE).inspect_err(|_| say("stdin does not end")).ok()
}
