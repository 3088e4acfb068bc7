//! Hosts in processes of their own, and tests that have a process for themselves.

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
/// Set in a process that is a host; the label of its agent.
const HOST: &str = "REPORTER_FIELD_HOST";

/// All requests so far.
pub(crate) fn requests(herdr: &FakeHerdr) -> Vec<Value> {
    let log = herdr.log().into_iter();
    log.map(|exchange| serde_json::from_str(&exchange.request).unwrap()).collect()
}

pub(crate) fn count(herdr: &FakeHerdr, method: &str) -> usize {
    requests(herdr).iter().filter(|request| request["method"] == *method).count()
}

/// Looks again and again until it holds.
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

/// Says why a test has nothing to look at here.
pub(crate) fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

/// Runs a test's work in a process of its own, in which nothing else happens.
/// `name` is the test's own, as the harness knows it.
pub(crate) fn alone(name: &str, work: impl FnOnce()) {
    if std::env::var_os(ALONE).is_some_and(|running| running == name) {
        return work();
    }
    let mut command = myself(name);
    let output = command.env(ALONE, name).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && told.contains("1 passed"),
        "{told}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// This program, for one of its tests, without a variable of Herdr's.
fn myself(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--include-ignored", "--nocapture", "--test-threads=1"]);
    herdr_reporter::scrub(&mut command);
    command
}

/// A host in a process of its own. It starts a reporter from its environment,
/// says `active` or `inert` and every diagnostic, takes each line of its stdin
/// as a title, and ends with it.
pub(crate) struct Host {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Host {
    /// How such a process is started: as if in this server's pane, with leases
    /// in that folder.
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

    /// The next line that it says.
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

    /// Lets it end, and gives what it said since.
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

/// Where a host's leases are if its runtime folder is this.
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
    let told = std::thread::spawn(move || {
        for diagnostic in diagnostics.iter() {
            say(format!("{}: {}", diagnostic.kind.as_str(), diagnostic.detail));
        }
    });
    for title in std::io::stdin().lines().map_while(Result::ok) {
        pane.set_title(title);
    }
    pane.close(AMPLE);
    told.join().unwrap();
}
