//! What the program costs: the commands of hooks from their start to their
//! end, and how soon an event of `run` is on the wire.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::cell::Cell;
use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::Duration;

use divan::Bencher;
use fake_herdr::FakeHerdr;
use tempfile::TempDir;

fn main() {
    divan::main();
}

/// Long enough for any machine.
const AMPLE: Duration = Duration::from_secs(20);
/// Longer than the pace of state changes, so that none waits for the one before.
const PAUSE: Duration = Duration::from_millis(70);

/// What a hook says.
const HOOKS: [&[&str]; 4] = [
    &["state", "working"],
    &["title", "Fix the login redirect"],
    &["emit", r#"{"event": "tool_started", "tool_id": "t1", "tool": "grep"}"#],
    &["state", "working", "--confirm"],
];

/// The program in a folder of its own, outside Herdr.
fn program(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_herdr-socket-report"));
    command
        .args(arguments)
        .env_clear()
        .env("HOME", folder.path())
        .env("XDG_RUNTIME_DIR", folder.path())
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn bench(bencher: Bencher<'_, '_>, mut command: Command) {
    bencher.bench_local(|| command.status().unwrap());
}

#[divan::bench(args = HOOKS.map(Hook))]
fn outside_herdr(bencher: Bencher<'_, '_>, Hook(hook): Hook) {
    let folder = tempfile::tempdir().unwrap();
    bench(bencher, program(&folder, hook));
}

#[divan::bench(args = HOOKS.map(Hook))]
fn without_a_server(bencher: Bencher<'_, '_>, Hook(hook): Hook) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = program(&folder, hook);
    command.env("HERDR_ENV", "1").env("HERDR_PANE_ID", "w1:p1");
    command.env("HERDR_SOCKET_PATH", folder.path().join("herdr.sock"));
    bench(bencher, command);
}

#[divan::bench(args = HOOKS.map(Hook))]
fn straight_to_herdr(bencher: Bencher<'_, '_>, Hook(hook): Hook) {
    let (herdr, folder) = (FakeHerdr::start().unwrap(), tempfile::tempdir().unwrap());
    let mut command = program(&folder, hook);
    command.envs(herdr.env());
    bench(bencher, command);
}

#[divan::bench(args = HOOKS.map(Hook))]
fn through_an_owner(bencher: Bencher<'_, '_>, Hook(hook): Hook) {
    let (herdr, folder) = (FakeHerdr::start().unwrap(), tempfile::tempdir().unwrap());
    let mut run = Run::start(&herdr, &folder);
    run.say("working");
    run.see("working");
    let mut command = program(&folder, hook);
    command.envs(herdr.env());
    bench(bencher, command);
}

#[divan::bench(sample_count = 30, sample_size = 1)]
fn from_the_start_of_run_to_the_server(bencher: Bencher<'_, '_>) {
    let folder = || (FakeHerdr::start().unwrap(), tempfile::tempdir().unwrap());
    bencher.with_inputs(folder).bench_local_values(|(herdr, folder)| {
        let mut run = Run::start(&herdr, &folder);
        run.say("working");
        run.see("working");
        drop(run);
        (herdr, folder)
    });
}

#[divan::bench(sample_count = 50, sample_size = 1)]
fn from_a_line_of_run_to_the_server(bencher: Bencher<'_, '_>) {
    let (herdr, folder) = (FakeHerdr::start().unwrap(), tempfile::tempdir().unwrap());
    let mut run = Run::start(&herdr, &folder);
    run.say("working");
    run.see("working");
    let said = Cell::new("working");
    let next = || {
        thread::sleep(PAUSE);
        said.set(if said.get() == "working" { "blocked" } else { "working" });
        said.get()
    };
    bencher.with_inputs(next).bench_local_values(|state| {
        run.say(state);
        run.see(state);
    });
}

/// A hook's arguments, which divan shows.
#[derive(Clone, Copy)]
struct Hook(&'static [&'static str]);

impl std::fmt::Display for Hook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let flags = self.0.iter().filter(|word| word.starts_with("--"));
        f.write_str(self.0[0])?;
        flags.into_iter().try_for_each(|flag| write!(f, " {flag}"))
    }
}

/// A `run` with a host that feeds it.
struct Run<'a> {
    herdr: &'a FakeHerdr,
    child: Child,
    host: Option<ChildStdin>,
}

impl<'a> Run<'a> {
    fn start(herdr: &'a FakeHerdr, folder: &TempDir) -> Self {
        let mut command = program(folder, &["run"]);
        let mut child = command.envs(herdr.env()).stdin(Stdio::piped()).spawn().unwrap();
        let host = child.stdin.take();
        Self { herdr, child, host }
    }

    fn say(&mut self, state: &str) {
        let line = format!("{{\"event\": \"state_set\", \"state\": \"{state}\"}}\n");
        self.host.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }

    /// Waits until a reader of the pane sees it.
    fn see(&self, state: &str) {
        self.herdr.wait_until(AMPLE, |pane| pane.agent_status == state).unwrap();
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        drop(self.host.take());
        let _ = self.child.wait();
    }
}
