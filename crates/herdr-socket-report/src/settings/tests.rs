use std::path::PathBuf;

use super::*;

/// A folder with a person's and a project's file.
struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new(persons: &str, projects: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("persons.toml", persons), ("projects.toml", projects)] {
            if !text.is_empty() {
                std::fs::write(folder.path().join(name), text).unwrap();
            }
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn load(&self, variables: &[(&str, &str)], flags: &[&str]) -> Result<Loaded, Vec<String>> {
        load(Sources {
            persons_file: Some(self.path("persons.toml")),
            projects_file: self.path("projects.toml"),
            variables: variables.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            flags: parse(flags),
            agent: None,
        })
    }

    /// The problems, with the folder's name taken out.
    fn problems(&self, variables: &[(&str, &str)]) -> Vec<String> {
        let problems = self.load(variables, &[]).unwrap_err();
        let folder = format!("{}/", self.folder.path().display());
        problems.iter().map(|problem| problem.replace(&folder, "")).collect()
    }
}

fn parse(flags: &[&str]) -> SettingFlags {
    use clap::{Args as _, FromArgMatches as _};

    let command = SettingFlags::augment_args(clap::Command::new("test"));
    let matches = command.try_get_matches_from(["test"].iter().chain(flags)).unwrap();
    SettingFlags::from_arg_matches(&matches).unwrap()
}

fn origin(loaded: &Loaded, key: &str) -> String {
    let shown = loaded.shown.iter().find(|shown| shown.key == key).unwrap();
    let origin = shown.origin.rsplit('/').next().unwrap();
    format!("{} from {origin}", shown.value.as_deref().unwrap_or("nothing"))
}

#[test]
fn stronger_sources_win() {
    let files = Files::new("title = 'none'\nsettle_ms = 1\nverify = false", "title = 'session'");
    let loaded = files
        .load(
            &[("HERDR_REPORT_SETTLE_MS", "2"), ("HERDR_REPORT_PRIVACY", "tool")],
            &["--privacy", "fixed"],
        )
        .unwrap();
    assert_eq!(origin(&loaded, "title"), "\"session\" from projects.toml:1");
    assert_eq!(origin(&loaded, "settle_ms"), "2 from HERDR_REPORT_SETTLE_MS");
    assert_eq!(origin(&loaded, "privacy"), "\"fixed\" from --privacy");
    assert_eq!(origin(&loaded, "verify"), "false from persons.toml:3");
    assert_eq!(origin(&loaded, "metadata_ttl_s"), "180 from default");
    assert_eq!(loaded.settings.config.settle.as_millis(), 2);
    assert_eq!(loaded.settings.config.privacy, Privacy::Fixed);
    assert!(!loaded.settings.config.verify);
    assert!(loaded.warnings.is_empty());
}

#[test]
fn each_mistake_in_a_file_names_line_key_value_and_what_is_allowed() {
    let text = "enabled = 'yes'\n# a remark\nprivacy = 'sometimes'\ntitel = 'session'\nsettle_ms = -5\n\
                any-pane = true\ntransport = 'cli'\ndefer_to = ['a', 1]\ncolour = 3\n\
                [state_labels]\nbusy = 'x'\nidle = 4\n";
    let problems = Files::new(text, "").problems(&[]);
    let expected = [
        "persons.toml:1: enabled = \"yes\" is not allowed; expected true or false",
        "persons.toml:3: privacy = \"sometimes\" is not allowed; expected text, tool or fixed",
        "persons.toml:4: \"titel\" is not a setting; did you mean title?",
        "persons.toml:5: settle_ms = -5 is not allowed; expected a whole number from 0 to 60000 (milliseconds)",
        "persons.toml:6: \"any-pane\" is not a setting; did you mean any_pane?",
        "persons.toml:7: transport = \"cli\" is refused: this client speaks to the socket and never runs the program; expected socket",
        "persons.toml:8: defer_to = [...] is not allowed; expected a list of texts",
        "persons.toml:9: \"colour\" is not a setting; allowed are enabled, agent, source",
        "persons.toml:11: state_labels: \"busy\" is not a state; expected idle, working, blocked, done or unknown",
        "persons.toml:12: state_labels.idle is not allowed; expected a text",
    ];
    assert_eq!(problems.len(), expected.len(), "{problems:#?}");
    for (problem, expected) in problems.iter().zip(expected) {
        assert!(problem.starts_with(expected), "{problem}\n{expected}");
    }
}

#[test]
fn a_file_that_is_no_toml_names_the_line() {
    let problems = Files::new("enabled = true\nverify = \n", "").problems(&[]);
    assert_eq!(problems.len(), 1);
    assert!(problems[0].starts_with("persons.toml:2: "), "{problems:?}");
}

#[test]
fn variables_are_named() {
    let files = Files::new("", "");
    let problems = files.problems(&[
        ("HERDR_REPORT_VERIFY", "sometimes"),
        ("HERDR_REPORT_VERIFFY", "never"),
        ("HERDR_REPORT_TRUST_PROJECT", "true"),
        ("HERDR_REPORT_LOG", "anything"),
        ("HERDR_REPORT_SOCKET", "/anything"),
        ("HERDR_OTHER", "anything"),
    ]);
    assert_eq!(
        problems,
        [
            "\"HERDR_REPORT_TRUST_PROJECT\" is not a setting; see `herdr-socket-report config show`",
            "\"HERDR_REPORT_VERIFFY\" is not a setting; did you mean HERDR_REPORT_VERIFY?",
            "HERDR_REPORT_VERIFY: \"sometimes\" is not allowed; expected true or false",
        ]
    );
}

#[test]
fn a_project_sets_only_what_a_stranger_may_set() {
    for key in SETTINGS.iter().filter(|setting| setting.scope != table::Scope::Anybody) {
        let problems = Files::new("", &format!("{} = true", key.key)).problems(&[]);
        let expected = format!("projects.toml:1: {} cannot be set by a project's file", key.key);
        assert!(problems[0].starts_with(&expected), "{problems:?}");
    }
}

#[test]
fn a_project_switches_on_only_what_its_person_trusts() {
    for (persons, projects, enabled, warned) in [
        ("enabled = false", "enabled = true", false, true),
        ("enabled = false\ntrust_project = true", "enabled = true", true, false),
        ("enabled = true", "enabled = false", false, false),
        ("", "enabled = true", true, false),
    ] {
        let loaded = Files::new(persons, projects).load(&[], &[]).unwrap();
        assert_eq!(loaded.settings.config.enabled, enabled, "{persons} {projects}");
        assert_eq!(!loaded.warnings.is_empty(), warned, "{persons} {projects}");
    }
    let loaded = Files::new("enabled = false", "enabled = true")
        .load(&[("HERDR_REPORT_ENABLED", "1")], &[])
        .unwrap();
    assert!(loaded.settings.config.enabled, "a variable is the person's own word");
}

#[test]
fn labels_merge_by_state_and_blank_ones_are_ignored() {
    let files = Files::new(
        "state_labels = { idle = 'ready', blocked = 'wait', working = ' ' }",
        "[state_labels]\nblocked = 'needs you'\nidle = ''\n",
    );
    let loaded = files.load(&[("HERDR_REPORT_STATE_LABELS", "done=finished")], &[]).unwrap();
    let labels: Vec<_> = loaded
        .settings
        .config
        .state_labels
        .iter()
        .map(|(state, label)| (state.as_str(), label.as_str()))
        .collect();
    assert_eq!(labels, [("idle", "ready"), ("blocked", "needs you"), ("done", "finished")]);
    assert_eq!(origin(&loaded, "state_labels.blocked"), "\"needs you\" from projects.toml:2");
}

#[test]
fn official_pairs_are_refused_and_doubtful_ones_warn() {
    for (source, agent, _) in herdr_proto::integrations() {
        let text = format!("source = '{source}'\nagent = '{agent}'");
        let problems = Files::new(&text, "").problems(&[]);
        assert!(problems[0].starts_with("persons.toml:1: source herdr:"), "{problems:?}");
    }
    for (text, words) in [
        ("source = 'herdr:pi'\nagent = 'mine'", "keeps the prefix"),
        ("agent = 'Claude-Code'", "knows an agent of this name"),
    ] {
        let loaded = Files::new(text, "").load(&[], &[]).unwrap();
        assert!(loaded.warnings[0].contains(words), "{:?}", loaded.warnings);
    }
}

#[test]
fn lists_come_from_all_flags_of_a_name_and_replace_weaker_ones() {
    let files = Files::new("defer_to = ['x']", "");
    let flags = ["--defer-to", "a,b", "--defer-to=c", "--loaded-reporter", "/p", "--any-pane"];
    let config = files.load(&[], &flags).unwrap().settings.config;
    assert_eq!(config.defer_to, ["a", "b", "c"]);
    assert_eq!(config.loaded_reporters, [PathBuf::from("/p")]);
    assert!(config.any_pane);
    let config = files.load(&[("HERDR_REPORT_DEFER_TO", "")], &[]).unwrap().settings.config;
    assert!(config.defer_to.is_empty());
}

#[test]
fn only_a_regular_file_of_a_sensible_size_is_read() {
    let files = Files::new("", "");
    std::fs::create_dir(files.path("projects.toml")).unwrap();
    let problems = files.problems(&[]);
    assert_eq!(problems, ["projects.toml: cannot be read: it is not a regular file"]);

    let files = Files::new(&"#".repeat(70_000), "");
    assert_eq!(files.problems(&[]), ["persons.toml: cannot be read: it is over 64 KiB"]);
}

#[test]
fn every_setting_is_shown_once_as_a_line_of_a_file() {
    let loaded = Files::new("", "").load(&[], &["--display-name", "A \"b\"\n"]).unwrap();
    assert_eq!(loaded.shown.len(), SETTINGS.len());
    let text: String = loaded
        .shown
        .iter()
        .filter_map(|shown| Some(format!("{} = {}\n", shown.key, shown.value.as_ref()?)))
        .collect();
    let again = Files::new(&text, "").load(&[], &[]).unwrap();
    assert_eq!(again.settings.config.display_name.as_deref(), Some("A \"b\"\n"));
    assert_eq!(origin(&loaded, "source"), "\"custom:agent\" from default, from the agent's name");
}

#[test]
fn the_defaults_here_are_those_of_the_library() {
    let settings = Files::new("", "").load(&[], &[]).unwrap().settings;
    assert_eq!(settings.config, Config::default());
    assert_eq!(settings.agent, "agent");
}

#[test]
fn every_word_of_a_choice_means_something_else() {
    for setting in SETTINGS {
        let words = setting.kind.words();
        let meanings = words.iter().map(|word| {
            let mut settings = Settings::default();
            for value in setting.kind.read_text(word).unwrap() {
                setting.kind.set(&mut settings, &value);
            }
            format!("{settings:?}")
        });
        let meanings: std::collections::HashSet<String> = meanings.collect();
        assert_eq!(meanings.len(), words.len(), "{}", setting.key);
    }
}

#[test]
fn a_project_may_set_seven_keys() {
    let anybody = SETTINGS.iter().filter(|setting| setting.scope == table::Scope::Anybody);
    let keys: Vec<_> = anybody.map(|setting| setting.key).collect();
    let allowed =
        "enabled title message working_message tokens state_labels reason_label".split(' ');
    assert_eq!(keys, allowed.collect::<Vec<_>>());
}
