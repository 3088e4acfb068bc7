//! The visible effects of settings.

use fake_herdr::FakeHerdr;

use crate::support::{Setup, inside, now, requests, sidecar, status};

fn with_file(setup: Setup, path: &str, text: &str) -> Setup {
    let path = setup.folder.path().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    setup
}

const PERSONS: &str = ".config/herdr-socket-report/config.toml";
const PROJECTS: &str = ".herdr-socket-report.toml";

#[test]
fn settings_that_are_wrong_stop_before_anything_is_read() {
    let setup = with_file(sidecar(&["run"]), PERSONS, "\nprivacy = 'sometimes'\n");
    let output = setup.run("");
    assert_eq!(output.code, Some(2));
    assert!(
        output.stderr.contains(
            "config.toml:2: privacy = \"sometimes\" is not allowed; expected text, tool or fixed"
        ),
        "{}",
        output.stderr
    );
    let output = sidecar(&["run"]).env("HERDR_REPORT_SETTLE_MS", "soon").run("");
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("HERDR_REPORT_SETTLE_MS: \"soon\""), "{}", output.stderr);
    let output = sidecar(&["run", "--privacy", "sometimes"]).run("");
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("--privacy: the value is not allowed"), "{}", output.stderr);
    let output = sidecar(&["run", "--transport", "cli"]).run("");
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("never runs the program"), "{}", output.stderr);
    let output = sidecar(&["run"]).env("HERDR_REPORT_LOG", "a=b=c").run("");
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("HERDR_REPORT_LOG"), "{}", output.stderr);
}

/// The output of `config show` with these two files, variables and flags: the exit code, its
/// lines without the file's names, and the complaints.
fn show(
    (persons, projects): (&str, &str),
    variables: &[(&str, &str)],
    flags: &[&str],
) -> (Option<i32>, String, String) {
    let mut setup = sidecar(&[&["config", "show"], flags].concat());
    for (path, text) in [(PERSONS, persons), (PROJECTS, projects)] {
        if !text.is_empty() {
            setup = with_file(setup, path, text);
        }
    }
    for (name, value) in variables {
        setup = setup.env(name, value);
    }
    let folder = format!("{}/", setup.folder.path().display());
    let output = setup.run("");
    let clean = |text: &str| text.replace(&folder, "").replace(".config/herdr-socket-report/", "");
    (output.code, clean(&output.stdout), clean(&output.stderr))
}

/// Checks that each of these is a line, whatever spaces it has.
#[track_caller]
fn has(shown: &str, lines: &[&str]) {
    let tidy = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: Vec<_> = shown.lines().map(tidy).collect();
    for line in lines {
        assert!(shown.contains(&(*line).to_owned()), "{line}\n{shown:#?}");
    }
}

#[test]
fn stronger_sources_win() {
    let files = ("title = 'none'\nsettle_ms = 1\nverify = false", "title = 'session'");
    let variables = [("HERDR_REPORT_SETTLE_MS", "2"), ("HERDR_REPORT_PRIVACY", "tool")];
    let (code, shown, complaints) = show(files, &variables, &["--privacy", "fixed"]);
    assert_eq!((code, complaints.as_str()), (Some(0), ""));
    has(
        &shown,
        &[
            "title = \"session\" # .herdr-socket-report.toml:1",
            "settle_ms = 2 # HERDR_REPORT_SETTLE_MS",
            "privacy = \"fixed\" # --privacy",
            "verify = false # config.toml:3",
            "metadata_ttl_s = 180 # default",
            "source = \"custom:agent\" # default, from the agent's name",
        ],
    );
}

#[test]
fn each_mistake_names_line_key_value_and_what_is_allowed() {
    let text = "enabled = 'yes'\n# a remark\nprivacy = 'sometimes'\ntitel = 'session'\nsettle_ms = -5\n\
                any-pane = true\ntransport = 'cli'\ndefer_to = ['a', 1]\ncolour = 3\n\
                [state_labels]\nbusy = 'x'\nidle = 4\n";
    let (code, _, complaints) = show((text, "verify = \n"), &[("HERDR_REPORT_VERIFFY", "1")], &[]);
    assert_eq!(code, Some(2));
    let expected = [
        "config.toml:1: enabled = \"yes\" is not allowed; expected true or false",
        "config.toml:3: privacy = \"sometimes\" is not allowed; expected text, tool or fixed",
        "config.toml:4: \"titel\" is not a setting; did you mean title?",
        "config.toml:5: settle_ms = -5 is not allowed; expected a whole number from 0 to 60000 (milliseconds)",
        "config.toml:6: \"any-pane\" is not a setting; did you mean any_pane?",
        "config.toml:7: transport = \"cli\" is refused: this client speaks to the socket and never runs the program; expected socket",
        "config.toml:8: defer_to = [...] is not allowed; expected a list of texts",
        "config.toml:9: \"colour\" is not a setting; allowed are enabled, agent, source",
        "config.toml:11: state_labels: \"busy\" is not a state; expected idle, working, blocked, done or unknown",
        "config.toml:12: state_labels.idle is not allowed; expected a text",
        ".herdr-socket-report.toml:1: ",
        "\"HERDR_REPORT_VERIFFY\" is not a setting; did you mean HERDR_REPORT_VERIFY?",
    ];
    assert_eq!(complaints.lines().count(), expected.len(), "{complaints}");
    for (complaint, expected) in complaints.lines().zip(expected) {
        let complaint = complaint.strip_prefix("herdr-socket-report: ").unwrap();
        assert!(complaint.starts_with(expected), "{complaint}\n{expected}");
    }
    let (_, _, complaints) = show((&"#".repeat(70_000), ""), &[], &[]);
    assert!(complaints.contains("config.toml: cannot be read: it is over 64 KiB"), "{complaints}");
}

#[test]
fn a_project_sets_only_what_a_stranger_may_set() {
    let (code, _, complaints) = show(("", "privacy = 'text'"), &[], &[]);
    assert_eq!(code, Some(2));
    assert!(complaints.contains("privacy cannot be set by a project's file"), "{complaints}");
    let on = "enabled = true";
    for (persons, projects, variable, enabled, warned) in [
        ("enabled = false", on, "", "enabled = false # config.toml:1", true),
        (
            "enabled = false\ntrust_project = true",
            on,
            "",
            "enabled = true # .herdr-socket-report.toml:1",
            false,
        ),
        (on, "enabled = false", "", "enabled = false # .herdr-socket-report.toml:1", false),
        ("enabled = false", on, "1", "enabled = true # HERDR_REPORT_ENABLED", true),
    ] {
        let variable = [("HERDR_REPORT_ENABLED", variable)];
        let variable = if variable[0].1.is_empty() { &[][..] } else { &variable };
        let (_, shown, complaints) = show((persons, projects), variable, &[]);
        has(&shown, &[enabled]);
        assert_eq!(complaints.contains("enabled = true has no effect"), warned, "{complaints}");
    }
}

#[test]
fn labels_merge_by_state_and_lists_by_flag() {
    let files = (
        "defer_to = ['x']\nstate_labels = { idle = 'ready', blocked = 'wait', working = ' ' }",
        "[state_labels]\nblocked = 'needs you'\nidle = ''\n",
    );
    let flags = ["--defer-to", "a,b", "--defer-to=c", "--loaded-reporter", "/p", "--any-pane"];
    let variables = [("HERDR_REPORT_STATE_LABELS", "done=finished")];
    let (code, shown, _) = show(files, &variables, &flags);
    assert_eq!(code, Some(0));
    has(
        &shown,
        &[
            "state_labels.idle = \"ready\" # config.toml:2",
            "state_labels.blocked = \"needs you\" # .herdr-socket-report.toml:2",
            "state_labels.done = \"finished\" # HERDR_REPORT_STATE_LABELS",
            "defer_to = [\"a\", \"b\", \"c\"] # --defer-to",
            "loaded_reporters = [\"/p\"] # --loaded-reporters",
            "any_pane = true # --any-pane",
        ],
    );
    assert!(!shown.contains("state_labels.working"), "{shown}");
}

#[test]
fn official_names_are_refused_and_known_ones_warn() {
    let herdr = FakeHerdr::start().unwrap();
    let output = inside(&herdr, &["run", "--source", "herdr:pi", "--agent", "pi"]).run("");
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("--source: source herdr:pi with agent pi"), "{}", output.stderr);
    assert_eq!(herdr.connections(), 0);

    let output = inside(&herdr, &["run", "--agent", "codex"]).run("");
    assert_eq!(output.code, Some(0));
    assert!(output.stderr.contains("Herdr knows an agent of this name"), "{}", output.stderr);
    assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
}

#[test]
fn who_does_not_claim_does_not_connect() {
    let herdr = FakeHerdr::start().unwrap();
    for flags in [
        &["--enabled=false"][..],
        &["--role", "headless"],
        &["--role", "subagent"],
        &["--loaded-reporter", "/plugins/herdr-agent-state.js"],
    ] {
        let setup = inside(&herdr, &[&["run", "--strict"], flags].concat());
        let output = setup.run("{\"event\": \"agent_started\"}\n{\"event\": \"flush\"}\n");
        assert_eq!(output.code, Some(0), "{flags:?}");
        let answer = "{\"flushed\":null,\"ok\":false,\"reason\":\"off\"}\n";
        assert_eq!(output.stdout, answer, "{flags:?}");
    }
    assert_eq!(herdr.connections(), 0);
}

#[test]
fn settings_reach_the_pane() {
    let herdr = FakeHerdr::start().unwrap();
    let setup =
        with_file(inside(&herdr, &["run", "--agent", "pixie"]), PERSONS, "title = 'none'\n");
    let setup = with_file(setup, PROJECTS, "[state_labels]\nworking = 'on it'\n");
    let mut sidecar = setup.env("HERDR_REPORT_TOKENS", "none").start();
    sidecar.line(r#"{"event": "session_started", "session_id": "s", "title": "T", "model": "m"}"#);
    sidecar.line(r#"{"event": "agent_started"}"#);
    sidecar.line(r#"{"event": "flush"}"#);
    assert_eq!(sidecar.answer(), r#"{"flushed":null,"ok":true}"#);
    status(&herdr, "working");
    let pane = now(&herdr);
    assert_eq!(pane.agent.as_deref(), Some("pixie"));
    assert_eq!(pane.title, None);
    assert_eq!(pane.state_labels["working"], "on it");
    assert!(pane.tokens.is_empty());
    assert_eq!(requests(&herdr, "pane.report_agent")[0]["source"], "custom:pixie");
    assert_eq!(sidecar.finish().code, Some(0));
}

#[test]
fn config_show_names_every_value_and_its_origin() {
    let setup =
        with_file(sidecar(&["config", "show", "--privacy", "tool"]), PERSONS, "verify = false");
    let output = setup.env("HERDR_REPORT_AGENT", "pixie").run("");
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    let line = |key: &str| {
        let start = format!("{key} = ");
        output.stdout.lines().find(|line| line.starts_with(&start)).unwrap().to_owned()
    };
    assert!(line("verify").ends_with("config.toml:1"), "{}", line("verify"));
    assert!(line("verify").starts_with("verify = false"));
    assert!(line("agent").ends_with("# HERDR_REPORT_AGENT"));
    assert!(line("privacy").ends_with("# --privacy"));
    assert!(line("source").contains("custom:pixie"));
    assert!(line("settle_ms").ends_with("# default"));
    assert!(output.stdout.contains("project file: "));

    // The output is a settings file with the same effect.
    let again = with_file(sidecar(&["config", "show"]), PERSONS, &output.stdout).run("");
    assert_eq!((again.code, again.stderr.as_str()), (Some(0), ""));
    let values = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.map(|line| line.split("  #").next().unwrap().trim_end().to_owned()).collect()
    };
    assert_eq!(values(&again.stdout), values(&output.stdout));
}

#[test]
fn what_config_show_prints_is_a_settings_file() {
    let text =
        "display_name = \"a\\nb\\t\\\"'\\\\\\u007f\"\ndefer_to = [\"x\\ny\"]\nsettle_ms = 7\n";
    let show = |text: &str| with_file(sidecar(&["config", "show"]), PERSONS, text).run("").stdout;
    let shown = show(text);
    let values = |shown: &str| toml::from_str::<toml::Table>(shown).unwrap();
    assert_eq!(values(&shown)["display_name"], values(text)["display_name"], "{shown}");
    assert_eq!(values(&shown)["defer_to"], values(text)["defer_to"], "{shown}");
    assert_eq!(values(&show(&shown)), values(&shown));
}

#[test]
fn nothing_in_a_file_reaches_the_terminal_as_a_control_sequence() {
    let text = "display_name = \"a\\u001b[2Jb\\u202e\"\n\"k\\u001b[31m\" = 1\n";
    let output = with_file(sidecar(&["config", "show"]), PERSONS, text).run("");
    assert_eq!(output.code, Some(2));
    assert!(!output.stderr.contains('\u{1b}'), "{:?}", output.stderr);
    let first = text.lines().next().unwrap();
    let output = with_file(sidecar(&["config", "show"]), PERSONS, first).run("");
    assert_eq!(output.code, Some(0));
    let wild = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!output.stdout.chars().any(wild), "{:?}", output.stdout);
}

#[test]
fn the_manual_has_every_setting_with_its_default() {
    let manual = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sidecar.md");
    let manual = std::fs::read_to_string(manual).unwrap();
    let output = sidecar(&["config", "show"]).run("");
    let settings = output.stdout.lines().filter(|line| line.contains(" =")).map(|line| {
        let line = line.trim_start_matches("# ").split("  #").next().unwrap();
        let (key, value) = line.split_once(" =").unwrap();
        (key, value.trim().trim_matches(['[', ']', '"']))
    });
    let mut count = 0;
    for (key, value) in settings {
        let row = manual.lines().find(|line| line.starts_with(&format!("| `{key}` |")));
        let row = row.unwrap_or_else(|| panic!("{key} is in the manual"));
        if key != "source" && !value.is_empty() {
            assert!(row.contains(&format!("| `{value}` |")), "{row}: {value}");
        }
        count += 1;
    }
    assert_eq!(count, 27);
}
