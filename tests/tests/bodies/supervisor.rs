//! A host under `exec`: whoever of the two is killed, and in whatever order.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};

use e2e::stage::{AGENT, PATIENCE, Stage, shows, sidecar, until};
use herdr_reporter::{Config, LeaseFile};
use herdr_socket_transport::Endpoint;
use rustix::process::{Pid, Signal, kill_process};

e2e::bodies! {
    shared:
        b13_a_killed_host_is_taken_off_by_its_guard,
        b14_a_host_whose_guard_was_killed_goes_on_by_itself,
        b14_killed_both_in_either_order_the_next_run_starts_clean;
}

/// A host that reports with a reporter of its own, and the guard that `exec`
/// has started for it.
struct Guarded {
    host: Child,
    guard: Pid,
}

impl Guarded {
    fn start(stage: &Stage) -> Self {
        let socket = stage.socket().to_string_lossy();
        let at =
            ["--any-pane", "--agent", AGENT, "--socket", &socket, "--pane", stage.pane().as_str()];
        // The host waits until the guard has the pane: a busy machine may let
        // it start first.
        let host = ["--", "/bin/sh", "-c", "read go; exec \"$@\"", "host"];
        let program = sidecar().to_str().unwrap();
        let mut host = Command::new(program)
            .arg("exec")
            .args(at)
            .args(host)
            .args([program, "run"])
            .args(at)
            .env_clear()
            .env("HOME", stage.folder())
            .env("XDG_RUNTIME_DIR", stage.folder())
            .current_dir(stage.folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let guard = until(PATIENCE, || guard_of(stage, host.id())).expect("it has a guard");
        writeln!(host.stdin.as_mut().unwrap(), "go").unwrap();
        Self { host, guard }
    }

    fn tell(&mut self, event: &str) {
        writeln!(self.host.stdin.as_mut().unwrap(), "{event}").unwrap();
    }

    fn kill_host(&mut self) {
        self.host.kill().unwrap();
        self.host.wait().unwrap();
    }

    fn kill_guard(&self) {
        kill_process(self.guard, Signal::KILL).unwrap();
    }

    fn finish(mut self) {
        drop(self.host.stdin.take());
        assert_eq!(self.host.wait().unwrap().code(), Some(0));
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let _ = self.host.kill();
        let _ = self.host.wait();
    }
}

/// The guard of this process, once it has the pane.
fn guard_of(stage: &Stage, host: u32) -> Option<Pid> {
    let mut config = Config::default();
    config.runtime_folder = Some(stage.folder().join("herdr-socket-report"));
    let lease = LeaseFile::of_pane(&config, &Endpoint::new(stage.socket(), stage.pane().clone()));
    if lease.guarded() != Some(host) {
        return None;
    }
    let note = std::fs::read_to_string(lease.path()).ok()?;
    Pid::from_raw(note.split(' ').nth(1)?.parse().ok()?)
}

fn shown(stage: &Stage) -> Guarded {
    let mut guarded = Guarded::start(stage);
    guarded.tell(r#"{"event":"agent_started"}"#);
    guarded.tell(r#"{"event":"title_changed","title":"first run"}"#);
    stage.wait(|pane| shows(pane, "working") && pane.title.as_deref() == Some("first run"));
    guarded
}

const ASKS: &str =
    r#"{"event":"prompt_opened","prompt_id":"p","kind":"approval","label":"Go on?"}"#;

fn b13_a_killed_host_is_taken_off_by_its_guard(stage: &Stage) {
    shown(stage).kill_host();
    stage.wait_for_nothing();
}

fn b14_a_host_whose_guard_was_killed_goes_on_by_itself(stage: &Stage) {
    let mut guarded = shown(stage);
    guarded.kill_guard();
    guarded.tell(ASKS);
    stage.wait(|pane| shows(pane, "blocked") && pane.title.as_deref() == Some("first run"));
    guarded.finish();
    stage.wait_for_nothing();
}

fn b14_killed_both_in_either_order_the_next_run_starts_clean(stage: &Stage) {
    for host_first in [true, false] {
        let mut guarded = shown(stage);
        if host_first {
            guarded.kill_host();
            guarded.kill_guard();
        } else {
            guarded.kill_guard();
            guarded.kill_host();
        }
        // Nobody may have been left to take the row off.
        let mut next = Guarded::start(stage);
        next.tell(ASKS);
        stage.wait(|pane| shows(pane, "blocked") && pane.title.is_none());
        next.finish();
        stage.wait_for_nothing();
    }
}
