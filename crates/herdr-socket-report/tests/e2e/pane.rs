//! A pane of the fake with a runtime folder of its own, for tests with several reporting
//! processes.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

use fake_herdr::{FakeHerdr, Observation};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{HEDGE, PATIENCE, wait_clean};

/// A pane and its runtime folder.
pub(crate) struct Pane {
    pub(crate) herdr: FakeHerdr,
    folder: TempDir,
}

impl Pane {
    pub(crate) fn new() -> Self {
        Self::of(FakeHerdr::start().unwrap())
    }

    pub(crate) fn of(herdr: FakeHerdr) -> Self {
        Self { herdr, folder: tempfile::tempdir().unwrap() }
    }

    /// A folder for the files of a test.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The sidecar in this pane.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.outside(arguments);
        command.envs(self.herdr.env()).env(HEDGE.0, HEDGE.1);
        command
    }

    /// The sidecar with the same folder, outside Herdr.
    pub(crate) fn outside(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_herdr-socket-report"));
        command
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path())
            .env("XDG_RUNTIME_DIR", self.path())
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs the sidecar to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs the sidecar to its end and expects success without output.
    pub(crate) fn quietly(&self, arguments: &[&str]) {
        let output = self.run(arguments);
        assert_eq!(complaints(&output), "", "{arguments:?}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    }

    /// Starts the sidecar with pipes.
    pub(crate) fn start(&self, arguments: &[&str]) -> Started {
        Started::of(self.command(arguments))
    }

    pub(crate) fn wait(&self, satisfied: impl FnMut(&Observation) -> bool) -> Observation {
        self.herdr.wait_until(PATIENCE, satisfied).unwrap()
    }

    pub(crate) fn wait_status(&self, status: &str) -> Observation {
        self.wait(|pane| pane.agent_status == status)
    }

    /// Waits until nothing of the sidecar is on the pane.
    pub(crate) fn wait_clean(&self) {
        wait_clean(&self.herdr, "the pane");
    }

    pub(crate) fn now(&self) -> Observation {
        self.herdr.observe(self.herdr.pane_id()).unwrap()
    }

    /// The folder of the lease.
    pub(crate) fn leases(&self) -> PathBuf {
        self.path().join("herdr-socket-report")
    }

    /// The lease's file, or the file beside it with this extension, once it exists.
    pub(crate) fn beside_the_lease(&self, ending: &str) -> PathBuf {
        self.file_of(|name| !name.contains('-') && name.ends_with(&format!(".{ending}")))
    }

    /// The socket of a process's supervisor, once it exists.
    pub(crate) fn supervisor_socket(&self, process: u32) -> PathBuf {
        self.file_of(|name| name.contains(&format!("-{process}-")))
    }

    fn file_of(&self, is: impl Fn(&str) -> bool) -> PathBuf {
        poll(|| {
            let mut files = std::fs::read_dir(self.leases()).ok()?.flatten();
            files.find(|file| is(&file.file_name().to_string_lossy())).map(|file| file.path())
        })
    }

    /// Waits until the pane's lease is free.
    pub(crate) fn wait_unheld(&self) {
        let lease = std::fs::File::open(self.beside_the_lease("lock")).unwrap();
        poll(|| lease.try_lock_shared().ok());
    }

    /// A client of the control socket, once that listens.
    pub(crate) fn client(&self) -> Client {
        Client::of(&self.beside_the_lease("sock"))
    }

    /// The supervisor that holds the pane, once there is one.
    pub(crate) fn supervisor(&self) -> Pid {
        let client = self.client();
        rustix::net::sockopt::socket_peercred(&client.stream).unwrap().pid
    }
}

/// What a process wrote to stderr.
pub(crate) fn complaints(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The interval of polling.
const BETWEEN: Duration = Duration::from_millis(2);

/// Calls `ask` until it returns something, for at most as long as a failing test may take.
pub(crate) fn poll<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < end, "it does not come");
        std::thread::sleep(BETWEEN);
    }
}

/// A process with pipes.
pub(crate) struct Started {
    pub(crate) child: Child,
    stdout: BufReader<ChildStdout>,
    stderr: BufReader<ChildStderr>,
}

impl Started {
    pub(crate) fn of(mut command: Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Self { child, stdout, stderr }
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    pub(crate) fn line(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub(crate) fn answer(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The next line of its stderr.
    pub(crate) fn complaint(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).unwrap();
        line
    }

    /// Everything it wrote to stderr, once it has ended.
    pub(crate) fn complaints(&mut self) -> String {
        let mut text = String::new();
        self.stderr.read_to_string(&mut text).unwrap();
        text
    }

    /// Closes its stdin and waits for its end.
    pub(crate) fn finish(&mut self) -> std::process::ExitStatus {
        drop(self.child.stdin.take());
        self.child.wait().unwrap()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client of a control socket.
pub(crate) struct Client {
    pub(crate) stream: UnixStream,
    lines: BufReader<UnixStream>,
}

impl Client {
    /// A client of this socket, once that listens.
    pub(crate) fn of(path: &Path) -> Self {
        let stream = poll(|| UnixStream::connect(path).ok());
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap());
        Self { stream, lines }
    }

    pub(crate) fn say(&mut self, line: &str) {
        self.stream.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// The next output line; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let count = self.lines.read_line(&mut line).unwrap();
        (count > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    /// The next output line for which `is` is true.
    pub(crate) fn until(&mut self, is: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.next().expect("it stays open");
            if is(&line) {
                return line;
            }
        }
    }
}
