//! The example hosts, each on a pane of the fake.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::pane::{Pane, Started};
use crate::support::states;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts").join(name)
}

/// A host in the pane, with the sidecar in its `PATH`.
fn host(pane: &Pane, program: &str, script: &str) -> Command {
    let mut command = Command::new(program);
    with_sidecar(pane, command.arg(example(script)));
    command
}

pub(crate) fn with_sidecar(pane: &Pane, command: &mut Command) {
    let sidecar = Path::new(env!("CARGO_BIN_EXE_herdr-socket-report")).parent().unwrap();
    let mut path = vec![sidecar.to_owned()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    command
        .env_clear()
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("HOME", pane.path())
        .env("XDG_RUNTIME_DIR", pane.path())
        .envs(pane.herdr.env())
        .current_dir(pane.path());
}

/// Whether this program works. It is run, because a name in `PATH` may lead nowhere.
pub(crate) fn there_is(program: &str) -> bool {
    let mut command = Command::new(program);
    let status = command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let there = status.is_ok_and(|status| status.success());
    if !there {
        let _ = writeln!(std::io::stderr(), "skipped: there is no {program} here");
    }
    there
}

/// Plays two tasks, one of them with a question.
fn plays(program: &str, script: &str, agent: &str) {
    let pane = Pane::new();
    let mut host = Started::of(host(&pane, program, script));
    let seen = pane.wait(|seen| seen.agent.is_some() && seen.tokens.contains_key("model"));
    assert_eq!(seen.agent.as_deref(), Some(agent));
    pane.wait(|seen| seen.title.as_deref() == Some("Fix the login redirect"));
    host.line("a task");
    host.line(r#"?Run "cargo \ test"?"#);
    pane.wait(|seen| {
        seen.agent_status == "blocked"
            && seen.state_labels.get("blocked").is_some_and(|why| why == r#"Run "cargo \ test"?"#)
    });
    host.line("yes");
    assert_eq!(host.answer(), "answered: yes");
    pane.wait(|seen| ["idle", "done"].contains(&seen.agent_status.as_str()));
    assert!(host.finish().success());
    pane.wait_clean();
    assert_eq!(host.complaints(), "");
}

#[test]
fn a_shell_host() {
    plays("sh", "host.sh", "shell-host");
}

#[test]
fn a_python_host() {
    if there_is("python3") {
        plays("python3", "host.py", "python-host");
    }
}

#[test]
fn a_node_host() {
    if there_is("node") {
        plays("node", "host.mjs", "node-host");
    }
}

#[test]
fn a_hook_that_is_called_for_each_event() {
    let pane = Pane::new();
    let hook = |words: &[&str]| {
        let output = host(&pane, "sh", "hook.sh").args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(hook(&["session-start", "s-1"]), "");
    assert_eq!(pane.now().agent.as_deref(), Some("my-agent"));
    assert_eq!(hook(&["prompt-submit", "-- Fix it"]), "");
    assert_eq!(hook(&["model", "large-2"]), "");
    assert_eq!(hook(&["needs-approval", "--now?"]), "");
    let seen = pane.now();
    assert_eq!((seen.agent_status.as_str(), seen.title.as_deref()), ("blocked", Some("-- Fix it")));
    assert_eq!(seen.state_labels["blocked"], "--now?");
    assert_eq!(seen.tokens["model"], "large-2");
    assert_eq!(hook(&["approved"]), "");
    assert_eq!(hook(&["subagent-start"]), "");
    assert_eq!(hook(&["stop"]), "");
    assert_eq!(states(&pane.herdr), ["idle", "working", "blocked", "working", "idle"]);
    assert_eq!(hook(&["session-end"]), "");
    pane.wait_clean();
    assert!(hook(&["nonsense"]).contains("no event nonsense"));
}
