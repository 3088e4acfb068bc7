//! The one place where a setting is described. Reading files, variables and
//! flags, their messages, the help texts and `config show` derive from it.

use std::time::Duration;

use herdr_proto::{SourceId, Ttl};
use herdr_reporter::{Privacy, ReasonLabel, Role, Source, UnverifiedPane};

use super::kind::Kind;
use super::value::Value;
use super::{ProgramStatus, Settings};

/// A setting: its name everywhere, what it takes, and what it does.
#[derive(Debug)]
pub(crate) struct Setting {
    /// The key in files. Variables and flags are made of it.
    pub(crate) key: &'static str,
    /// What it takes.
    pub(crate) kind: Kind,
    /// The built-in value in the text form of variables and flags; empty where
    /// nothing is set.
    pub(crate) default: &'static str,
    /// Who may set it.
    pub(crate) scope: Scope,
    /// What it is for, as a flag's help says it.
    pub(crate) help: &'static str,
    /// Puts a value into the settings.
    pub(crate) set: fn(&mut Settings, &Value),
}

/// Who may set a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Everybody, also a file in the working directory.
    Anybody,
    /// The person who runs it: their file, variables and flags. What a cloned
    /// project says does not count.
    Person,
    /// Only the person's own file.
    PersonsFile,
}

impl Setting {
    /// The name of its flag, without the dashes before it.
    pub(crate) fn flag(&self) -> String {
        self.key.replace('_', "-")
    }

    /// The name of its variable.
    pub(crate) fn variable(&self) -> String {
        format!("{VARIABLE_PREFIX}{}", self.key.to_uppercase())
    }

    /// The built-in values. Those that are not set have none.
    pub(crate) fn defaults(&self) -> Vec<Value> {
        if self.default.is_empty() {
            return Vec::new();
        }
        self.kind.read_text(self.default).unwrap_or_default()
    }
}

/// What the name of every setting's variable begins with.
pub(crate) const VARIABLE_PREFIX: &str = "HERDR_REPORT_";

/// The setting with this key.
pub(crate) fn setting(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

/// Every setting, in the order in which people read about them.
pub(crate) static SETTINGS: [Setting; 26] = [
    Setting {
        key: "enabled",
        kind: Kind::Switch,
        default: "true",
        scope: Scope::Anybody,
        help: "Report at all. Switched off, nothing connects and input is read to its end",
        set: |settings, value| settings.config.enabled = value.switch(),
    },
    Setting {
        key: "agent",
        kind: Kind::Agent,
        default: "agent",
        scope: Scope::Person,
        help: "The agent's name in the sidebar; without one `exec` takes its command's. A name \
               that Herdr knows itself is watched by Herdr too, so take one of your own",
        set: |settings, value| value.text().clone_into(&mut settings.agent),
    },
    Setting {
        key: "source",
        kind: Kind::Source,
        default: "",
        scope: Scope::Person,
        help: "Who reports, as Herdr files it; constant for a host. Without one it is `custom:` \
               and the agent's name",
        set: |settings, value| settings.config.source = SourceId::parse(value.text()).ok(),
    },
    Setting {
        key: "display_name",
        kind: Kind::Text,
        default: "",
        scope: Scope::Person,
        help: "Shown instead of the agent's name",
        set: |settings, value| {
            settings.config.display_name = Some(value.text().to_owned()).filter(|n| !n.is_empty());
        },
    },
    Setting {
        key: "title",
        kind: Kind::words(&["session", "none"]),
        default: "session",
        scope: Scope::Anybody,
        help: "Where the pane's title comes from",
        set: |settings, value| settings.config.title = from(value),
    },
    Setting {
        key: "message",
        kind: Kind::words(&["tool", "none"]),
        default: "tool",
        scope: Scope::Anybody,
        help: "Where the reason of a block comes from",
        set: |settings, value| settings.config.message = from(value),
    },
    Setting {
        key: "working_message",
        kind: Kind::words(&["tool", "none"]),
        default: "tool",
        scope: Scope::Anybody,
        help: "Where the reason while working comes from",
        set: |settings, value| settings.config.working_message = from(value),
    },
    Setting {
        key: "tokens",
        kind: Kind::words(&["auto", "none"]),
        default: "auto",
        scope: Scope::Anybody,
        help: "Which tokens go out: model, ctx and the host's own, or none at all",
        set: |settings, value| settings.config.tokens = from(value),
    },
    Setting {
        key: "state_labels",
        kind: Kind::StateLabels,
        default: "",
        scope: Scope::Anybody,
        help: "Texts shown for states where the host sets none; blank ones are ignored",
        set: |settings, value| {
            if let Value::Label(state, label) = value {
                settings.config.state_labels.insert(*state, label.clone());
            }
        },
    },
    Setting {
        key: "reason_label",
        kind: Kind::words(&["blocked", "all", "off"]),
        default: "blocked",
        scope: Scope::Anybody,
        help: "For which states the reason is shown as the state's text",
        set: |settings, value| {
            settings.config.reason_label = match value.word() {
                "all" => ReasonLabel::All,
                "off" => ReasonLabel::Off,
                _ => ReasonLabel::Blocked,
            };
        },
    },
    Setting {
        key: "privacy",
        kind: Kind::words(&["text", "tool", "fixed"]),
        default: "text",
        scope: Scope::Person,
        help: "How much of the host's texts goes out: all, names of tools and titles, or only \
               fixed phrases",
        set: |settings, value| {
            settings.config.privacy = match value.word() {
                "tool" => Privacy::Tool,
                "fixed" => Privacy::Fixed,
                _ => Privacy::Text,
            };
        },
    },
    Setting {
        key: "report_session",
        kind: Kind::Switch,
        default: "true",
        scope: Scope::Person,
        help: "Send the session with the first report. Herdr 0.8.2 drops it for a source of \
               your own",
        set: |settings, value| settings.config.report_session = value.switch(),
    },
    Setting {
        key: "session_token",
        kind: Kind::Switch,
        default: "false",
        scope: Scope::Person,
        help: "Show the session's id as token `session`",
        set: |settings, value| settings.config.session_token = value.switch(),
    },
    Setting {
        key: "progress_token",
        kind: Kind::Switch,
        default: "false",
        scope: Scope::Person,
        help: "Show how far the turn has got as token `progress`",
        set: |settings, value| settings.config.progress_token = value.switch(),
    },
    Setting {
        key: "program_status",
        kind: Kind::words(&["auto", "on", "off"]),
        default: "auto",
        scope: Scope::Person,
        help: "Tell the terminal what is reported (OSC 7501): outside Herdr where it is known to \
               read that, always, or never",
        set: |settings, value| {
            settings.program_status = match value.word() {
                "on" => ProgramStatus::On,
                "off" => ProgramStatus::Off,
                _ => ProgramStatus::Auto,
            };
        },
    },
    Setting {
        key: "settle_ms",
        kind: Kind::Number { min: 0, max: 60_000, unit: "milliseconds" },
        default: "300",
        scope: Scope::Person,
        help: "How long an idle that follows work waits for work to go on, in milliseconds",
        set: |settings, value| settings.config.settle = Duration::from_millis(value.number()),
    },
    Setting {
        key: "metadata_ttl_s",
        kind: Kind::Number { min: 1, max: 86_400, unit: "seconds" },
        default: "180",
        scope: Scope::Person,
        help: "How long title, labels and tokens outlive a reporter that was killed, in seconds",
        set: |settings, value| {
            if let Ok(ttl) = Ttl::from_millis(value.number().saturating_mul(1000)) {
                settings.config.metadata_ttl = ttl;
            }
        },
    },
    Setting {
        key: "verify",
        kind: Kind::Switch,
        default: "true",
        scope: Scope::Person,
        help: "Compare what was reported with what the pane shows",
        set: |settings, value| settings.config.verify = value.switch(),
    },
    Setting {
        key: "unverified_pane",
        kind: Kind::words(&["allow", "deny"]),
        default: "allow",
        scope: Scope::Person,
        help: "What to do on a pane that can be proven neither ours nor somebody else's",
        set: |settings, value| {
            settings.config.unverified_pane = match value.word() {
                "deny" => UnverifiedPane::Deny,
                _ => UnverifiedPane::Allow,
            };
        },
    },
    Setting {
        key: "any_pane",
        kind: Kind::Switch,
        default: "false",
        scope: Scope::Person,
        help: "Report also on a pane that is proven not to be ours",
        set: |settings, value| settings.config.any_pane = value.switch(),
    },
    Setting {
        key: "allow_foreign_socket",
        kind: Kind::Switch,
        default: "false",
        scope: Scope::Person,
        help: "Accept a socket that another user serves",
        set: |settings, value| settings.config.allow_foreign_socket = value.switch(),
    },
    Setting {
        key: "defer_to",
        kind: Kind::List,
        default: "herdr-agent-state",
        scope: Scope::Person,
        help: "Leave the pane to a loaded reporter whose path contains one of these",
        set: |settings, value| settings.config.defer_to = value.list().to_vec(),
    },
    Setting {
        key: "loaded_reporters",
        kind: Kind::List,
        default: "",
        scope: Scope::Person,
        help: "Paths of the reporters that the host has actually loaded",
        set: |settings, value| {
            settings.config.loaded_reporters = value.list().iter().map(Into::into).collect();
        },
    },
    Setting {
        key: "role",
        kind: Kind::words(&["interactive", "headless", "subagent", "workflow_stage"]),
        default: "interactive",
        scope: Scope::Person,
        help: "What the agent is to the pane; only an interactive one claims it",
        set: |settings, value| {
            settings.config.role = match value.word() {
                "headless" => Role::Headless,
                "subagent" => Role::Subagent,
                "workflow_stage" => Role::WorkflowStage,
                _ => Role::Interactive,
            };
        },
    },
    Setting {
        key: "transport",
        kind: Kind::Choice {
            words: &["socket"],
            refused: &[("cli", "this client speaks to the socket and never runs the program")],
        },
        default: "socket",
        scope: Scope::Person,
        help: "How reports travel",
        // There is one way, so there is nothing to keep.
        set: |_, _| {},
    },
    Setting {
        key: "trust_project",
        kind: Kind::Switch,
        default: "false",
        scope: Scope::PersonsFile,
        help: "Let a project's file switch reporting on where your own file switches it off",
        set: |settings, value| settings.trust_project = value.switch(),
    },
];

fn from(value: &Value) -> Source {
    match value.word() {
        "none" => Source::None,
        _ => Source::Auto,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_defaults_here_are_those_of_the_library() {
        let mut settings = Settings::default();
        for setting in &SETTINGS {
            for value in setting.defaults() {
                (setting.set)(&mut settings, &value);
            }
        }
        assert_eq!(settings.config, herdr_reporter::Config::default());
        assert_eq!(settings.agent, "agent");
    }

    #[test]
    fn every_default_is_a_value_that_may_be_set() {
        for setting in SETTINGS.iter().filter(|setting| !setting.default.is_empty()) {
            assert!(setting.kind.read_text(setting.default).is_ok(), "{}", setting.key);
        }
    }

    #[test]
    fn every_word_of_a_choice_means_something_else() {
        for setting in &SETTINGS {
            let Kind::Choice { words, .. } = setting.kind else { continue };
            let meanings: HashSet<String> = words
                .iter()
                .map(|word| {
                    let mut settings = Settings::default();
                    for value in setting.kind.read_text(word).unwrap() {
                        (setting.set)(&mut settings, &value);
                    }
                    format!("{settings:?}")
                })
                .collect();
            assert_eq!(meanings.len(), words.len(), "{}", setting.key);
        }
    }

    #[test]
    fn a_project_may_set_seven_keys() {
        let keys: Vec<_> = SETTINGS
            .iter()
            .filter(|setting| setting.scope == Scope::Anybody)
            .map(|setting| setting.key)
            .collect();
        let allowed = [
            "enabled",
            "title",
            "message",
            "working_message",
            "tokens",
            "state_labels",
            "reason_label",
        ];
        assert_eq!(keys, allowed);
    }

    #[test]
    fn keys_are_unique() {
        let keys: HashSet<_> = SETTINGS.iter().map(|setting| setting.key).collect();
        assert_eq!(keys.len(), SETTINGS.len());
    }
}
