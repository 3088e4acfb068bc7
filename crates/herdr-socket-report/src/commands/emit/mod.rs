//! The commands of hooks and scripts: say one thing and go.

mod event;
mod once;
mod report;
mod way;

pub(crate) use way::{hello, named_supervisor};

use herdr_proto::{StateKey, TokenKey, Ttl};
use herdr_reporter::AgentEvent;

use crate::exit::Exit;
use crate::place::PaneFlags;
use crate::settings::flags::SettingFlags;
use crate::text::alternatives;
use crate::words::{lossy, state_words};
use event::{from_arguments, from_lines};
use report::Report;

/// How long what is shown stays if nobody says.
const DAY: Ttl = match Ttl::from_millis_const(86_400_000) {
    Some(ttl) => ttl,
    None => panic!("within the range"),
};

/// What all of these commands take.
#[derive(Debug, clap::Args)]
struct Common {
    #[command(flatten)]
    pane: PaneFlags,
    /// How long title, labels and tokens stay where no reporter has the pane,
    /// in seconds
    #[arg(long, value_name = "SECONDS", default_value = "86400", value_parser = ttl)]
    ttl: Ttl,
    /// Exit with 2 if something is wrong with the arguments, with 3 if no
    /// server was reached, with 4 if it refused or the pane's reporter does not
    /// hear this process; else always with 0
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    settings: SettingFlags,
}

/// What an agent adds to the command that it was given.
#[derive(Debug, clap::Args)]
struct Appended {
    /// JSON that an agent appends; it is not used
    #[arg(hide = true, value_name = "JSON", value_parser = lossy())]
    appended: Vec<String>,
}

impl Appended {
    /// Whether nothing but JSON follows the `before` arguments that count; else
    /// what is wrong.
    fn check(&self, before: usize, what: &str) -> Result<(), String> {
        match self.appended.iter().position(|word| !is_json(word)) {
            Some(place) => Err(format!("argument {} is one too many: {what}", before + place + 1)),
            None => Ok(()),
        }
    }
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
    /// Events, each a JSON object with its `event`, or - for lines of them on
    /// stdin; see run --help. A flush has no answer here: --strict waits until
    /// everything is delivered
    #[arg(required = true, value_name = "JSON", value_parser = lossy())]
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
    /// Why; shown as the text of that state
    #[arg(long, value_name = "TEXT", value_parser = lossy())]
    label: Option<String>,
    /// Wait until the pane shows it; exit with 5 if it does not, and as
    /// --strict
    #[arg(long)]
    confirm: bool,
    #[command(flatten)]
    appended: Appended,
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
    #[arg(value_name = "TEXT", value_parser = lossy())]
    text: String,
    #[command(flatten)]
    appended: Appended,
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
    #[arg(required = true, value_name = "KEY=TEXT", value_parser = lossy())]
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
    #[arg(required = true, value_name = "STATE=TEXT", value_parser = lossy())]
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
    #[arg(value_name = "ID", value_parser = lossy())]
    id: String,
    #[command(flatten)]
    appended: Appended,
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
    pane: PaneFlags,
    /// Exit with 2 if something is wrong with the arguments, with 3 if no
    /// server was reached, with 4 if it refused; else always with 0
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    settings: SettingFlags,
    #[command(flatten)]
    appended: Appended,
}

impl Emit {
    pub(crate) fn run(self) -> Exit {
        let events = match &self.events[..] {
            [only] if only == "-" => from_lines(std::io::stdin().lock()),
            words => from_arguments(words),
        };
        Report::new(self.common, false).events(events)
    }
}

impl State {
    pub(crate) fn run(self) -> Exit {
        let confirm = self.confirm;
        // A value parser would make clap end a hook that calls it with 2.
        let state = crate::words::state(&self.word)
            .map_err(|expected| format!("argument 1 is not a state; {expected}"));
        let alone = self.appended.check(1, "why it is so comes after --label, in quotes");
        let event = alone.and(state).map(|state| AgentEvent::state_settled(state, self.label));
        say_it(self.common, confirm, event)
    }
}

impl Title {
    pub(crate) fn run(self) -> Exit {
        let alone = self.appended.check(1, "a title with blanks stands in quotes");
        say_it(self.common, false, alone.map(|()| AgentEvent::title_changed(Some(self.text))))
    }
}

impl Tokens {
    pub(crate) fn run(self) -> Exit {
        let key = |name: &str| match TokenKey::parse(name) {
            Ok(_) => Ok(name.to_owned()),
            Err(_) => Err("has a key that is not 1 to 32 of A-Z a-z 0-9 _ -".to_owned()),
        };
        let tokens = pairs(&self.pairs, "KEY=TEXT, for example branch=main", key);
        say_it(self.common, false, tokens.map(AgentEvent::tokens_changed))
    }
}

impl Labels {
    pub(crate) fn run(self) -> Exit {
        let state = |name: &str| {
            let state = StateKey::ALL.into_iter().find(|state| state.as_str() == name);
            let states = alternatives(&StateKey::ALL.map(StateKey::as_str));
            state.ok_or_else(|| format!("does not begin with a state; expected {states}"))
        };
        let labels = pairs(&self.pairs, "STATE=TEXT, for example \"blocked=needs you\"", state);
        say_it(self.common, false, labels.map(AgentEvent::labels_changed))
    }
}

impl Session {
    pub(crate) fn run(self) -> Exit {
        let alone = self.appended.check(1, "a session has one id");
        say_it(self.common, false, alone.map(|()| AgentEvent::session_started(self.id)))
    }
}

impl Release {
    pub(crate) fn run(self) -> Exit {
        let alone = self.appended.check(0, "a release takes none");
        let Self { pane, strict, settings, .. } = self;
        // Nothing is set that would have to stay.
        let common = Common { pane, ttl: DAY, strict, settings };
        say_it(common, false, alone.map(|()| AgentEvent::Release))
    }
}

/// Reports the event, or says what is wrong with the arguments.
fn say_it(common: Common, confirm: bool, event: Result<AgentEvent, String>) -> Exit {
    let report = Report::new(common, confirm);
    match event {
        Ok(event) => report.event(event),
        Err(wrong) => report.refuse(&wrong),
    }
}

/// Whether an argument is what some agents append to the command of a hook.
fn is_json(word: &str) -> bool {
    word.trim_start().starts_with('{')
}

/// `NAME=TEXT` each, without JSON at the end; a blank text is none. What is
/// wrong is told by the argument's place, since the texts are a host's.
fn pairs<K>(
    words: &[String],
    expected: &str,
    name: impl Fn(&str) -> Result<K, String>,
) -> Result<Vec<(K, Option<String>)>, String> {
    let words = match words {
        [before @ .., last] if !before.is_empty() && is_json(last) => before,
        words => words,
    };
    let pair = |(place, word): (usize, &String)| {
        let wrong = |why: &str| format!("argument {place} {why}");
        let (key, text) =
            word.split_once('=').ok_or_else(|| wrong(&format!("is not {expected}")))?;
        let key = name(key.trim()).map_err(|why| wrong(&why))?;
        Ok((key, Some(text.to_owned()).filter(|text| !text.trim().is_empty())))
    };
    (1..).zip(words).map(pair).collect()
}

fn ttl(seconds: &str) -> Result<Ttl, String> {
    let seconds: Option<u64> = seconds.parse().ok();
    let ttl = seconds.and_then(|seconds| Ttl::from_millis(seconds.checked_mul(1000)?).ok());
    ttl.ok_or_else(|| "expected a whole number of seconds from 1 to 86400".to_owned())
}
