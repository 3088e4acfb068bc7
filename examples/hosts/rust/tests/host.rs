//! The host on a pane of the fake.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "what fails in a helper fails the test")]

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use fake_herdr::{FakeHerdr, Observation};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// How long anything may take before a test fails. Never how long it takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running host, with nothing of the surrounding environment.
struct Host {
    child: Child,
    stdout: BufReader<ChildStdout>,
    _folder: TempDir,
}

impl Host {
    fn start(variables: Vec<(String, String)>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_rust-host"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("XDG_RUNTIME_DIR", folder.path())
            .envs(variables)
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdout, _folder: folder }
    }

    fn line(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn terminate(&self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
    }

    /// Waits for its end: how it ended, and what it wrote to stderr.
    fn ended(mut self) -> (ExitStatus, String) {
        let mut complaints = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
        (self.child.wait().unwrap(), complaints)
    }

    fn finish(mut self) -> (ExitStatus, String) {
        drop(self.child.stdin.take());
        self.ended()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn reason(pane: &Observation) -> Option<&str> {
    pane.state_labels.get("blocked").map(String::as_str)
}

fn waits_for(herdr: &FakeHerdr, status: &str) -> Observation {
    herdr.wait_until(PATIENCE, |pane| pane.agent_status == status).unwrap()
}

/// Nothing of the host is on the pane, and the release came last.
fn is_given_back(herdr: &FakeHerdr) {
    let pane = herdr.observe(herdr.pane_id()).unwrap();
    assert_eq!((pane.agent, pane.title), (None, None));
    assert!(pane.state_labels.is_empty() && pane.tokens.is_empty());
    // A copy of a request whose answer was late may come after it.
    let log = herdr.log();
    let mut sent = HashSet::new();
    let firsts: Vec<_> = log.iter().filter(|one| sent.insert(&one.request)).collect();
    let last = firsts.last().unwrap();
    assert!(last.request.contains("pane.release_agent"), "{}", last.request);
}

#[test]
fn a_command_is_asked_about_and_run() {
    let herdr = FakeHerdr::start().unwrap();
    let mut host = Host::start(herdr.env());
    let pane = waits_for(&herdr, "idle");
    assert_eq!(pane.agent.as_deref(), Some("rust-host"));
    herdr.wait_until(PATIENCE, |pane| pane.tokens.contains_key("model")).unwrap();

    host.line("echo ${HERDR_PANE_ID:-no pane}");
    assert_eq!(host.answer(), "Run echo ${HERDR_PANE_ID:-no pane}? [y/n]");
    herdr
        .wait_until(PATIENCE, |pane| {
            pane.agent_status == "blocked"
                && reason(pane) == Some("Run echo ${HERDR_PANE_ID:-no pane}?")
                && pane.title.as_deref() == Some("echo ${HERDR_PANE_ID:-no pane}")
        })
        .unwrap();
    host.line("y");
    assert_eq!(host.answer(), "no pane");
    assert_eq!(host.answer(), "exit status: 0");
    waits_for(&herdr, "idle");

    host.line("rm -rf nothing");
    assert_eq!(host.answer(), "Run rm -rf nothing? [y/n]");
    waits_for(&herdr, "blocked");
    host.line("n");
    assert_eq!(host.answer(), "not run");
    waits_for(&herdr, "idle");

    let (status, complaints) = host.finish();
    assert_eq!((status.code(), complaints.as_str()), (Some(0), ""));
    is_given_back(&herdr);
}

#[test]
fn the_end_of_the_input_waits_for_the_tool() {
    let mut host = Host::start(Vec::new());
    host.line("cat; echo done");
    host.line("y");
    drop(host.child.stdin.take());
    assert_eq!(host.answer(), "Run cat; echo done? [y/n]");
    assert_eq!(host.answer(), "done");
    let (status, complaints) = host.finish();
    assert_eq!((status.code(), complaints.as_str()), (Some(0), ""), "outside Herdr, the same");
}

#[test]
fn a_signal_ends_it_in_good_order_while_it_asks() {
    let herdr = FakeHerdr::start().unwrap();
    let mut host = Host::start(herdr.env());
    host.line("true");
    waits_for(&herdr, "blocked");
    host.terminate();
    let (status, complaints) = host.ended();
    assert_eq!((status.signal(), complaints.as_str()), (Some(15), ""));
    is_given_back(&herdr);
}

#[test]
fn a_signal_ends_it_in_good_order_while_a_tool_runs() {
    let herdr = FakeHerdr::start().unwrap();
    let mut host = Host::start(herdr.env());
    host.line("echo $$; exec sleep 1000");
    waits_for(&herdr, "blocked");
    host.line("y");
    host.answer();
    let tool: i32 = host.answer().parse().unwrap();
    waits_for(&herdr, "working");
    host.terminate();
    let (status, complaints) = host.ended();
    assert_eq!((status.signal(), complaints.as_str()), (Some(15), ""));
    is_given_back(&herdr);
    // It was killed; until somebody reaps it, it is there as a name alone.
    let state = std::fs::read_to_string(format!("/proc/{tool}/stat")).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z "), "{state}");
}

#[test]
fn what_keeps_reports_from_showing_is_said_and_stops_nothing() {
    let pane = [("HERDR_ENV", "1"), ("HERDR_PANE_ID", "w1:p1")];
    let socket = Path::new("/nowhere/herdr.sock").to_string_lossy().into_owned();
    let mut variables: Vec<_> =
        pane.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    variables.push(("HERDR_SOCKET_PATH".to_owned(), socket));
    let mut host = Host::start(variables);
    let mut stderr = BufReader::new(host.child.stderr.take().unwrap());
    let mut complaint = String::new();
    stderr.read_line(&mut complaint).unwrap();
    assert!(complaint.starts_with("rust-host: connect_failed: there is no socket"), "{complaint}");
    host.line("echo it works");
    host.line("y");
    assert_eq!(host.answer(), "Run echo it works? [y/n]");
    assert_eq!(host.answer(), "it works");
    drop(host.child.stdin.take());
    assert_eq!(host.child.wait().unwrap().code(), Some(0));
}
