//! However a supervised process ends, its row is cleared.

use std::time::{Duration, Instant};

use fake_herdr::Fault;
use rustix::process::{Signal, kill_process};

use crate::pane::Pane;
use crate::support::{is_clean, requests};

/// How long the row may stay, with time for a busy machine.
const SOON: Duration = Duration::from_secs(5);

#[test]
fn b13_whatever_kills_the_command_its_row_title_and_tokens_go() {
    let pane = Pane::new();
    for signal in [Signal::KILL, Signal::SEGV, Signal::ABORT, Signal::TERM, Signal::HUP] {
        let mut started = pane.start(&["exec", "--state", "working", "cat"]);
        pane.wait_status("working");
        pane.quietly(&["title", "Busy"]);
        pane.quietly(&["tokens", "branch=main"]);
        pane.wait(|seen| seen.title.is_some() && !seen.tokens.is_empty());
        started.signal(signal);
        let died = Instant::now();
        started.finish();
        pane.wait(is_clean);
        assert!(died.elapsed() < SOON, "{signal:?} {:?}", died.elapsed());
    }
    assert_eq!(requests(&pane.herdr, "pane.release_agent").len(), 5);
}

#[test]
fn a_process_that_nobody_waits_for_has_ended_all_the_same() {
    let pane = Pane::new();
    let started = pane.start(&["exec", "--state", "blocked", "cat"]);
    pane.wait_status("blocked");
    // The process is dead, and a zombie until the end of the test.
    started.signal(Signal::KILL);
    pane.wait_clean();
}

#[test]
fn b16_a_supervisor_that_is_asked_to_end_gives_the_row_back() {
    let pane = Pane::new();
    let mut started = pane.start(&["exec", "--state", "working", "cat"]);
    pane.wait_status("working");
    kill_process(pane.supervisor(), Signal::TERM).unwrap();
    pane.wait_clean();
    started.line("unharmed");
    assert_eq!(started.answer(), "unharmed");
    assert_eq!(started.finish().code(), Some(0));
    assert_eq!(requests(&pane.herdr, "pane.release_agent").len(), 1);
}

#[test]
fn attach_supervises_what_runs_already() {
    let pane = Pane::new();
    let mut host = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let pid = host.id().to_string();
    pane.quietly(&["attach", "--pid", &pid, "--agent", "late", "--state", "working"]);
    assert_eq!(pane.wait_status("working").agent.as_deref(), Some("late"));
    let supervisor = pane.supervisor();
    // A second supervisor is success without effect.
    pane.quietly(&["attach", "--pid", &pid, "--agent", "late", "--state", "blocked", "--strict"]);
    assert_eq!(pane.supervisor(), supervisor);
    assert_eq!(pane.now().agent_status, "working");
    host.kill().unwrap();
    host.wait().unwrap();
    pane.wait_clean();
    pane.wait_unheld();
}

#[test]
fn a_hook_of_an_attached_process_is_heard_before_its_supervisor_has_the_pane() {
    let pane = Pane::new();
    pane.quietly(&["title", "T"]);
    let lease = std::fs::File::open(pane.beside_the_lease("lock")).unwrap();
    lease.lock_shared().unwrap();
    let mut shell = std::process::Command::new("sh");
    shell.envs(pane.command(&[]).get_envs().filter_map(|(key, value)| Some((key, value?))));
    let mut shell = crate::pane::Started::of(shell);
    let pid = shell.child.id().to_string();
    let mut attach = pane.start(&["attach", "--pid", &pid, "--state", "working"]);
    pane.supervisor_socket(shell.child.id());
    shell.line(&format!(
        "{} tokens branch=main; echo heard",
        env!("CARGO_BIN_EXE_herdr-socket-report")
    ));
    assert_eq!(shell.answer(), "heard");
    assert!(pane.now().tokens.is_empty(), "it is the supervisor's to say");
    lease.unlock().unwrap();
    pane.wait(|seen| seen.tokens.contains_key("branch"));
    assert_eq!(attach.finish().code(), Some(0));
    shell.finish();
    pane.wait(|seen| seen.tokens.is_empty());
}

#[test]
fn attach_leaves_a_pane_that_somebody_has() {
    let pane = Pane::new();
    let mut run = pane.start(&["run"]);
    run.line(r#"{"event": "agent_started"}"#);
    pane.wait_status("working");
    let pid = std::process::id().to_string();
    let output = pane.run(&["attach", "--pid", &pid, "--agent", "other", "--strict"]);
    assert_eq!(output.status.code(), Some(4));
    assert!(crate::pane::complaints(&output).contains("another process reports for this pane"));
    assert_eq!(pane.now().agent.as_deref(), Some("agent"));
    assert_eq!(run.finish().code(), Some(0));
}

#[test]
fn attach_without_a_server_says_so_and_its_supervisor_waits_for_one() {
    let pane = Pane::new();
    pane.herdr.fault(Fault::Gone);
    let mut host = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let pid = host.id().to_string();
    let output = pane.run(&["attach", "--pid", &pid, "--state", "working", "--strict"]);
    let complaints = crate::pane::complaints(&output);
    assert_eq!(output.status.code(), Some(3), "{complaints}");
    assert!(complaints.contains("connect_failed: there is no socket at"), "{complaints}");
    pane.herdr.clear_faults();
    pane.wait_status("working");
    host.kill().unwrap();
    host.wait().unwrap();
    pane.wait_clean();
    pane.wait_unheld();
}

#[test]
fn attach_names_what_cannot_be_supervised() {
    let pane = Pane::new();
    let mut gone = std::process::Command::new("true").spawn().unwrap();
    let pid = gone.id().to_string();
    gone.wait().unwrap();
    for arguments in [&["attach", "--pid", &pid][..], &["attach", "--pid", "0"], &["attach"]] {
        assert_eq!(pane.run(arguments).status.code(), Some(2), "{arguments:?}");
    }
    // Outside Herdr there is nothing to supervise.
    let own = std::process::id().to_string();
    let output = pane.outside(&["attach", "--pid", &own]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(crate::pane::complaints(&output), "");
}
