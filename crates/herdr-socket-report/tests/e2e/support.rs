//! Starting the sidecar with a clean environment.

use std::fmt::{Display, Write as _};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use fake_herdr::{FakeHerdr, Observation};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// How long anything may take before a test fails. It says nothing about how long it takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// The folder of the recorded sessions.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions")
}

/// Tests count requests, and a copy would be counted twice.
pub(crate) const HEDGE: (&str, &str) = ("HERDR_REPORT_HEDGE", "false");

/// A sidecar that is about to start, with a temporary folder.
pub(crate) struct Setup {
    pub(crate) command: Command,
    pub(crate) folder: TempDir,
}

/// The sidecar with these arguments, outside Herdr.
pub(crate) fn sidecar(arguments: &[&str]) -> Setup {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_herdr-socket-report"));
    command
        .args(arguments)
        .env_clear()
        .env("HOME", folder.path())
        .env("XDG_RUNTIME_DIR", folder.path())
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Setup { command, folder }
}

/// The sidecar in the fake's first pane.
pub(crate) fn inside(herdr: &FakeHerdr, arguments: &[&str]) -> Setup {
    let mut setup = sidecar(arguments);
    setup.command.envs(herdr.env()).env(HEDGE.0, HEDGE.1);
    setup
}

impl Setup {
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn start(mut self) -> Running {
        let mut child = self.command.spawn().unwrap();
        Running {
            stdin: child.stdin.take(),
            stdout: Stream::of(child.stdout.take().unwrap()),
            stderr: Stream::of(child.stderr.take().unwrap()),
            child,
            _folder: self.folder,
        }
    }

    /// Runs it with this input to its end.
    pub(crate) fn run(self, input: impl AsRef<[u8]>) -> Output {
        let mut running = self.start();
        running.write(input);
        running.finish()
    }
}

/// A running sidecar.
pub(crate) struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Stream,
    stderr: Stream,
    _folder: TempDir,
}

/// How it ended.
#[derive(Debug)]
pub(crate) struct Output {
    /// The exit code; none after a signal.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Running {
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Writes to its stdin. A process that has already ended is not an error.
    pub(crate) fn write(&mut self, input: impl AsRef<[u8]>) {
        let stdin = self.stdin.as_mut().expect("it is open");
        let _ = stdin.write_all(input.as_ref());
    }

    pub(crate) fn line(&mut self, line: &str) {
        self.write(format!("{line}\n"));
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Whether it still runs.
    pub(crate) fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// The next line of its stdout.
    pub(crate) fn answer(&mut self) -> String {
        self.stdout.line()
    }

    /// The next line of its stderr.
    pub(crate) fn complaint(&mut self) -> String {
        self.stderr.line()
    }

    /// Closes its stdin and waits for the end.
    pub(crate) fn finish(mut self) -> Output {
        self.stdin = None;
        self.wait()
    }

    /// Waits for the end with stdin open.
    pub(crate) fn wait(mut self) -> Output {
        let stdout = self.stdout.rest();
        let stderr = self.stderr.rest();
        let code = self.child.wait().unwrap().code();
        Output { code, stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The bytes of a pipe as they arrive.
struct Stream {
    bytes: Receiver<Vec<u8>>,
    held: Vec<u8>,
    _thread: JoinHandle<()>,
}

impl Stream {
    fn of(mut pipe: impl Read + Send + 'static) -> Self {
        let (sender, bytes) = mpsc::channel();
        let thread = thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = pipe.read(&mut chunk) {
                if sender.send(chunk[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { bytes, held: Vec::new(), _thread: thread }
    }

    fn line(&mut self) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(newline) = self.held.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.held.drain(..=newline).collect();
                return String::from_utf8(line).unwrap().trim_end().to_owned();
            }
            let left = end.saturating_duration_since(Instant::now());
            self.held.extend(self.bytes.recv_timeout(left).expect("a line comes"));
        }
    }

    fn rest(&mut self) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.bytes.recv_timeout(left) {
                Ok(bytes) => self.held.extend(bytes),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the sidecar does not end"),
            }
        }
        String::from_utf8(std::mem::take(&mut self.held)).unwrap()
    }
}

/// Whether nothing of the sidecar is on a pane.
pub(crate) fn is_clean(pane: &Observation) -> bool {
    pane.agent.is_none()
        && pane.title.is_none()
        && pane.display_agent.is_none()
        && pane.state_labels.is_empty()
        && pane.tokens.is_empty()
}

/// The pane as the fake shows it now.
pub(crate) fn now(herdr: &FakeHerdr) -> Observation {
    herdr.observe(herdr.pane_id()).unwrap()
}

/// Waits until the pane has this status.
pub(crate) fn status(herdr: &FakeHerdr, status: &str) -> Observation {
    herdr.wait_until(PATIENCE, |pane| pane.agent_status == status).unwrap()
}

/// Waits until nothing of the sidecar is on the pane, for as long as a supervisor may take on a
/// busy machine. This may be after the process that released it has ended, because the server
/// may apply the release a moment later.
pub(crate) fn wait_clean(herdr: &FakeHerdr, case: impl Display) {
    let clean = herdr.wait_until(Duration::from_secs(10), is_clean);
    clean.unwrap_or_else(|last| panic!("{case}: {last}"));
}

/// All requests with this method that the fake received, oldest first.
pub(crate) fn requests(herdr: &FakeHerdr, method: &str) -> Vec<Value> {
    herdr
        .log()
        .iter()
        .map(|exchange| serde_json::from_str::<Value>(&exchange.request).unwrap())
        .filter(|request| request["method"] == method)
        .map(|mut request| request["params"].take())
        .collect()
}

/// All sequence numbers that were sent, oldest first.
pub(crate) fn sequence(herdr: &FakeHerdr) -> Vec<u64> {
    let requests = herdr.log();
    let requests = requests.iter().map(|exchange| serde_json::from_str::<Value>(&exchange.request));
    requests.filter_map(|request| request.unwrap()["params"]["seq"].as_u64()).collect()
}

/// The reported states without repetitions, oldest first.
pub(crate) fn states(herdr: &FakeHerdr) -> Vec<String> {
    let mut states: Vec<String> = requests(herdr, "pane.report_agent")
        .iter()
        .map(|params| params["state"].as_str().unwrap().to_owned())
        .collect();
    states.dedup();
    states
}

/// Output lines as JSON.
pub(crate) fn records(stdout: &str) -> Vec<Value> {
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Numbered lines for messages of failed tests.
pub(crate) fn numbered(text: &str) -> String {
    let mut out = String::new();
    for (number, line) in text.lines().enumerate() {
        let _ = writeln!(out, "{:>3} {line}", number + 1);
    }
    out
}
