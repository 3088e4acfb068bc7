//! `statusline`: reports model and context from what an agent gives its status line.

use std::ffi::OsString;
use std::io::Write;
use std::process::{Child, Command, Stdio};

use herdr_reporter::AgentEvent;
use herdr_reporter::sidecar::{repaired, show_context};
use serde_json::Value;

use super::payload::Payload;
use super::translate::Translation;
use super::{agent, refuse, report, stdin};
use crate::commands::agents::{Agent, names};
use crate::commands::emit::Common;
use crate::exit::Exit;
use crate::output::{print, say};
use crate::words::{agents, lossy};

/// Report model and context from an agent's status line
///
/// Reads the JSON object that the agent gives its status line, reports model,
/// context and the session's name, and passes it on to CMD, whose output is the
/// status line. Without CMD the line is the model and its context.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,
    /// claude or qwen
    #[arg(
        value_name = "AGENT",
        value_parser = lossy(),
        add = agents(names(Agent::has_statusline))
    )]
    caller: String,
    /// The command that draws the status line, after --
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// The content of a status line's call.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Status {
    model: Option<String>,
    window: Option<u64>,
    used: Option<u64>,
    title: Option<String>,
}

impl Args {
    pub(crate) fn run(self) -> Exit {
        let agent = match agent(&self.caller, Agent::has_statusline) {
            Ok(agent) => agent,
            Err(wrong) => return refuse(self.common, &wrong),
        };
        let Some(call) = stdin() else {
            return refuse(self.common, "a status line is told a JSON object on stdin");
        };
        let drawing = self
            .command
            .split_first()
            .map(|(program, arguments)| draw(Command::new(program).args(arguments), &call));
        let told = repaired(&call);
        let status = Payload::parse(&told).map(|payload| Status::of(&payload)).unwrap_or_default();
        if drawing.is_none() {
            print(status.line().as_bytes(), std::io::stdout().lock());
        }
        let translation = Translation { events: status.events(), first_title: None };
        let exit = report(self.common, agent, false, |_| translation);
        match drawing {
            // The drawing command decides about the line and the exit code.
            Some(Some(mut child)) => match child.wait() {
                Ok(status) => std::process::exit(status.code().unwrap_or(1)),
                Err(_) => exit,
            },
            _ => exit,
        }
    }
}

/// Starts the command that draws the line.
fn draw(command: &mut Command, call: &[u8]) -> Option<Child> {
    let mut child = match command.stdin(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) => {
            say(&format!("the status line's command cannot be started: {error}"));
            return None;
        }
    };
    if let Some(mut stdin) = child.stdin.take() {
        // A command that does not read its stdin can still draw.
        let _ = stdin.write_all(call);
    }
    Some(child)
}

impl Status {
    pub(super) fn of(payload: &Payload) -> Self {
        let context = payload.value(&["context_window"]).unwrap_or_default();
        let window = context.get("context_window_size").and_then(Value::as_u64);
        let model = payload.value(&["model"]).unwrap_or_default();
        let model = model.get("display_name").or_else(|| model.get("id")).unwrap_or(&model);
        Self {
            model: model.as_str().map(|name| without_window(name).to_owned()),
            window: window.filter(|window| *window > 0),
            used: used(context.get("current_usage").unwrap_or(&Value::Null)),
            title: payload.text(&["session_name"]),
        }
    }

    pub(super) fn events(self) -> Vec<AgentEvent> {
        let model = self.model.map(|model| AgentEvent::model_changed(Some(model), self.window));
        let used = self.used.map(AgentEvent::usage_changed);
        let title = self.title.map(|title| AgentEvent::title_changed(Some(title)));
        [model, used, title].into_iter().flatten().collect()
    }

    /// The line, such as `Opus · 34k/200k`.
    pub(super) fn line(&self) -> String {
        let context = self.used.map(|used| show_context(used, self.window));
        let parts: Vec<_> = self.model.iter().cloned().chain(context).collect();
        if parts.is_empty() { String::new() } else { format!("{}\n", parts.join(" · ")) }
    }
}

/// The name without the size of the window, as in `Opus 4.8 (1M context)`. The token for the
/// context shows the size, and a row of the sidebar has 25 columns.
fn without_window(name: &str) -> &str {
    let before = name.strip_suffix(" context)").and_then(|rest| rest.rsplit_once(" ("));
    before.map_or(name, |(model, _)| model)
}

/// The number of tokens in the context: a plain number, or the sum of the input, part of which
/// may come from a cache.
fn used(usage: &Value) -> Option<u64> {
    let part = |name: &str| usage.get(name).and_then(Value::as_u64);
    usage.as_u64().or_else(|| {
        let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"];
        let cached: u64 = cached.iter().filter_map(|name| part(name)).sum();
        part("input_tokens").map(|fresh| fresh + cached)
    })
}
