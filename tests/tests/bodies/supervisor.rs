//! A host under `exec`: the host and its supervisor are killed, in either order.

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use e2e::stage::{AGENT, PATIENCE, Stage, shows, sidecar, until};
use herdr_reporter::Config;
use herdr_reporter::sidecar::LeaseFile;
use herdr_socket_transport::Endpoint;
use rustix::process::{Pid, Signal, kill_process};

e2e::bodies! {
    shared:
        b13_a_supervisor_takes_the_row_of_a_killed_host_off,
        b14_a_host_whose_supervisor_was_killed_goes_on_by_itself,
        b14_after_both_were_killed_in_either_order_the_next_run_starts_clean;
}

/// A host with a reporter of its own, and the supervisor that `exec` has started for it.
struct Supervised {
    host: Child,
    supervisor: Pid,
}

impl Supervised {
    fn start(stage: &Stage) -> Self {
        let socket = stage.socket().to_string_lossy();
        let at =
            ["--any-pane", "--agent", AGENT, "--socket", &socket, "--pane", stage.pane().as_str()];
        // The host waits until the supervisor has the pane: a busy machine may let
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
        let supervisor =
            until(PATIENCE, || supervisor_of(stage, host.id())).expect("it has a supervisor");
        writeln!(host.stdin.as_mut().unwrap(), "go").unwrap();
        Self { host, supervisor }
    }

    fn tell(&mut self, event: &str) {
        writeln!(self.host.stdin.as_mut().unwrap(), "{event}").unwrap();
    }

    fn kill_host(&mut self) {
        self.host.kill().unwrap();
        self.host.wait().unwrap();
    }

    fn kill_supervisor(&self) {
        kill_process(self.supervisor, Signal::KILL).unwrap();
    }

    fn finish(mut self) {
        drop(self.host.stdin.take());
        assert_eq!(self.host.wait().unwrap().code(), Some(0));
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        let _ = self.host.kill();
        let _ = self.host.wait();
    }
}

/// The supervisor of a host, once it owns the pane.
fn supervisor_of(stage: &Stage, host: u32) -> Option<Pid> {
    let mut config = Config::default();
    config.runtime_folder = Some(stage.folder().join("herdr-socket-report"));
    let lease = LeaseFile::of_pane(&config, &Endpoint::new(stage.socket(), stage.pane().clone()));
    let [owner, own] = [lease.control_socket(), lease.supervisor_socket(host)].map(|socket| {
        let stream = UnixStream::connect(socket).ok()?;
        rustix::net::sockopt::socket_peercred(&stream).ok().map(|peer| peer.pid)
    });
    owner.filter(|_| owner == own)
}

fn shown(stage: &Stage) -> Supervised {
    let mut host = Supervised::start(stage);
    host.tell(r#"{"event":"agent_started"}"#);
    host.tell(r#"{"event":"title_changed","title":"first run"}"#);
    stage.wait(|pane| shows(pane, "working") && pane.title.as_deref() == Some("first run"));
    host
}

const ASKS: &str =
    r#"{"event":"prompt_opened","prompt_id":"p","kind":"approval","label":"Go on?"}"#;

fn b13_a_supervisor_takes_the_row_of_a_killed_host_off(stage: &Stage) {
    shown(stage).kill_host();
    stage.wait_for_nothing();
}

fn b14_a_host_whose_supervisor_was_killed_goes_on_by_itself(stage: &Stage) {
    let mut host = shown(stage);
    host.kill_supervisor();
    host.tell(ASKS);
    stage.wait(|pane| shows(pane, "blocked") && pane.title.as_deref() == Some("first run"));
    host.finish();
    stage.wait_for_nothing();
}

fn b14_after_both_were_killed_in_either_order_the_next_run_starts_clean(stage: &Stage) {
    for host_first in [true, false] {
        let mut host = shown(stage);
        if host_first {
            host.kill_host();
            host.kill_supervisor();
        } else {
            host.kill_supervisor();
            host.kill_host();
        }
        // If the supervisor was killed first, the row of the first run is still there.
        let mut next = Supervised::start(stage);
        next.tell(ASKS);
        stage.wait(|pane| shows(pane, "blocked") && pane.title.is_none());
        next.finish();
        stage.wait_for_nothing();
    }
}
