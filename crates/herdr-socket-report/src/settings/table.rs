//! The table of all settings. Files, variables, flags, their messages, the help texts and
//! `config show` derive from it.

use std::time::Duration;

use herdr_proto::{SourceId, Ttl};
use herdr_reporter::{Privacy, ReasonLabel, Role, Source, UnverifiedPane};

use super::ProgramStatus;
use super::kind::Kind::{Choice, List, Name, Number, StateLabels, Switch, Text};
use super::kind::{Kind, Value};

/// A setting.
#[derive(Debug)]
pub(crate) struct Setting {
    /// The key in files. The names of the variable and the flag derive from it.
    pub(crate) key: &'static str,
    /// The built-in value in the text form of variables and flags; empty if there is none.
    pub(crate) default: &'static str,
    pub(crate) scope: Scope,
    /// The one-shots on which it has an effect, or `all`.
    one_shots: &'static str,
    pub(crate) kind: Kind,
    /// What it is for, as the flag's help says it.
    pub(crate) help: &'static str,
}

/// Which sources may set a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Every source, including a file in the working directory.
    Anybody,
    /// The user's own file, variables and flags. A project's file may not.
    /// project says does not count.
    Person,
    UserFile,
}

/// The one-shots, which hooks call.
pub(crate) const ONE_SHOTS: [&str; 9] =
    ["emit", "state", "title", "tokens", "labels", "session", "release", "hook", "statusline"];

/// The prefix of every setting's variable.
pub(crate) const VARIABLE_PREFIX: &str = "HERDR_REPORT_";

impl Setting {
    /// The name of the flag, without dashes.
    pub(crate) fn flag(&self) -> String {
        self.key.replace('_', "-")
    }

    pub(crate) fn variable(&self) -> String {
        format!("{VARIABLE_PREFIX}{}", self.key.to_uppercase())
    }

    /// Whether the setting has an effect on a command. `emit` and `hook` can report anything.
    pub(super) fn counts_for(&self, command: &str) -> bool {
        let of = self.one_shots;
        !ONE_SHOTS.contains(&command)
            || of == "all"
            || of.split(' ').any(|one_shot| one_shot == command)
            || (["emit", "hook"].contains(&command) && !of.is_empty())
    }

    /// The built-in values; empty if there are none.
    pub(crate) fn defaults(&self) -> Vec<Value> {
        if self.default.is_empty() {
            return Vec::new();
        }
        self.kind.read_text(self.default).unwrap_or_default()
    }
}

pub(crate) fn setting(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

/// Each setting is `/// HELP` and then `KEY = DEFAULT, SCOPE, ONE-SHOTS, KIND;`.
macro_rules! settings {
    ($(
        $(#[doc = $help:literal])+
        $key:ident = $default:literal, $scope:ident, $one_shots:literal, $kind:expr;
    )+) => {
        /// Every setting, in the order of the documentation.
        pub(crate) static SETTINGS: &[Setting] = &[$(Setting {
            key: stringify!($key),
            default: $default,
            scope: Scope::$scope,
            one_shots: $one_shots,
            kind: $kind,
            help: concat!($($help),+),
        }),+];
    };
}

settings! {
    /// Report at all. If off, nothing connects and input is read to its end
    enabled = "true", Anybody, "all", Switch(|it, on| it.config.enabled = on);
    /// The agent's name in the sidebar. Herdr itself watches agents whose names it knows, so
    /// take a name of your own
    agent = "agent", Person, "all", Name(|it, name| name.clone_into(&mut it.agent));
    /// The source that reports, as Herdr files it; constant for a host. By default it is
    /// `custom:` and the agent's name
    source = "", Person, "all", Kind::Source(|it, source| {
        it.config.source = SourceId::parse(source).ok();
    });
    /// Shown instead of the agent's name
    display_name = "", Person, "", Text(|it, name| {
        it.config.display_name = Some(name.to_owned()).filter(|name| !name.is_empty());
    });
    /// Where the pane's title comes from
    title = "session", Anybody, "title statusline", Choice(&[
        ("session", |it| it.config.title = Source::Auto),
        ("none", |it| it.config.title = Source::None),
    ]);
    /// Where the reason of a block comes from
    message = "tool", Anybody, "state", Choice(&[
        ("tool", |it| it.config.message = Source::Auto),
        ("none", |it| it.config.message = Source::None),
    ]);
    /// Where the reason while working comes from
    working_message = "tool", Anybody, "state", Choice(&[
        ("tool", |it| it.config.working_message = Source::Auto),
        ("none", |it| it.config.working_message = Source::None),
    ]);
    /// Which tokens go out: model, ctx and the host's own, or none at all
    tokens = "auto", Anybody, "tokens session statusline", Choice(&[
        ("auto", |it| it.config.tokens = Source::Auto),
        ("none", |it| it.config.tokens = Source::None),
    ]);
    /// Texts shown for states where the host sets none; blank ones are ignored
    state_labels = "", Anybody, "state session labels", StateLabels;
    /// For which states the reason is shown as the state's text
    reason_label = "blocked", Anybody, "state", Choice(&[
        ("blocked", |it| it.config.reason_label = ReasonLabel::Blocked),
        ("all", |it| it.config.reason_label = ReasonLabel::All),
        ("off", |it| it.config.reason_label = ReasonLabel::Off),
    ]);
    /// How much of the host's texts goes out: all, names of tools and titles, or only
    /// fixed phrases
    privacy = "text", Person, "state title tokens labels session statusline", Choice(&[
        ("text", |it| it.config.privacy = Privacy::Text),
        ("tool", |it| it.config.privacy = Privacy::Tool),
        ("fixed", |it| it.config.privacy = Privacy::Fixed),
    ]);
    /// Send the session with the first report. Herdr 0.8.2 drops it for a source of
    /// your own
    report_session = "true", Person, "session", Switch(|it, on| it.config.report_session = on);
    /// Show the session's id as token `session`
    session_token = "false", Person, "session", Switch(|it, on| it.config.session_token = on);
    /// Show how far the turn has got as token `progress`
    progress_token = "false", Person, "", Switch(|it, on| it.config.progress_token = on);
    /// Also report to the terminal (OSC 7501): outside Herdr if it is known to read reports,
    /// always, or never
    program_status = "auto", Person, "state session release", Choice(&[
        ("auto", |it| it.program_status = ProgramStatus::Auto),
        ("on", |it| it.program_status = ProgramStatus::On),
        ("off", |it| it.program_status = ProgramStatus::Off),
    ]);
    /// How long an idle that follows work waits for work to go on, in milliseconds
    settle_ms = "300", Person, "", Number(0, 60_000, "milliseconds", |it, time| {
        it.config.settle = Duration::from_millis(time);
    });
    /// How long title, labels and tokens outlive a reporter that was killed, in seconds
    metadata_ttl_s = "180", Person, "", Number(1, 86_400, "seconds", |it, time| {
        if let Ok(ttl) = Ttl::from_millis(time.saturating_mul(1000)) {
            it.config.metadata_ttl = ttl;
        }
    });
    /// Compare what was reported with what the pane shows
    verify = "true", Person, "state", Switch(|it, on| it.config.verify = on);
    /// What to do if it cannot be told whether the pane is ours
    unverified_pane = "allow", Person, "all", Choice(&[
        ("allow", |it| it.config.unverified_pane = UnverifiedPane::Allow),
        ("deny", |it| it.config.unverified_pane = UnverifiedPane::Deny),
    ]);
    /// Report also if this process is proven not to run in the pane
    any_pane = "false", Person, "all", Switch(|it, on| it.config.any_pane = on);
    /// Accept a socket that another user serves
    allow_foreign_socket = "false", Person, "all", Switch(|it, on| {
        it.config.allow_foreign_socket = on;
    });
    /// Send a request again on another connection if its answer is late
    hedge = "true", Person, "all", Switch(|it, on| it.config.hedge = on);
    /// Leave the pane to a reporter that the host has loaded and whose path contains one of
    /// these
    defer_to = "herdr-agent-state", Person, "", List(|it, list| it.config.defer_to = list.to_vec());
    /// Paths of the reporters that the host has actually loaded
    loaded_reporters = "", Person, "", List(|it, list| {
        it.config.loaded_reporters = list.iter().map(Into::into).collect();
    });
    /// What the agent is to the pane; only an interactive one claims it
    role = "interactive", Person, "all", Choice(&[
        ("interactive", |it| it.config.role = Role::Interactive),
        ("headless", |it| it.config.role = Role::Headless),
        ("subagent", |it| it.config.role = Role::Subagent),
        ("workflow_stage", |it| it.config.role = Role::WorkflowStage),
    ]);
    /// How reports travel; there is only one way
    transport = "socket", Person, "", Choice(&[("socket", |_| {})]);
    /// Let a project's file switch reporting on where your own file switches it off
    trust_project = "false", UserFile, "", Switch(|_, _| {});
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn the_defaults_here_are_those_of_the_library() {
        let mut settings = Settings::default();
        for setting in SETTINGS {
            assert!(setting.default.is_empty() || !setting.defaults().is_empty());
            setting.defaults().iter().for_each(|value| setting.kind.set(&mut settings, value));
        }
        assert_eq!(settings.config, herdr_reporter::Config::default());
        assert_eq!(settings.agent, "agent");
    }

    #[test]
    fn a_project_may_set_seven_keys() {
        let anybody = SETTINGS.iter().filter(|setting| setting.scope == Scope::Anybody);
        let keys: Vec<_> = anybody.map(|setting| setting.key).collect();
        let allowed =
            "enabled title message working_message tokens state_labels reason_label".split(' ');
        assert_eq!(keys, allowed.collect::<Vec<_>>());
    }
}
