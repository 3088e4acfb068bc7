//! Hosts in separate processes, and tests that need a process for themselves.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use fake_herdr::FakeHerdr;
use herdr_proto::ReportState;
use herdr_reporter::Reporter;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::AMPLE;

/// Set in a process that runs one test alone.
const ALONE: &str = "REPORTER_FIELD_ALONE";
/// Set in a process that is a host. Holds the label of its agent.
const HOST: &str = "REPORTER_FIELD_HOST";

/// All requests so far.
pub(crate) fn requests(herdr: &FakeHerdr) -> Vec<Value> {
    let log = herdr.log().into_iter();
    log.map(|exchange| serde_json::from_str(&exchange.request).unwrap()).collect()
}

pub(crate) fn count(herdr: &FakeHerdr, method: &str) -> usize {
    requests(herdr).iter().filter(|request| request["method"] == *method).count()
}

/// Polls until the condition holds.
pub(crate) fn until(patience: Duration, holds: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !holds() {
        if begun.elapsed() > patience {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// Says why a test cannot run on this machine.
pub(crate) fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

/// Runs a test in a process in which no other test runs. `name` is the full name of the test.
pub(crate) fn alone(name: &str, work: impl FnOnce()) {
    if std::env::var_os(ALONE).is_some_and(|running| running == name) {
        return work();
    }
    let mut command = myself(name);
    let output = command.env(ALONE, name).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && stdout.contains("1 passed"),
        "{stdout}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A command that runs one test of this program, without Herdr's variables.
fn myself(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--include-ignored", "--nocapture", "--test-threads=1"]);
    herdr_reporter::scrub(&mut command);
    command
}

/// A host in a separate process. It starts a reporter from its environment, prints `active` or
/// `inert` and every diagnostic, takes each line of its stdin as a title, and ends when its stdin
/// ends.
pub(crate) struct Host {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Host {
    /// The command for a host in this server's pane, with its leases in the folder `runtime`.
    pub(crate) fn command(label: &str, herdr: &FakeHerdr, runtime: &Path) -> Command {
        let mut command = myself("processes::a_host");
        command.envs(herdr.env()).env(HOST, label).env("XDG_RUNTIME_DIR", runtime);
        command
    }

    pub(crate) fn try_start(command: &mut Command) -> std::io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let lines = read_lines(child.stderr.take().unwrap());
        Ok(Self { stdin: child.stdin.take(), child, lines })
    }

    pub(crate) fn start(command: &mut Command) -> Self {
        Self::try_start(command).unwrap()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line that the host prints.
    pub(crate) fn says(&self, patience: Duration) -> Option<String> {
        self.lines.recv_timeout(patience).ok()
    }

    pub(crate) fn title(&mut self, title: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{title}").unwrap();
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends the host and returns the rest of its output.
    pub(crate) fn end(mut self) -> Vec<String> {
        self.stdin.take();
        assert!(self.child.wait().unwrap().success());
        self.lines.iter().collect()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_lines(stderr: ChildStderr) -> Receiver<String> {
    let (say, lines) = channel();
    std::thread::spawn(move || {
        BufReader::new(stderr).lines().map_while(Result::ok).all(|line| say.send(line).is_ok())
    });
    lines
}

/// The resident memory of this process in bytes.
#[cfg(target_os = "linux")]
pub(crate) fn memory() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// The folder of a host's leases in this runtime folder.
pub(crate) fn leases(runtime: &Path) -> PathBuf {
    runtime.join("herdr-socket-report")
}

pub(crate) fn runtime() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
#[ignore = "the process behind `Host`"]
fn a_host() {
    let Ok(label) = std::env::var(HOST) else { return };
    let say = |line: String| {
        let _ = writeln!(std::io::stderr(), "{line}");
    };
    let pane = Reporter::builder(label).initial(ReportState::Idle).start();
    say(if pane.is_active() { "active" } else { "inert" }.to_owned());
    let mut diagnostics = pane.diagnostics();
    let printer = std::thread::spawn(move || {
        for diagnostic in diagnostics.iter() {
            say(format!("{}: {}", diagnostic.kind.as_str(), diagnostic.detail));
        }
    });
    for title in std::io::stdin().lines().map_while(Result::ok) {
        pane.set_title(title);
    }
    pane.close(AMPLE);
    printer.join().unwrap();
}
