//! The command line.

use std::path::Path;
use std::process::Command;

use fake_herdr::FakeHerdr;

use crate::hosts::there_is;
use crate::support::{inside, sidecar, status};

#[test]
fn help_names_every_command_and_goes_to_stdout() {
    let output = sidecar(&["--help"]).run("");
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    for command in ["run", "demo", "config", "completions", "man"] {
        assert!(output.stdout.contains(&format!("  {command}")), "{command}");
    }
    let output = sidecar(&["run", "--help"]).run("");
    assert_eq!(output.code, Some(0));
    for flag in ["--socket", "--pane", "--agent", "--source", "--any-pane", "--receipts"] {
        assert!(output.stdout.contains(flag), "{flag}");
    }
}

#[test]
fn the_version_is_the_packages() {
    let output = sidecar(&["--version"]).run("");
    assert_eq!(output.stdout, format!("herdr-socket-report {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn commands_that_do_not_exist_are_usage_errors() {
    for arguments in [&["report"][..], &[], &["run", "--no-such-flag"], &["exec"]] {
        let output = sidecar(arguments).run("");
        assert_eq!(output.code, Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn completions_and_the_manual_come_out() {
    for shell in ["bash", "zsh", "fish"] {
        let output = sidecar(&["completions", shell]).run("");
        assert_eq!(output.code, Some(0));
        assert!(output.stdout.contains("herdr-socket-report"), "{shell}");
    }
    let output = sidecar(&["man"]).run("");
    assert_eq!(output.code, Some(0));
    assert!(output.stdout.contains(".TH herdr-socket-report 1"), "{}", &output.stdout[..200]);
    let output = sidecar(&["man", "run"]).run("");
    let title = concat!("1 \" \" \"herdr-socket-report ", env!("CARGO_PKG_VERSION"), "\" Herdr");
    assert!(output.stdout.contains(title), "{}", &output.stdout[..200]);
    for text in [".TH herdr-socket-report-run 1", "\\-\\-unverified\\-pane", "prompt_opened"] {
        assert!(output.stdout.contains(text), "{text}");
    }
    for command in [&["man", "config", "nothing"][..], &["man", "supervisor"]] {
        let output = sidecar(command).run("");
        assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""));
    }
}

#[test]
fn bash_completes_by_its_script() {
    if !there_is("bash") {
        return;
    }
    let script = sidecar(&["completions", "bash"]).run("").stdout;
    let asked = r#"
        eval "$1"; shift
        for word in $(complete -p herdr-socket-report); do
            test "$last" = -F && function=$word; last=$word
        done
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        $function herdr-socket-report "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        echo "${COMPREPLY[@]}""#;
    let arguments = ["--norc", "-c", asked, "bash", &script, "herdr-socket-report", "state", "w"];
    assert_eq!(said_by("bash", &arguments), "working");
}

#[test]
fn fish_completes_by_its_script() {
    if !there_is("fish") {
        return;
    }
    let asked = "herdr-socket-report completions fish | source; \
                 complete -C 'herdr-socket-report state w'";
    assert_eq!(said_by("fish", &["--no-config", "-c", asked]), "working");
}

/// The output of a shell that has the program in its `PATH`.
fn said_by(shell: &str, arguments: &[&str]) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_herdr-socket-report"));
    let home = tempfile::tempdir().unwrap();
    let path = std::env::var("PATH").unwrap();
    let output = Command::new(shell)
        .args(arguments)
        .env("PATH", format!("{}:{path}", program.parent().unwrap().display()))
        .env("HOME", home.path())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn shells_complete_states_keys_processes_and_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let completes = |words: &[&str]| -> Vec<String> {
            let setup = sidecar(&[&["--", "herdr-socket-report"], words].concat())
                .env("HERDR_SOCKET_REPORT_COMPLETE", shell)
                .env("PATH", "/usr/bin:/bin")
                .env("_CLAP_COMPLETE_INDEX", &words.len().to_string())
                .env("_CLAP_IFS", "\n");
            let output = setup.run("");
            assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{shell} {words:?}");
            // Zsh and fish also show a description of the word.
            let word = |line: &str| line.trim().split([':', '\t']).next().unwrap().to_owned();
            let lines = output.stdout.lines().filter(|line| !line.starts_with("\\:"));
            lines.map(word).filter(|word| !word.is_empty()).collect()
        };
        assert_eq!(completes(&["do"]), ["doctor"], "{shell}");
        assert_eq!(completes(&["state", "w"]), ["working"], "{shell}");
        assert_eq!(completes(&["exec", "--state", "b"]), ["blocked"], "{shell}");
        assert_eq!(completes(&["pane", "keys", "ent"]), ["enter"], "{shell}");
        let this = std::process::id().to_string();
        assert!(completes(&["attach", "--pid", &this]).contains(&this), "{shell}");
        assert!(completes(&["exec", "tru"]).contains(&"true".to_owned()), "{shell}");
        assert_eq!(completes(&["run", "--privacy", ""]), ["text", "tool", "fixed"], "{shell}");
        assert!(completes(&["watch", "--s"]).contains(&"--strict".to_owned()), "{shell}");
        assert!(completes(&["sup"]).is_empty(), "{shell}: only for people");
    }
}

#[test]
fn flags_name_a_pane_outside_herdr_only_together() {
    let herdr = FakeHerdr::start().unwrap();
    let socket = herdr.socket_path().to_str().unwrap();
    let output = sidecar(&["run", "--socket", socket]).run("");
    assert_eq!(output.code, Some(2));
    assert!(
        output.stderr.contains("--socket alone does not name a pane, add --pane"),
        "{}",
        output.stderr
    );
    let output = sidecar(&["run", "--socket", socket, "--pane", "a b"]).run("");
    assert_eq!(output.code, Some(2));

    let mut both = sidecar(&["run", "--socket", socket, "--pane", "w1:p1"]).start();
    both.line(r#"{"event": "agent_started"}"#);
    status(&herdr, "working");
    assert_eq!(both.finish().code, Some(0));
}

#[test]
fn flags_come_before_the_environment() {
    let herdr = FakeHerdr::start().unwrap();
    let other = FakeHerdr::start().unwrap();
    let socket = other.socket_path().to_str().unwrap();
    let mut sidecar = inside(&herdr, &["run", "--socket", socket, "--agent", "Pixie"]).start();
    sidecar.line(r#"{"event": "agent_started"}"#);
    assert_eq!(status(&other, "working").agent.as_deref(), Some("Pixie"));
    assert_eq!(sidecar.finish().code, Some(0));
    assert_eq!(herdr.connections(), 0);
}
