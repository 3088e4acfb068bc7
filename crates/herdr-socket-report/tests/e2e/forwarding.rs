//! A pane socket that another program forwards: `socat` stands between the sidecar and the
//! server, as `ssh -R` does for a pane of another machine.

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use crate::pane::{Pane, Started, complaints, poll};
#[cfg(target_os = "linux")]
use crate::whose::{Shell, leads, session_of};

/// A forwarder between a path of its own and the pane's server.
struct Forwarder {
    child: Child,
    path: PathBuf,
}

impl Forwarder {
    /// `None` without `socat`, after printing that.
    fn before(pane: &Pane) -> Option<Self> {
        let path = pane.path().join("forwarded.sock");
        let server = pane.herdr.socket_path();
        let spawned = Command::new("socat")
            .arg(format!("UNIX-LISTEN:{},fork,mode=600", path.display()))
            .arg(format!("UNIX-CONNECT:{}", server.display()))
            // It would print a message for each connection while the server is away.
            .stderr(Stdio::null())
            .spawn();
        let Ok(child) = spawned else {
            let _ = writeln!(std::io::stderr(), "skipped: there is no socat here");
            return None;
        };
        let forwarder = Self { child, path };
        poll(|| UnixStream::connect(&forwarder.path).ok());
        Some(forwarder)
    }

    /// The sidecar, which only knows the forwarded socket.
    fn command(&self, pane: &Pane, arguments: &[&str]) -> Command {
        let mut command = pane.command(arguments);
        command.env("HERDR_SOCKET_PATH", &self.path);
        command
    }

    fn run(&self, pane: &Pane, arguments: &[&str]) -> Output {
        self.command(pane, arguments).output().unwrap()
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn state_title_and_release_arrive() {
    let pane = Pane::new();
    let Some(forwarder) = Forwarder::before(&pane) else { return };
    let mut host = Started::of(forwarder.command(&pane, &["run", "--agent", "far-agent"]));
    host.line(r#"{"event": "session_started", "session_id": "s-1", "title": "From afar"}"#);
    host.line(r#"{"event": "agent_started"}"#);
    host.line(
        r#"{"event": "prompt_opened", "prompt_id": "1", "kind": "approval", "label": "Go?"}"#,
    );
    let seen = pane.wait(|seen| {
        seen.agent_status == "blocked"
            && seen.title.as_deref() == Some("From afar")
            && seen.state_labels.get("blocked").is_some_and(|why| why == "Go?")
    });
    assert_eq!(seen.agent.as_deref(), Some("far-agent"));
    host.line(r#"{"event": "agent_settled"}"#);
    pane.wait_status("idle");
    assert!(host.finish().success());
    pane.wait_clean();
    assert_eq!(host.complaints(), "");
}

#[test]
fn a_server_that_comes_back_behind_it_is_told_again() {
    let pane = Pane::new();
    let Some(forwarder) = Forwarder::before(&pane) else { return };
    let mut host = Started::of(forwarder.command(&pane, &["run"]));
    host.line(r#"{"event": "agent_started"}"#);
    pane.wait_status("working");
    // The path and its socket stay. Only the held stream ends.
    pane.herdr.restart();
    pane.wait_status("working");
    pane.herdr.live_handoff();
    pane.wait_status("working");
    assert!(host.finish().success());
    pane.wait_clean();
}

#[test]
fn a_forwarder_without_a_server_holds_nobody_up() {
    let pane = Pane::new();
    let Some(forwarder) = Forwarder::before(&pane) else { return };
    pane.herdr.stopper().stop();
    let output = forwarder.run(&pane, &["title", "T", "--strict"]);
    assert_eq!(output.status.code(), Some(3), "{}", complaints(&output));
    let mut host = Started::of(forwarder.command(&pane, &["run"]));
    host.line(r#"{"event": "agent_started"}"#);
    let complaint = host.complaint();
    assert!(complaint.contains("connect_failed"), "{complaint}");
    assert!(host.finish().success());
}

/// The kernel names the forwarder as the peer. It is visible here, so processes are compared.
/// The pane's shell is still a proof.
#[cfg(target_os = "linux")]
#[test]
fn a_process_of_the_pane_is_proven_through_it() {
    let pane = Pane::new();
    let Some(forwarder) = Forwarder::before(&pane) else { return };
    // In a container that was entered from outside, the session leader is not visible.
    let Some(session) = session_of(std::process::id()).filter(|pid| *pid != 0) else { return };
    leads(&pane, session);
    let deny = ["--unverified-pane", "deny"];
    let output = forwarder.run(&pane, &[&["title", "Ours", "--strict"][..], &deny].concat());
    assert_eq!((output.status.code(), complaints(&output)), (Some(0), String::new()));
    assert_eq!(pane.now().title.as_deref(), Some("Ours"));
}

/// A shell counts as that of another pane only if it was started with the very socket that
/// answers. Through a forwarder it was not, so nothing is proven: the report is allowed by
/// default and refused with `unverified_pane = deny`.
#[cfg(target_os = "linux")]
#[test]
fn a_process_elsewhere_cannot_be_proven_through_it() {
    let pane = Pane::new();
    let Some(forwarder) = Forwarder::before(&pane) else { return };
    let shell = Shell::start(&pane);
    leads(&pane, shell.0.id());
    let direct = pane.run(&["title", "T", "--strict"]);
    assert_eq!(direct.status.code(), Some(4), "{}", complaints(&direct));

    let title = ["title", "T", "--strict"];
    let deny = ["--unverified-pane", "deny"];
    let denied = forwarder.run(&pane, &[&title[..], &deny].concat());
    assert_eq!(denied.status.code(), Some(4), "{}", complaints(&denied));
    assert!(complaints(&denied).contains("cannot be told from here"), "{}", complaints(&denied));
    let run = forwarder.command(&pane, &[&["run"][..], &deny].concat());
    let mut host = Started::of(run);
    host.line(r#"{"event": "agent_started"}"#);
    let complaint = host.complaint();
    assert!(complaint.contains("foreign_pane: whether this process runs in the pane cannot"));
    assert!(host.finish().success());
    assert_eq!((pane.now().agent, pane.now().title), (None, None));

    let allowed = forwarder.run(&pane, &title);
    assert_eq!((allowed.status.code(), complaints(&allowed)), (Some(0), String::new()));
    assert_eq!(pane.now().title.as_deref(), Some("T"));

    let doctor = forwarder.run(&pane, &["doctor"]);
    let said = String::from_utf8_lossy(&doctor.stdout);
    assert!(said.contains("cannot be told"), "{said}");
}
