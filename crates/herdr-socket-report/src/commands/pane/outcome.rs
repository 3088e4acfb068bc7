//! The outcome of a `pane` command as text, as JSON and as an exit code.

use std::io::{self, Write as _};

use herdr_pane_control::{
    AgentInfo, Change, Error, ErrorKind, Life, Outcome, PaneInfo, Probe, Prompted, Pushed, Reading,
    Signal, Tick, Way, What,
};
use herdr_proto::strip_controls;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output::say;

pub(super) struct CommandOutcome {
    text: String,
    json: Value,
    exit: Exit,
    /// Whether it is an error, which goes to stderr unless JSON is wanted.
    wrong: bool,
}

impl CommandOutcome {
    fn new(text: impl Into<String>, json: Value, exit: Exit) -> Self {
        Self { text: text.into(), json, exit, wrong: false }
    }

    pub(super) fn nothing() -> Self {
        Self::new("", Value::Null, Exit::Fine)
    }

    pub(super) fn done() -> Self {
        Self::new("", json!({ "pressed": true }), Exit::Fine)
    }

    pub(super) fn error(error: &Error) -> Self {
        let exit = match error.kind() {
            ErrorKind::InvalidInput | ErrorKind::NoTarget | ErrorKind::NoProfile => Exit::Usage,
            ErrorKind::NoServer | ErrorKind::UnusableServer => Exit::Unreachable,
            ErrorKind::PaneGone => Exit::Gone,
            ErrorKind::Timeout => Exit::TimedOut,
            _ if error.safe_to_retry() => Exit::Refused,
            _ => Exit::NotApplied,
        };
        let retry = error.safe_to_retry();
        let json = json!({
            "error": error.kind(), "detail": error.to_string(), "safe_to_retry": retry,
        });
        Self { wrong: true, ..Self::new(error.to_string(), json, exit) }
    }

    pub(super) fn list(panes: &[PaneInfo]) -> Self {
        let line = |pane: &PaneInfo| {
            let agent = pane.agent.as_deref().unwrap_or("-");
            let title = pane.title.as_deref().or(pane.label.as_deref()).unwrap_or_default();
            let (id, status) = (pane.pane_id.as_str(), pane.agent_status.as_str());
            let line = format!("{id}\t{agent}\t{status}\t{}", strip_controls(title));
            line.trim_end().to_owned()
        };
        let text = panes.iter().map(line).collect::<Vec<_>>().join("\n");
        Self::new(text, json!({ "panes": panes }), Exit::Fine)
    }

    pub(super) fn probe(probe: &Probe) -> Self {
        let (word, exit) = match probe.life {
            Life::Live => ("live", Exit::Fine),
            Life::Dead => ("dead", Exit::Gone),
            _ => ("unknown", Exit::Held),
        };
        let processes = probe.processes.as_ref().map(|processes| {
            let front = processes.foreground_processes.iter();
            let front: Vec<_> =
                front.map(|process| json!({ "pid": process.pid, "name": process.name })).collect();
            json!({ "shell_pid": processes.shell_pid, "foreground": front })
        });
        let json = json!({
            "life": probe.life, "evidence": probe.evidence, "reason": probe.evidence.to_string(),
            "pane": probe.pane, "agent": probe.agent, "processes": processes,
        });
        Self::new(format!("{word}: {}", probe.evidence), json, exit)
    }

    pub(super) fn tick(tick: &Tick) -> Self {
        let (text, exit) = match tick.signal {
            Signal::Working => ("working".to_owned(), Exit::Fine),
            Signal::Blocked => ("blocked".to_owned(), Exit::Fine),
            Signal::Idle => ("idle".to_owned(), Exit::Fine),
            Signal::Unreadable(why) => (format!("not readable: {}", word(&json!(why))), Exit::Held),
            _ => ("not readable".to_owned(), Exit::Held),
        };
        Self::new(text, json!(tick), exit)
    }

    pub(super) fn reading(reading: &Reading) -> Self {
        let mut text = reading.text.trim_end_matches('\n').to_owned();
        // Escape sequences are printed only if colours were asked for.
        text.retain(|c| reading.ansi || !c.is_control() || c == '\n');
        Self::new(text, json!(reading), Exit::Fine)
    }

    pub(super) fn pushed(pushed: &Pushed) -> Self {
        let exit = match pushed.outcome {
            Outcome::Delivered => Exit::Fine,
            Outcome::Held => Exit::Held,
            Outcome::Pending => Exit::Pending,
            _ => Exit::NotApplied,
        };
        let outcome = word(&json!(pushed.outcome));
        let text = match pushed.why {
            Some(why) if pushed.typed => format!("{outcome}: {why} (the text was typed)"),
            Some(why) => format!("{outcome}: {why}"),
            None if pushed.busy => format!("{outcome}; the program is busy"),
            None => outcome,
        };
        let mut json = json!(pushed);
        json["safe_to_retry"] = pushed.safe_to_retry().into();
        Self::new(text, json, exit)
    }

    pub(super) fn prompted(prompted: &Prompted) -> Self {
        let status = prompted.status.as_ref().map(|status| format!("; {}", status.as_str()));
        let delivered = |how: &str| format!("delivered: {how}{}", status.unwrap_or_default());
        let (text, exit) = match &prompted.way {
            Way::Pushed(pushed) => {
                let outcome = Self::pushed(pushed);
                (outcome.text, outcome.exit)
            }
            Way::Held => ("held: something stands in the input box already".into(), Exit::Held),
            Way::StatusChanged => (delivered("the agent's status changed"), Exit::Fine),
            _ => (delivered("the text went from the box into the transcript"), Exit::Fine),
        };
        Self::new(text, json!(prompted), exit)
    }

    pub(super) fn waited(agent: &AgentInfo) -> Self {
        Self::new(agent.agent_status.as_str(), json!(agent), Exit::Fine)
    }

    pub(super) fn change(change: &Change) -> Self {
        let what = match &change.what {
            What::Status { agent: Some(agent), status, .. } => {
                format!("{agent} {}", status.as_str())
            }
            What::Status { .. } => "no agent".to_owned(),
            What::Moved { from } => format!("moved from {}", from.as_str()),
            _ => "gone".to_owned(),
        };
        let settling = if change.settling { " (settling)" } else { "" };
        let text = format!("{} {what}{settling}", change.pane_id.as_str());
        Self::new(strip_controls(&text), json!(change), Exit::Fine)
    }

    /// Prints the outcome; false if the reader is gone.
    pub(super) fn print(&self, json: bool) -> bool {
        if self.json.is_null() || (self.text.is_empty() && !json) {
            return true;
        }
        if self.wrong && !json {
            say(&self.text);
            return true;
        }
        let mut out = io::stdout().lock();
        let line = if json { self.json.to_string() } else { self.text.clone() };
        writeln!(out, "{line}").and_then(|()| out.flush()).is_ok()
    }

    pub(super) fn report(&self, json: bool) -> Exit {
        self.print(json);
        self.exit
    }
}

fn word(json: &Value) -> String {
    json.as_str().unwrap_or_default().replace('_', " ")
}
