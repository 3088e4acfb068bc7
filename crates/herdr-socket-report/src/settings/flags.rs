//! A flag for each setting, made from the table.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

use super::Assignment;
use super::kind::Kind;
use super::origin::Origin;
use super::table::{SETTINGS, Scope, Setting};
use super::value::Value;

/// What the flags set.
#[derive(Debug, Clone, Default)]
pub(crate) struct SettingFlags(pub(crate) Vec<Assignment>);

impl SettingFlags {
    /// The text that a flag was given, if it was.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        let given = self.0.iter().rfind(|assignment| assignment.setting.key == key)?;
        Some(given.value.text().to_owned())
    }
}

/// What the short help shows; the long one shows all.
const OFTEN: [&str; 3] = ["agent", "source", "display_name"];

const HEADING: &str = "Settings (also in files and as HERDR_REPORT_*; see config show)";

fn settings() -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().filter(|setting| setting.scope != Scope::PersonsFile)
}

/// The settings that count for every command that says one thing,
const OF_HOOKS: [&str; 8] = [
    "enabled",
    "agent",
    "source",
    "role",
    "unverified_pane",
    "any_pane",
    "allow_foreign_socket",
    "fresh_source",
];
/// and those that count for some of them, and for which.
const OF_SOME: [(&str, &[&str]); 12] = [
    ("title", &["title"]),
    ("message", &["state"]),
    ("working_message", &["state"]),
    ("reason_label", &["state"]),
    ("state_labels", &["state", "session", "labels"]),
    ("tokens", &["tokens", "session"]),
    ("privacy", &["state", "title", "tokens", "labels", "session"]),
    ("report_session", &["session"]),
    ("session_token", &["session"]),
    ("progress_token", &[]),
    ("program_status", &["state", "session", "release"]),
    ("verify", &["state"]),
];

/// Whether a setting has an effect on a command.
fn counts(setting: &Setting, command: &str) -> bool {
    let of_some =
        || OF_SOME.iter().find(|(key, _)| *key == setting.key).map(|(_, commands)| commands);
    match command {
        "emit" => OF_HOOKS.contains(&setting.key) || of_some().is_some(),
        "state" | "title" | "tokens" | "labels" | "session" | "release" => {
            OF_HOOKS.contains(&setting.key)
                || of_some().is_some_and(|commands| commands.contains(&command))
        }
        _ => true,
    }
}

impl Args for SettingFlags {
    fn augment_args(command: Command) -> Command {
        // A dozen commands have these flags, and a hook calls one of them:
        // making them for all took a fifth of its time.
        command.defer(|command| {
            let name = command.get_name().to_owned();
            command.args(settings().filter(|setting| counts(setting, &name)).map(arg))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SettingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Self(settings().flat_map(|setting| given(setting, matches)).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn arg(setting: &'static Setting) -> Arg {
    let mut help = setting.help.to_owned();
    if !setting.default.is_empty() {
        help = format!("{help} [default: {}]", setting.default);
    }
    let arg = Arg::new(setting.key)
        .long(setting.flag())
        .value_name(setting.kind.placeholder())
        .help(help.clone())
        // Manual pages leave out what the short help leaves out.
        .long_help(help)
        .hide_possible_values(true)
        .hide_short_help(!OFTEN.contains(&setting.key))
        .help_heading(HEADING)
        .value_parser(Parser(setting));
    match setting.kind {
        Kind::Switch => arg.num_args(0..=1).require_equals(true).default_missing_value("true"),
        // One path a flag reads better in the singular.
        Kind::List if setting.key == "loaded_reporters" => {
            arg.action(ArgAction::Append).visible_alias("loaded-reporter")
        }
        kind if kind.is_many() => arg.action(ArgAction::Append),
        _ => arg,
    }
}

fn given(setting: &'static Setting, matches: &ArgMatches) -> Vec<Assignment> {
    // A command has no flag for what does not count for it.
    let values = matches.try_get_many::<Vec<Value>>(setting.key).ok().flatten();
    let values = values.into_iter().flatten().flatten();
    let values: Vec<Value> = match setting.kind {
        Kind::List => {
            let mut lists = values.peekable();
            if lists.peek().is_none() {
                return Vec::new();
            }
            vec![Value::List(lists.flat_map(|list| list.list().to_vec()).collect())]
        }
        _ => values.cloned().collect(),
    };
    let origin = || Origin::flag(setting);
    values.into_iter().map(|value| Assignment { setting, value, origin: origin() }).collect()
}

/// Reads a flag's value as the table says.
#[derive(Clone)]
struct Parser(&'static Setting);

impl TypedValueParser for Parser {
    type Value = Vec<Value>;

    fn parse_ref(
        &self,
        command: &Command,
        _: Option<&Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<Self::Value, Error> {
        // The value may be a host's text, so that it is not told.
        self.0.kind.read_text(&value.to_string_lossy()).map_err(|unfit| {
            let what = format!("--{}: the value {}", self.0.flag(), unfit.why);
            let mut error = Error::raw(ErrorKind::ValueValidation, format!("{what}\n"));
            error.insert(ContextKind::Usage, ContextValue::None);
            error.with_cmd(command)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let words: &[&str] = match self.0.kind {
            Kind::Switch => &["true", "false"],
            Kind::Choice { words, .. } => words,
            _ => return None,
        };
        Some(Box::new(words.iter().map(|word| PossibleValue::new(*word))))
    }
}
