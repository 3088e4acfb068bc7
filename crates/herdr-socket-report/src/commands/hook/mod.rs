//! `hook` and `statusline`: what agents call themselves.

mod payload;
mod said;
mod statusline;

#[cfg(test)]
mod tests;

use std::io::{IsTerminal, Read};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use herdr_reporter::repaired;
use serde_json::json;

pub(crate) use statusline::Args as StatuslineArgs;

use super::agents::{AGENTS, Agent};
use super::emit::{Common, Report};
use crate::exit::Exit;
use crate::output::{print, say};
use crate::text::{alternatives, shown};
use payload::Payload;

/// Take one hook call of an agent
///
/// Reads the call as the agent makes it, a JSON object on stdin or as the last
/// argument, and reports what it says. `init AGENT` writes the hooks that call
/// this. For an agent that Herdr knows the state is left to Herdr, and title,
/// tokens and the reason of a block are shown.
///
/// Never fails the agent, unless --strict is given: what goes wrong is said on
/// stderr.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,
    /// claude, codex, gemini, cursor, copilot or qwen
    #[arg(value_name = "AGENT")]
    caller: String,
    /// The event's name, where the call does not hold it, and the call, where
    /// it does not come on stdin
    #[arg(value_name = "EVENT", num_args = 0..=2)]
    call: Vec<String>,
}

/// How long a call may take to come in.
const PATIENCE: Duration = Duration::from_secs(1);
/// Longest call that is read. A tool's result may be in it.
const CALL_MAX: u64 = 16 * 1024 * 1024;

impl Args {
    pub(crate) fn run(self) -> Exit {
        let report = Report::new(self.common, false);
        let agent = match agent(&self.caller) {
            Ok(agent) => agent,
            Err(wrong) => return report.refuse(&wrong),
        };
        let (calls, mut events): (Vec<_>, Vec<_>) =
            self.call.into_iter().partition(|word| word.trim_start().starts_with('{'));
        let event = events.pop();
        if agent.answers {
            // A prompt goes on only if somebody says so.
            let answer = if event.as_deref() == Some("beforeSubmitPrompt") {
                json!({"continue": true})
            } else {
                json!({})
            };
            print(format!("{answer}\n").as_bytes(), std::io::stdout().lock());
        }
        let call = calls.into_iter().next().map(String::into_bytes);
        let Some(call) = call.or_else(stdin) else {
            return report.refuse("a hook call is a JSON object on stdin or the last argument");
        };
        let call = repaired(&call);
        let Some(payload) = Payload::parse(&call) else {
            return report.refuse("this hook call is not a JSON object");
        };
        let said = said::said(agent, event.as_deref(), &payload);
        report.hook(agent.name, said.events, said.first_title)
    }
}

/// An agent that calls hooks.
fn agent(name: &str) -> Result<&'static Agent, String> {
    let known = || AGENTS.iter().filter(|agent| !agent.events.is_empty());
    let found = known().find(|agent| agent.name == name);
    found.ok_or_else(|| {
        let names: Vec<_> = known().map(|agent| agent.name).collect();
        format!(
            "{} is not an agent whose hooks are known; expected {}",
            shown(name),
            alternatives(&names)
        )
    })
}

/// What comes on stdin until its end. `None` at a terminal.
fn stdin() -> Option<Vec<u8>> {
    if std::io::stdin().is_terminal() {
        return None;
    }
    let (give, take) = mpsc::channel();
    // A pipe that nobody closes must not hold the agent up.
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = std::io::stdin().lock().take(CALL_MAX).read_to_end(&mut bytes);
        let _ = give.send(bytes);
    });
    take.recv_timeout(PATIENCE).inspect_err(|_| say("stdin does not end")).ok()
}
