//! Odd input has no effect on anything else.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Output, Stdio};

use crate::pane::{Pane, Started, complaints};
use crate::support::{inside, sidecar};
use crate::terminal::both_ends;

const APPENDED: &str = r#"{"type":"agent-turn-complete","last-assistant-message":"secret words"}"#;

/// A pane without a reporter, and one with a reporter.
fn panes() -> [(Pane, Option<Started>); 2] {
    let pane = Pane::new();
    let owner = pane.start(&["run"]);
    pane.client();
    [(Pane::new(), None), (pane, Some(owner))]
}

#[test]
fn f32_a_label_shows_with_every_state() {
    for (pane, _owner) in panes() {
        for (state, label) in
            [("working", "Compiling"), ("working", "Linking"), ("blocked", "May I?")]
        {
            pane.quietly(&["state", state, "--label", label]);
            pane.wait(|seen| {
                seen.agent_status == state
                    && seen.state_labels.get(state).is_some_and(|shown| shown == label)
            });
        }
        pane.quietly(&["state", "idle", "--label", "3 files"]);
        pane.wait(|seen| {
            ["idle", "done"].contains(&seen.agent_status.as_str())
                && seen.state_labels.get("done").is_some_and(|shown| shown == "3 files")
        });
        pane.quietly(&["state", "working"]);
        pane.wait(|seen| seen.agent_status == "working" && seen.state_labels.is_empty());
    }
}

#[test]
fn f32_a_flag_without_effect_is_refused_and_not_offered() {
    let pane = Pane::new();
    for (command, flag) in [
        (&["state", "working"][..], "--display-name"),
        (&["title", "T"], "--settle-ms"),
        (&["title", "T"], "--session-token"),
        (&["tokens", "a=b"], "--title"),
        (&["release"], "--reason-label"),
        (&["emit", r#"{"event":"release"}"#], "--metadata-ttl-s"),
    ] {
        let output = pane.run(&[command, &[flag, "1"]].concat());
        assert_eq!(output.status.code(), Some(0), "{command:?} {flag}");
        assert!(complaints(&output).contains(flag), "{}", complaints(&output));
        let output = pane.run(&[command, &[flag, "1", "--strict"]].concat());
        assert_eq!(output.status.code(), Some(2), "{command:?} {flag}");
        let help = sidecar(&[command[0], "--help"]).run("").stdout;
        assert!(help.contains("--agent") && !help.contains(flag), "{help}");
    }
    assert_eq!(pane.herdr.connections(), 0);
    assert!(sidecar(&["state", "--help"]).run("").stdout.contains("--reason-label"));
}

#[test]
fn f33_outside_herdr_a_terminal_is_told_and_a_pipe_is_not() {
    let pane = Pane::new();
    let (mut keys, terminal) = both_ends();
    let mut command = pane.outside(&["state", "working"]);
    let status = command.stderr(Stdio::from(terminal)).status().unwrap();
    drop(command);
    let mut told = Vec::new();
    // On Linux, the end of a terminal is an error.
    let _ = keys.read_to_end(&mut told);
    let told = String::from_utf8(told).unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.contains("not a pane of Herdr"), "{told}");
    let output = pane.outside(&["state", "working"]).output().unwrap();
    assert_eq!((output.status.code(), complaints(&output)), (Some(0), String::new()));
}

#[test]
fn f35_bytes_that_are_not_utf8_cost_themselves_only() {
    for (pane, _owner) in panes() {
        let mut command = pane.command(&["state", "blocked", "--label"]);
        let output = command.arg(OsStr::from_bytes(b"rm caf\xe9")).output().unwrap();
        assert_eq!((output.status.code(), complaints(&output)), (Some(0), String::new()));
        pane.wait(|seen| {
            seen.state_labels.get("blocked").is_some_and(|label| label == "rm caf\u{fffd}")
        });
        let output = pane.command(&["title"]).arg(OsStr::from_bytes(b"\xff T")).output().unwrap();
        assert_eq!(complaints(&output), "");
        pane.wait(|seen| seen.title.as_deref() == Some("\u{fffd} T"));
        let event = b"{\"event\":\"tokens_changed\",\"tokens\":{\"a\":\"\xff\"}}";
        let output = pane.command(&["emit"]).arg(OsStr::from_bytes(event)).output().unwrap();
        assert_eq!(complaints(&output), "");
        pane.wait(|seen| seen.tokens.get("a").is_some_and(|text| text == "\u{fffd}"));
    }
}

#[test]
fn f39_json_that_an_agent_appends_is_taken_in_silence() {
    let pane = Pane::new();
    for command in [
        &["state", "working"][..],
        &["state", "blocked", "--label", "why"],
        &["title", "T"],
        &["tokens", "a=b", "c=d"],
        &["labels", "working=on it"],
        &["session", "s"],
    ] {
        pane.quietly(&[command, &[APPENDED, "--strict"]].concat());
    }
    let seen = pane.now();
    assert_eq!((seen.agent_status.as_str(), seen.title.as_deref()), ("blocked", Some("T")));
    assert_eq!((seen.tokens.len(), seen.state_labels["working"].as_str()), (2, "on it"));
    let event = r#"{"event": "title_changed", "title": "Another"}"#;
    pane.quietly(&["emit", event, APPENDED, "--strict"]);
    assert_eq!(pane.now().title.as_deref(), Some("Another"));
    pane.quietly(&["release", APPENDED, "--strict"]);
    assert_eq!(pane.now().agent, None);
}

#[test]
fn f39_no_text_of_a_host_is_in_an_error() {
    let pane = Pane::new();
    for command in [
        &["state", "hunter2"][..],
        &["state", "working", "hunter2"],
        &["state", "working", "--hunter2"],
        &["state", "working", "-zhunter2"],
        &["state", "working", "--agent=x", "--reason-label", "hunter2"],
        &["state", "working", "--any-pane=hunter2"],
        &["title", "T", "hunter2"],
        &["title", "T", "--ttl", "hunter2"],
        &["title", "--hunter2 x"],
        &["tokens", "hunter2"],
        &["tokens", "hunter2!=x"],
        &["labels", "hunter2=x"],
        &["labels", "hunter2"],
        &["session", "s", "hunter2"],
        &["release", "hunter2"],
        &["emit", "hunter2"],
        &["emit", r#"{"event":"state_set","state":"hunter2"}"#],
        &["emit", r#"{"event":"usage_changed","used":"hunter2"}"#],
    ] {
        let output = pane.run(&[command, &["--strict"]].concat());
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        let told = complaints(&output);
        assert!(!told.is_empty() && !told.contains("hunter"), "{command:?}: {told}");
    }
    let output = pane.run(&["tokens", "a=b", "hunter2", "c=d"]);
    assert!(complaints(&output).contains("argument 2 is not KEY=TEXT"), "{}", complaints(&output));
}

/// Runs a command with this much input. Returns whether all of it was read.
fn with_input(mut command: Command, bytes: usize) -> (Output, bool) {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let taken = child.stdin.take().unwrap().write_all(&vec![b'x'; bytes]).is_ok();
    (child.wait_with_output().unwrap(), taken)
}

#[test]
fn f40_what_is_on_a_pipe_is_taken() {
    let pane = Pane::new();
    for arguments in [
        &["state", "working"][..],
        &["title", "T"],
        &["state", "nonsense"],
        &["tokens", "--no-such-flag"],
        &["emit", r#"{"event":"agent_started"}"#],
        &["release"],
    ] {
        for command in [pane.command(arguments), pane.outside(arguments)] {
            let (output, taken) = with_input(command, 300_000);
            assert!(taken && output.status.success(), "{arguments:?} {}", complaints(&output));
        }
    }
}

#[test]
fn f40_a_pipe_that_stays_open_holds_nobody_up() {
    let pane = Pane::new();
    let mut child = pane.outside(&["state", "working"]).stdin(Stdio::piped()).spawn().unwrap();
    let stdin = child.stdin.take();
    assert!(child.wait().unwrap().success());
    drop(stdin);
}

#[test]
fn f40_what_comes_late_or_through_a_script_is_taken_too() {
    let pane = Pane::new();
    for script in [
        r#"exec 3<&0; { sleep 0.03; head -c 70000 /dev/zero; } | "$0" state working"#,
        r#"head -c 70000 /dev/zero | sh -c '"$0" state working' "$0""#,
    ] {
        let program = pane.outside(&[]).get_program().to_owned();
        let mut shell = Command::new("bash");
        shell.args(["-o", "pipefail", "-c", script]).arg(program).env_clear();
        shell.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let output = shell.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{script}: {}", complaints(&output));
    }
}

#[test]
fn emit_reads_lines_from_stdin() {
    for (pane, _owner) in panes() {
        let lines = "\u{feff}{\"event\":\"agent_started\"}\n\n{\"event\":\"nonsense\"}\n\
                     {\"event\":\"title_changed\",\"title\":\"T\"}";
        let mut command = pane.command(&["emit", "-"]);
        command.stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let told = complaints(&output);
        assert_eq!(told, "herdr-socket-report: line 3: unknown event `nonsense`\n");
        pane.wait(|seen| seen.agent_status == "working" && seen.title.as_deref() == Some("T"));
    }
}

const PROJECTS: &str = ".herdr-socket-report.toml";

#[test]
fn f41_wrong_settings_keep_no_command_from_starting() {
    let herdr = fake_herdr::FakeHerdr::start().unwrap();
    for text in ["titel = 'none'\n", "title = 7\n", "agent = 'x'\n", "title = \n", "a = 1\nb = 2\n"]
    {
        let exec = ["exec", "--agent", "bot", "--state", "working", "sh", "-c", "echo it runs"];
        for setup in [inside(&herdr, &exec), sidecar(&exec)] {
            std::fs::write(setup.folder.path().join(PROJECTS), text).unwrap();
            let output = setup.run("");
            assert_eq!((output.code, output.stdout.as_str()), (Some(0), "it runs\n"), "{text}");
            assert_eq!(output.stderr.lines().count(), 1, "{text}: {}", output.stderr);
            assert!(output.stderr.contains(".toml:1: "), "{text}: {}", output.stderr);
        }
    }
    let exec = sidecar(&["exec", "true"]).env("HERDR_REPORT_VERIFFY", "1").run("");
    assert_eq!(exec.code, Some(0));
    assert!(exec.stderr.contains("did you mean HERDR_REPORT_VERIFY?"), "{}", exec.stderr);
    assert_eq!(exec.stderr.lines().count(), 1, "{}", exec.stderr);
}

#[test]
fn f41_a_wrong_word_about_privacy_shows_nothing_private() {
    let pane = Pane::new();
    let exec = ["exec", "--agent", "bot", "--state", "working", "cat"];
    let mut command = pane.command(&exec);
    command.env("HERDR_REPORT_PRIVACY", "fxied").stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    pane.wait_status("working");
    pane.run(&["title", "secret"]);
    pane.run(&["state", "blocked", "--label", "secret"]);
    let seen = pane.wait_status("blocked");
    assert_eq!(seen.title, None);
    assert!(seen.state_labels.values().all(|label| label != "secret"), "{seen:?}");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    pane.wait_clean();
}

#[test]
fn f41_the_rest_of_the_settings_counts() {
    let pane = Pane::new();
    let text = "colour = 'red'\n[state_labels]\nworking = 'on it'\nbusy = 'x'\n";
    std::fs::write(pane.path().join(PROJECTS), text).unwrap();
    let mut command = pane.start(&["exec", "--agent", "bot", "--state", "working", "cat"]);
    let seen = pane.wait_status("working");
    assert_eq!(seen.agent.as_deref(), Some("bot"));
    pane.wait(|seen| seen.state_labels.get("working").is_some_and(|label| label == "on it"));
    assert_eq!(command.finish().code(), Some(0));
    let told = command.complaints();
    assert!(told.contains("\"colour\" is not a setting") && told.contains("1 more"), "{told}");
    pane.wait_clean();
}

#[test]
fn f41_other_commands_refuse_them() {
    let pane = Pane::new();
    std::fs::write(pane.path().join(PROJECTS), "\ntitle = 'x'\n").unwrap();
    for (command, code) in [
        (&["run"][..], 2),
        (&["attach", "--pid", "1"], 2),
        (&["config", "show"], 2),
        (&["title", "T", "--strict"], 2),
        (&["title", "T"], 0),
    ] {
        let output = pane.run(command);
        assert_eq!(output.status.code(), Some(code), "{command:?}");
        let told = complaints(&output);
        let expected =
            ".herdr-socket-report.toml:2: title = \"x\" is not allowed; expected session";
        assert!(told.contains(expected), "{command:?}: {told}");
    }
}

#[test]
fn a_bad_line_is_told_once_where_both_outputs_are_one() {
    let herdr = fake_herdr::FakeHerdr::start().unwrap();
    let setup = inside(&herdr, &["run", "--receipts"]);
    let path = setup.folder.path().join("both");
    let both = std::fs::File::create(&path).unwrap();
    let mut command = setup.command;
    command.stdout(both.try_clone().unwrap()).stderr(both);
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"nonsense\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let told = std::fs::read_to_string(path).unwrap();
    assert_eq!(told.matches("not JSON").count(), 1, "{told}");
}
