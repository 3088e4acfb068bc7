//! A flag for each setting, made from the table of settings.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

use super::kind::{Assignment, Kind, Value};
use super::table::{SETTINGS, Scope, Setting};

#[derive(Debug, Clone, Default)]
pub(crate) struct SettingFlags(pub(super) Vec<Assignment>);

impl SettingFlags {
    pub(crate) fn any(&self) -> bool {
        !self.0.is_empty()
    }

    /// The text of a flag, if it was given.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        let given = self.0.iter().rfind(|assignment| assignment.setting.key == key)?;
        if let Value::Text(text) = &given.value { Some(text.clone()) } else { None }
    }
}

/// The settings that the short help shows. The long help shows all.
const OFTEN: [&str; 3] = ["agent", "source", "display_name"];

const HEADING: &str = "Settings (also in files and as HERDR_REPORT_*; see config show)";

fn settings() -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().filter(|setting| setting.scope != Scope::UserFile)
}

impl Args for SettingFlags {
    fn augment_args(command: Command) -> Command {
        // These flags belong to a dozen commands, of which a hook calls one. Making them for
        // all commands took a fifth of a hook's time.
        command.defer(|command| {
            let name = command.get_name().to_owned();
            command.args(settings().filter(|setting| setting.counts_for(&name)).map(arg))
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
    let mut help = setting.help.trim().to_owned();
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
        Kind::Switch(_) => arg.num_args(0..=1).require_equals(true).default_missing_value("true"),
        // A flag that takes one path at a time reads better in the singular.
        Kind::List(_) if setting.key == "loaded_reporters" => {
            arg.action(ArgAction::Append).visible_alias("loaded-reporter")
        }
        Kind::List(_) | Kind::StateLabels => arg.action(ArgAction::Append),
        _ => arg,
    }
}

fn given(setting: &'static Setting, matches: &ArgMatches) -> Vec<Assignment> {
    // A command has no flags for settings that have no effect on it.
    let values = matches.try_get_many::<Vec<Value>>(setting.key).ok().flatten();
    let mut values: Vec<Value> = values.into_iter().flatten().flatten().cloned().collect();
    if let Some(Value::List(_)) = values.first() {
        let lists = values.into_iter().flat_map(|value| match value {
            Value::List(list) => list,
            _ => Vec::new(),
        });
        values = vec![Value::List(lists.collect())];
    }
    let origin = Some(format!("--{}", setting.flag()));
    values.into_iter().map(|value| Assignment { setting, value, origin: origin.clone() }).collect()
}

/// Parses the value of a flag according to the table.
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
        // The value is not repeated, because it may be a host's text.
        self.0.kind.read_text(&value.to_string_lossy()).map_err(|(_, why)| {
            let what = format!("--{}: the value {why}", self.0.flag());
            let mut error = Error::raw(ErrorKind::ValueValidation, format!("{what}\n"));
            error.insert(ContextKind::Usage, ContextValue::None);
            error.with_cmd(command)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let words = match self.0.kind {
            Kind::Switch(_) => vec!["true", "false"],
            Kind::Choice(_) => self.0.kind.words(),
            _ => return None,
        };
        Some(Box::new(words.into_iter().map(PossibleValue::new)))
    }
}
