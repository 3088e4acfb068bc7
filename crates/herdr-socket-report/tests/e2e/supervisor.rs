//! Which reports a supervisor accepts, and what happens to reports after it is gone.

use std::io::Read;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

use fake_herdr::Fault;
use serde_json::Value;

use crate::pane::{Client, Pane, complaints, poll};

/// The address that `exec` gives its command, and the command.
fn supervised(pane: &Pane) -> (std::path::PathBuf, crate::pane::Started) {
    let started = pane.start(&["exec", "--agent", "bot", "--state", "working", "cat"]);
    pane.wait_status("working");
    (pane.supervisor_socket(started.child.id()), started)
}

#[test]
fn an_address_is_one_supervisors_and_goes_with_it() {
    let pane = Pane::new();
    let (first, mut started) = supervised(&pane);
    started.finish();
    pane.wait_clean();
    poll(|| (!first.exists()).then_some(()));
    let (second, mut started) = supervised(&pane);
    assert_ne!(first, second);
    // The next supervisor removes what a killed one leaves.
    let supervisor = pane.supervisor();
    rustix::process::kill_process(supervisor, rustix::process::Signal::KILL).unwrap();
    started.finish();
    pane.wait_unheld();
    // For a moment after a kill, its socket still accepts connections.
    poll(|| UnixStream::connect(&second).is_err().then_some(()));
    assert!(second.exists());
    let (_, mut started) = supervised(&pane);
    poll(|| (!second.exists()).then_some(()));
    // The row was shown as working before, so it did not wait for the new supervisor.
    pane.supervisor();
    pane.quietly(&["title", "New"]);
    pane.wait(|seen| seen.title.is_some());
    started.finish();
    pane.wait_clean();
}

#[test]
fn a_client_says_whom_it_means_and_hears_why_it_is_not_heard() {
    let pane = Pane::new();
    let (address, mut started) = supervised(&pane);
    let socket = pane.herdr.socket_path().display().to_string();
    let answer = |hello: Value| {
        let mut client = Client::of(&address);
        client.say(&serde_json::json!({ "hello": hello }).to_string());
        client.say(r#"{"event": "title_changed", "title": "Said"}"#);
        client.stream.shutdown(std::net::Shutdown::Write).unwrap();
        std::iter::from_fn(move || client.next()).collect::<Vec<_>>()
    };
    let refused = |hello: Value| {
        let answers = answer(hello);
        answers.into_iter().find_map(|line| Some(line["refused"]["because"].as_str()?.to_owned()))
    };
    let other_pane = serde_json::json!({ "socket": socket, "pane": "w9:p9" });
    assert_eq!(refused(other_pane).as_deref(), Some("other_pane"));
    let other_server = serde_json::json!({ "socket": "/no/herdr.sock", "pane": "w1:p1" });
    assert_eq!(refused(other_server).as_deref(), Some("other_pane"));
    let other_agent = serde_json::json!({ "agent": "other" });
    assert_eq!(refused(other_agent).as_deref(), Some("other_agent"));
    assert_eq!(pane.now().title, None);
    // A later version may send more fields.
    let ours = serde_json::json!({ "socket": socket, "pane": "w1:p1", "agent": "BOT", "new": 1 });
    let answers = answer(ours);
    assert!(answers.iter().any(|line| line["welcome"]["of"] == started.child.id()), "{answers:?}");
    assert_eq!(answers.last().unwrap()["taken"], 1);
    pane.wait(|seen| seen.title.as_deref() == Some("Said"));
    started.finish();
}

/// An owner that accepts one client and ends without an answer.
fn goes_without_an_answer(listener: &UnixListener) {
    let (mut caller, _) = listener.accept().unwrap();
    let mut begun = [0; 8];
    caller.read_exact(&mut begun).unwrap();
    // Unread input makes the end a reset.
    drop(caller);
}

#[test]
fn f46_an_owner_that_goes_without_an_answer_loses_nothing() {
    let pane = Pane::new();
    pane.quietly(&["title", "Before"]);
    let lease = pane.beside_the_lease("lock");
    let held = std::fs::File::options().write(true).open(&lease).unwrap();
    held.try_lock().unwrap();
    let socket = lease.with_extension("sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let mut hook = pane.start(&["title", "After", "--strict"]);
    goes_without_an_answer(&listener);
    std::fs::remove_file(&socket).unwrap();
    drop((listener, held));
    assert_eq!(hook.finish().code(), Some(0));
    assert_eq!(hook.complaints(), "");
    assert_eq!(pane.now().title.as_deref(), Some("After"));
}

#[test]
fn f46_a_supervisor_that_goes_without_an_answer_makes_its_hooks_late() {
    let pane = Pane::new();
    let socket = pane.path().join("report.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    for (strict, code) in [(false, 0), (true, 4)] {
        let mut command = pane.command(&["state", "idle"]);
        command.args(strict.then_some("--strict")).env("HERDR_REPORT_SOCKET", &socket);
        let mut hook = crate::pane::Started::of(command);
        goes_without_an_answer(&listener);
        assert_eq!(hook.finish().code(), Some(code));
        let said = hook.complaints();
        assert_eq!(said.contains("late: the supervisor has ended"), strict, "{said}");
    }
    assert_eq!(pane.herdr.connections(), 0);
}

#[test]
fn f47_on_a_frozen_server_everybody_is_told_in_time() {
    let pane = Pane::new();
    pane.herdr.fault(Fault::Frozen);
    let begun = Instant::now();
    let three = r#"{"event": "title_changed", "title": "T"}"#;
    let hooks: Vec<_> = (0..6)
        .map(|number| match number {
            0 => pane.start(&["emit", "--strict", three, three, three]),
            _ => pane.start(&["state", "working", "--strict"]),
        })
        .collect();
    for mut hook in hooks {
        assert_eq!(hook.finish().code(), Some(3));
        let said = hook.complaints();
        assert!(said.contains("does not answer within 1 s"), "{said}");
    }
    // The bound for all of them together, with time for a busy machine.
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[test]
fn doctor_says_what_becomes_of_a_hook() {
    let pane = Pane::new();
    let lease_of = |address: &std::path::Path, more: &[&str]| {
        let mut command = pane.command(&["doctor", "--json"]);
        let output = command.args(more).env("HERDR_REPORT_SOCKET", address).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let checks = report["checks"].as_array().unwrap().clone();
        let lease = checks.into_iter().find(|check| check["check"] == "lease").unwrap();
        (output.status.code(), lease["finding"].as_str().unwrap().to_owned())
    };
    let (address, mut started) = supervised(&pane);
    let (code, finding) = lease_of(&address, &[]);
    assert_eq!(code, Some(0), "{finding}");
    assert!(finding.contains("takes what this process says"), "{finding}");
    let (code, finding) = lease_of(&address, &["--agent", "other"]);
    assert_eq!(code, Some(4));
    assert!(finding.contains("no effect"), "{finding}");
    started.finish();
    pane.wait_clean();
    let (code, finding) = lease_of(&address, &[]);
    assert_eq!(code, Some(4));
    assert!(finding.contains("has ended: what is said there is late"), "{finding}");

    // A folder that cannot be used is named.
    let mut command = pane.command(&["doctor"]);
    let temporary = pane.path().join("t");
    std::fs::create_dir(&temporary).unwrap();
    command.env("XDG_RUNTIME_DIR", "/proc").env("TMPDIR", temporary);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("XDG_RUNTIME_DIR cannot be used, leases are in"), "{said}");
    assert_eq!(complaints(&output), "");
}
