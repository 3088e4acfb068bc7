//! The commands of hooks and scripts: say one thing and go.

#[cfg(unix)]
mod report;
#[cfg(not(unix))]
#[path = "elsewhere.rs"]
mod report;

use herdr_proto::{StateKey, Ttl};
use serde_json::{Map, Value, json};

use crate::exit::Exit;
use crate::place::PaneFlags;
use crate::settings::flags::SettingFlags;
use crate::text::alternatives;
use crate::words::state_words;
pub(crate) use report::Report;

/// What all of these commands take.
#[derive(Debug, clap::Args)]
pub(crate) struct Common {
    #[command(flatten)]
    pane: PaneFlags,
    /// How long title, labels and tokens stay where no reporter has the pane,
    /// in seconds
    #[arg(long, value_name = "SECONDS", default_value = "86400", value_parser = ttl)]
    ttl: Ttl,
    /// Exit with 2 if something is wrong with the arguments, with 3 if no
    /// server was reached, with 4 if it refused; else always with 0
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    settings: SettingFlags,
}

/// Report events, as `run` reads them
///
/// To the pane's reporter if there is one (run, exec, attach), else straight to
/// Herdr. Never fails the hook that calls it, unless --strict is given: what
/// goes wrong is said on stderr.
#[derive(Debug, clap::Args)]
pub(crate) struct Emit {
    #[command(flatten)]
    common: Common,
    /// Events, each a JSON object with its `event`; see run --help. A flush
    /// has no answer here: --strict waits until everything is delivered
    #[arg(required = true, value_name = "JSON")]
    events: Vec<String>,
}

/// Report a state: idle, working or blocked
///
/// To the pane's reporter if there is one (run, exec, attach), else straight to
/// Herdr. Never fails the hook that calls it, unless --strict or --confirm is
/// given.
#[derive(Debug, clap::Args)]
pub(crate) struct State {
    #[command(flatten)]
    common: Common,
    /// idle, working or blocked
    #[arg(value_name = "STATE", value_parser = state_words(), hide_possible_values = true)]
    word: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// Wait until the pane shows it; exit with 5 if it does not, and as
    /// --strict
    #[arg(long)]
    confirm: bool,
}

/// Set the pane's title; a blank one takes it off
///
/// To the pane's reporter if there is one (run, exec, attach), else straight to
/// Herdr. Never fails the hook that calls it, unless --strict is given.
#[derive(Debug, clap::Args)]
pub(crate) struct Title {
    #[command(flatten)]
    common: Common,
    /// The title, in quotes if it has blanks; one that begins with - comes
    /// after --
    #[arg(value_name = "TEXT")]
    text: String,
}

/// Set tokens, as KEY=TEXT; a blank text takes one off
///
/// To the pane's reporter if there is one (run, exec, attach), else straight to
/// Herdr. Never fails the hook that calls it, unless --strict is given.
#[derive(Debug, clap::Args)]
pub(crate) struct Tokens {
    #[command(flatten)]
    common: Common,
    /// Tokens, such as branch=main
    #[arg(required = true, value_name = "KEY=TEXT")]
    pairs: Vec<String>,
}

/// Set texts for states, as STATE=TEXT; a blank text takes one off
///
/// To the pane's reporter if there is one (run, exec, attach), else straight to
/// Herdr. Never fails the hook that calls it, unless --strict is given.
#[derive(Debug, clap::Args)]
pub(crate) struct Labels {
    #[command(flatten)]
    common: Common,
    /// Labels, such as "blocked=needs you"; the states are idle, working,
    /// blocked, done and unknown
    #[arg(required = true, value_name = "STATE=TEXT")]
    pairs: Vec<String>,
}

/// Begin or continue a session
///
/// To the pane's reporter if there is one (run, exec, attach), else straight to
/// Herdr. Never fails the hook that calls it, unless --strict is given.
#[derive(Debug, clap::Args)]
pub(crate) struct Session {
    #[command(flatten)]
    common: Common,
    /// The session's id
    #[arg(value_name = "ID")]
    id: String,
}

/// Give the pane's row back
///
/// To the pane's reporter if there is one (run, exec, attach), else straight to
/// Herdr. Never fails the hook that calls it, unless --strict is given.
///
/// Without a reporter, title, labels and the tokens model, ctx and session go
/// with it. Other tokens stay until their time is over, or until `tokens KEY=`.
#[derive(Debug, clap::Args)]
pub(crate) struct Release {
    #[command(flatten)]
    common: Common,
}

impl Emit {
    pub(crate) fn run(self) -> Exit {
        Report::new(self.common, false).lines(&self.events)
    }
}

impl State {
    pub(crate) fn run(self) -> Exit {
        let report = Report::new(self.common, self.confirm);
        // A value parser would make clap end a hook that calls it with 2.
        if let Err(expected) = crate::words::state(&self.word) {
            return report
                .refuse(&format!("{} is no state; {expected}", crate::text::shown(&self.word)));
        }
        let mut event = json!({"event": "state_set", "state": self.word});
        if let Some(label) = self.label {
            event["label"] = label.into();
        }
        report.event(&event)
    }
}

impl Title {
    pub(crate) fn run(self) -> Exit {
        let event = json!({"event": "title_changed", "title": self.text});
        Report::new(self.common, false).event(&event)
    }
}

impl Tokens {
    pub(crate) fn run(self) -> Exit {
        let report = Report::new(self.common, false);
        match pairs(&self.pairs, "KEY=TEXT, for example branch=main") {
            Ok(tokens) => report.event(&json!({"event": "tokens_changed", "tokens": tokens})),
            Err(wrong) => report.refuse(&wrong),
        }
    }
}

impl Labels {
    pub(crate) fn run(self) -> Exit {
        let report = Report::new(self.common, false);
        let labels = pairs(&self.pairs, "STATE=TEXT, for example \"blocked=needs you\"");
        match labels.and_then(of_states) {
            Ok(labels) => report.event(&json!({"event": "labels_changed", "labels": labels})),
            Err(wrong) => report.refuse(&wrong),
        }
    }
}

impl Session {
    pub(crate) fn run(self) -> Exit {
        let event = json!({"event": "session_started", "session_id": self.id});
        Report::new(self.common, false).event(&event)
    }
}

impl Release {
    pub(crate) fn run(self) -> Exit {
        Report::new(self.common, false).event(&json!({"event": "release"}))
    }
}

/// `NAME=TEXT` each; a blank text is null.
fn pairs(words: &[String], expected: &str) -> Result<Map<String, Value>, String> {
    let pair = |word: &String| {
        let (name, text) = word
            .split_once('=')
            .ok_or_else(|| format!("{} is no {expected}", crate::text::shown(word)))?;
        let text = if text.trim().is_empty() { Value::Null } else { text.into() };
        Ok((name.trim().to_owned(), text))
    };
    words.iter().map(pair).collect()
}

/// The same, if every name is a state's.
fn of_states(labels: Map<String, Value>) -> Result<Map<String, Value>, String> {
    let states = StateKey::ALL.map(StateKey::as_str);
    match labels.keys().find(|name| !states.contains(&name.as_str())) {
        Some(wrong) => {
            let (wrong, states) = (crate::text::shown(wrong), alternatives(&states));
            Err(format!("{wrong} is no state; expected {states}"))
        }
        None => Ok(labels),
    }
}

fn ttl(seconds: &str) -> Result<Ttl, String> {
    let seconds: Option<u64> = seconds.parse().ok();
    let ttl = seconds.and_then(|seconds| Ttl::from_millis(seconds.checked_mul(1000)?).ok());
    ttl.ok_or_else(|| "expected a whole number of seconds from 1 to 86400".to_owned())
}
