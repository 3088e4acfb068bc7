//! The one-shots: commands that report once, for hooks and scripts.

mod direct;
mod event;
mod hook_supervisor;
mod outcome;
mod report;
mod route;

pub(crate) use route::{hello, named_supervisor};

use herdr_proto::{StateKey, TokenKey, Ttl};
use herdr_reporter::AgentEvent;

use crate::exit::Exit;
use crate::place::PaneFlags;
use crate::settings::flags::SettingFlags;
use crate::text::alternatives;
use crate::words::{lossy, states};
use event::{Event, from_arguments, from_lines};
pub(crate) use report::Report;

/// How long title, labels and tokens stay by default.
const DAY: Ttl = match Ttl::from_millis_const(86_400_000) {
    Some(ttl) => ttl,
    None => panic!("within the range"),
};

/// The end of each long help. A paragraph is one line, because clap breaks lines.
const HOOKS: &str = "\
Goes to the pane's reporter if there is one (run, exec, attach), otherwise straight to Herdr. \
Never fails the hook that calls it, unless --strict is given; errors are printed on stderr.";

/// The flags that these commands share.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HOOKS)]
pub(crate) struct Common {
    #[command(flatten)]
    pub(crate) pane: PaneFlags,
    /// How long title, labels and tokens stay if the pane has no reporter, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "86400", value_parser = ttl)]
    ttl: Ttl,
    /// Exit with 2 if an argument is wrong, with 3 if no server was reached, with 4 if the server or
    /// the pane's reporter refused; otherwise always with 0
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) settings: SettingFlags,
}

/// Arguments that some agents append to the command of a hook.
#[derive(Debug, clap::Args)]
pub(crate) struct Appended {
    /// JSON that an agent appends; it is not used
    #[arg(hide = true, value_name = "JSON", value_parser = lossy())]
    appended: Vec<String>,
}

impl Appended {
    /// Checks that only JSON follows the first `before` arguments, and says what is wrong
    /// otherwise.
    fn check(&self, before: usize, what: &str) -> Result<(), String> {
        match self.appended.iter().position(|word| !is_json(word)) {
            Some(place) => Err(format!("argument {} is one too many: {what}", before + place + 1)),
            None => Ok(()),
        }
    }
}

/// Commands for hooks and scripts that report once
#[derive(Debug, clap::Subcommand)]
pub(crate) enum OneShot {
    /// Report events, as `run` reads them
    Emit {
        #[command(flatten)]
        common: Common,
        /// Events, each a JSON object with its `event`, or - for lines of them on
        /// stdin; see run --help. A flush has no answer here: --strict waits until
        /// everything is delivered
        #[arg(required = true, value_name = "JSON", value_parser = lossy())]
        events: Vec<String>,
    },
    /// Report a state: idle, working or blocked
    State {
        #[command(flatten)]
        common: Common,
        /// idle, working or blocked
        #[arg(value_name = "STATE", value_parser = lossy(), add = states())]
        word: String,
        /// The reason, which is shown as the text of that state
        #[arg(long, value_name = "TEXT", value_parser = lossy())]
        label: Option<String>,
        /// Wait until the pane shows the state; exit with 5 if it does not, otherwise as with
        /// --strict
        #[arg(long)]
        confirm: bool,
        #[command(flatten)]
        appended: Appended,
    },
    /// Set the pane's title; a blank one clears it
    Title {
        #[command(flatten)]
        common: Common,
        /// The title, in quotes if it has blanks; one that begins with - comes
        /// after --
        #[arg(value_name = "TEXT", value_parser = lossy())]
        text: String,
        #[command(flatten)]
        appended: Appended,
    },
    /// Set tokens, as KEY=TEXT; a blank text clears one
    Tokens {
        #[command(flatten)]
        common: Common,
        /// Tokens, such as branch=main
        #[arg(required = true, value_name = "KEY=TEXT", value_parser = lossy())]
        pairs: Vec<String>,
    },
    /// Set texts for states, as STATE=TEXT; a blank text clears one
    Labels {
        #[command(flatten)]
        common: Common,
        /// Labels, such as "blocked=needs you"; the states are idle, working,
        /// blocked, done and unknown
        #[arg(required = true, value_name = "STATE=TEXT", value_parser = lossy())]
        pairs: Vec<String>,
    },
    /// Begin or continue a session
    Session {
        #[command(flatten)]
        common: Common,
        /// The session's id
        #[arg(value_name = "ID", value_parser = lossy())]
        id: String,
        #[command(flatten)]
        appended: Appended,
    },
    /// Release the pane's row
    ///
    /// Without a reporter, title, labels and the tokens model, ctx and session go
    /// with it. Other tokens stay until their time is over, or until `tokens KEY=`.
    #[command(after_long_help = HOOKS)]
    Release {
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
    },
}

impl OneShot {
    pub(crate) fn run(self) -> Exit {
        let mut confirmed = false;
        let (common, event) = match self {
            Self::Emit { common, events } => {
                let events = match &events[..] {
                    [only] if only == "-" => from_lines(std::io::stdin().lock()),
                    words => from_arguments(words),
                };
                return Report::new(common, false).events(events);
            }
            Self::State { common, word, label, confirm, appended } => {
                confirmed = confirm;
                // A value parser of clap would exit with 2, and these commands fail only with
                // `--strict`.
                let state = crate::words::state(&word)
                    .map_err(|expected| format!("argument 1 is not a state; {expected}"));
                let alone = appended.check(1, "why it is so comes after --label, in quotes");
                let event = alone.and(state).map(|state| AgentEvent::state_settled(state, label));
                (common, event)
            }
            Self::Title { common, text, appended } => {
                let alone = appended.check(1, "a title with blanks stands in quotes");
                (common, alone.map(|()| AgentEvent::title_changed(Some(text))))
            }
            Self::Tokens { common, pairs } => (common, tokens(&pairs)),
            Self::Labels { common, pairs } => (common, labels(&pairs)),
            Self::Session { common, id, appended } => {
                let alone = appended.check(1, "a session has one id");
                (common, alone.map(|()| AgentEvent::session_started(id)))
            }
            Self::Release { pane, strict, settings, appended } => {
                // A release sets nothing, so its ttl is not used.
                let common = Common { pane, ttl: DAY, strict, settings };
                let alone = appended.check(0, "a release takes none");
                (common, alone.map(|()| AgentEvent::Release))
            }
        };
        let report = Report::new(common, confirmed);
        match event {
            Ok(event) => report.events((vec![Event::of(event)], Exit::Fine)),
            Err(wrong) => report.refuse(&wrong),
        }
    }
}

fn tokens(words: &[String]) -> Result<AgentEvent, String> {
    let key = |name: &str| match TokenKey::parse(name) {
        Ok(_) => Ok(name.to_owned()),
        Err(_) => Err("has a key that is not 1 to 32 of A-Z a-z 0-9 _ -".to_owned()),
    };
    pairs(words, "KEY=TEXT, for example branch=main", key).map(AgentEvent::tokens_changed)
}

fn labels(words: &[String]) -> Result<AgentEvent, String> {
    let state = |name: &str| {
        let state = StateKey::ALL.into_iter().find(|state| state.as_str() == name);
        let states = alternatives(&StateKey::ALL.map(StateKey::as_str));
        state.ok_or_else(|| format!("does not begin with a state; expected {states}"))
    };
    let expected = "STATE=TEXT, for example \"blocked=needs you\"";
    pairs(words, expected, state).map(AgentEvent::labels_changed)
}

/// Whether an argument looks like the JSON that some agents append to the command of a hook.
fn is_json(word: &str) -> bool {
    word.trim_start().starts_with('{')
}

/// Reads `NAME=TEXT` pairs. A blank text clears, and JSON at the end is left out. Errors name
/// the place of an argument and not its text, which may be private.
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
