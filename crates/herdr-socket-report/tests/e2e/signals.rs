//! What ends a run, apart from the end of its input.

use std::process::{Command, Stdio};

use fake_herdr::FakeHerdr;
use rustix::process::Signal;

use crate::support::{inside, requests, sequence, sidecar, status, wait_clean};

const START: &str = r#"{"event": "session_started", "session_id": "s", "title": "Busy"}"#;
const WORK: &str = r#"{"event": "agent_started"}"#;

#[test]
fn a_signal_ends_it_in_good_order() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let herdr = FakeHerdr::start().unwrap();
        let mut sidecar = inside(&herdr, &["run"]).start();
        sidecar.line(START);
        sidecar.line(WORK);
        status(&herdr, "working");
        sidecar.signal(signal);
        let output = sidecar.wait();
        assert_eq!(output.code, Some(0), "{signal:?} {}", output.stderr);
        wait_clean(&herdr, format_args!("{signal:?}"));
        let release = requests(&herdr, "pane.release_agent");
        assert_eq!(release.len(), 1, "{signal:?}");
        let last = sequence(&herdr).pop();
        assert_eq!(release[0]["seq"].as_u64(), last, "{signal:?}: nothing is reported after it");
    }
}

#[test]
fn the_end_of_the_host_ends_it() {
    let herdr = FakeHerdr::start().unwrap();
    let mut host = Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("there is a cat everywhere");
    let pid = host.id().to_string();
    let mut sidecar = inside(&herdr, &["run", "--pid", &pid]).start();
    if cfg!(not(target_os = "linux")) {
        assert_eq!(sidecar.wait().code, Some(2));
        host.kill().unwrap();
        host.wait().unwrap();
        return;
    }
    sidecar.line(WORK);
    status(&herdr, "working");
    host.kill().unwrap();
    host.wait().unwrap();
    let output = sidecar.wait();
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    wait_clean(&herdr, "the end");
    assert_eq!(requests(&herdr, "pane.release_agent").len(), 1);
}

#[test]
#[cfg(target_os = "linux")]
fn a_host_that_is_gone_already_is_not_waited_for() {
    let mut gone = Command::new("true").spawn().unwrap();
    let pid = gone.id().to_string();
    gone.wait().unwrap();
    let output = sidecar(&["run", "--pid", &pid]).start().wait();
    assert_eq!(output.code, Some(0));
    assert!(output.stderr.contains("no such process"), "{}", output.stderr);
    assert_eq!(sidecar(&["run", "--pid", "0"]).run("").code, Some(2));
}

#[test]
fn fed_by_a_host_it_leaves_the_hosts_process_group() {
    let herdr = FakeHerdr::start().unwrap();
    let mut sidecar = inside(&herdr, &["run"]).start();
    sidecar.line(WORK);
    status(&herdr, "working");
    let pid = sidecar.pid();
    assert_eq!(rustix::process::getpgid(Some(pid)).unwrap(), pid);
    assert_eq!(sidecar.finish().code, Some(0));
}

#[test]
fn two_signals_at_a_time_are_one_wish() {
    let herdr = FakeHerdr::start().unwrap();
    let mut sidecar = inside(&herdr, &["run"]).start();
    sidecar.line(START);
    sidecar.line(WORK);
    status(&herdr, "working");
    sidecar.signal(Signal::HUP);
    sidecar.signal(Signal::TERM);
    sidecar.signal(Signal::INT);
    assert_eq!(sidecar.wait().code, Some(0));
    wait_clean(&herdr, "the end");
}

#[test]
fn a_further_signal_ends_it_at_once() {
    // A server that accepts and never answers delays the end.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("herdr.sock");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let socket = path.to_str().unwrap();
    let mut sidecar = sidecar(&["run", "--socket", socket, "--pane", "w1:p1"]).start();
    sidecar.line(WORK);
    let (_held, _) = listener.accept().unwrap();
    sidecar.signal(Signal::TERM);
    while sidecar.runs() {
        sidecar.signal(Signal::TERM);
        std::thread::yield_now();
    }
    // On a busy machine the orderly end may come first.
    let code = sidecar.wait().code;
    assert!(matches!(code, Some(143 | 0)), "{code:?}");
}
