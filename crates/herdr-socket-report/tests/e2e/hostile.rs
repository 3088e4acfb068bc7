//! Servers that misbehave, and hosts that do not read.

use std::collections::BTreeSet;
use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use fake_herdr::{FakeHerdr, Fault};

use crate::support::{PATIENCE, inside, states, status, wait_clean};

const WORK: &str = r#"{"event": "agent_started"}"#;

/// How long an end may take on a busy machine. Half a second is promised.
const SOON: Duration = Duration::from_secs(4);

/// Writes far more than a pipe holds, with a server that cannot be used, and expects one
/// diagnostic and a quick, orderly end.
fn useless(fault: &Fault, diagnostic: &str, code: i32) {
    let herdr = FakeHerdr::builder().fault(fault.clone()).start().unwrap();
    let mut sidecar = inside(&herdr, &["run", "--strict"]).start();
    sidecar.line(WORK);
    let line = r#"{"event": "usage_changed", "used": 5}"#;
    sidecar.write(format!("{line}\n").repeat(50_000));
    let complaint = sidecar.complaint();
    assert!(complaint.contains(diagnostic), "{fault}: {complaint}");
    let ending = Instant::now();
    let output = sidecar.finish();
    assert!(ending.elapsed() < SOON, "{fault}: {:?}", ending.elapsed());
    assert_eq!(output.code, Some(code), "{fault}: {output:?}");
    // A diagnostic of another kind may follow, but not one of the same kind.
    let kind = |line: &str| line.split(": ").nth(1).unwrap_or_default().to_owned();
    let mut kinds: Vec<_> = output.stderr.lines().map(kind).collect();
    kinds.push(kind(&complaint));
    let told: BTreeSet<_> = kinds.iter().collect();
    assert_eq!(told.len(), kinds.len(), "{fault}: {kinds:?}");
}

#[test]
fn a_useless_server_costs_one_diagnostic_and_holds_nobody_up() {
    let refuses = |code: &str| Fault::Refuses {
        method: "pane.report_agent".to_owned(),
        code: code.to_owned(),
    };
    let cases = [
        (Fault::NeverAnswers, "timeout: "),
        (Fault::Frozen, "timeout: "),
        (Fault::FullBacklog, ": "),
        (Fault::ClosesEarly, "connect_failed: "),
        (Fault::Resets, "connect_failed: "),
        (Fault::HalfLine, "connect_failed: "),
        // On a busy machine 10 MiB do not arrive in time.
        (Fault::Oversize, ": "),
        (Fault::InvalidUtf8, "connect_failed: "),
        (Fault::Refusing, "connect_failed: "),
        (Fault::Gone, "connect_failed: there is no socket at"),
        (Fault::JsonRpc, "not_pane_api: "),
        (refuses("pane_not_found"), "pane_not_found"),
        (refuses("internal_error"), "internal_error"),
    ];
    thread::scope(|scope| {
        for (fault, diagnostic) in &cases {
            let code = if matches!(fault, Fault::Refuses { .. }) { 4 } else { 3 };
            scope.spawn(move || useless(fault, diagnostic, code));
        }
    });
}

#[test]
fn an_end_before_the_server_answers_is_told() {
    for fault in [Fault::NeverAnswers, Fault::Frozen, Fault::FullBacklog] {
        let herdr = FakeHerdr::builder().fault(fault.clone()).start().unwrap();
        for (flags, code) in [(&["run"][..], 0), (&["run", "--strict"], 3)] {
            let output = inside(&herdr, flags).run(format!("{WORK}\n"));
            assert_eq!(output.code, Some(code), "{fault}: {}", output.stderr);
            assert_eq!(output.stderr.lines().count(), 1, "{fault}: {}", output.stderr);
            assert!(output.stderr.contains("timeout: "), "{fault}: {}", output.stderr);
        }
    }
}

/// Reports three states to an odd server and expects no message about that.
fn odd(fault: &Fault) {
    let herdr = FakeHerdr::builder().fault(fault.clone()).start().unwrap();
    let mut sidecar = inside(&herdr, &["run", "--strict"]).start();
    for state in ["working", "blocked", "idle"] {
        sidecar.line(&format!(r#"{{"event": "state_set", "state": "{state}"}}"#));
        let shown = herdr.wait_until(PATIENCE, |pane| pane.agent_status == state);
        shown.unwrap_or_else(|last| panic!("{fault}: {last}"));
    }
    let output = sidecar.finish();
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{fault}");
    assert_eq!(states(&herdr), ["working", "blocked", "idle"], "{fault}");
    wait_clean(&herdr, fault);
}

#[test]
fn an_odd_server_is_reported_to_as_any_other() {
    let cases = [
        Fault::AnswersLate(Duration::from_millis(20)),
        Fault::TwoLines,
        Fault::WrongId,
        Fault::EmptyId,
        Fault::NullId,
    ];
    thread::scope(|scope| {
        for fault in &cases {
            scope.spawn(move || odd(fault));
        }
    });
}

#[test]
fn after_an_outage_the_newest_state_is_there_without_a_new_event() {
    for fault in [Fault::Gone, Fault::Refusing, Fault::Frozen] {
        let herdr = FakeHerdr::builder().fault(fault.clone()).start().unwrap();
        let mut sidecar = inside(&herdr, &["run"]).start();
        sidecar.line(r#"{"event": "session_started", "session_id": "s", "title": "Fix it"}"#);
        sidecar.line(WORK);
        let complaint = sidecar.complaint();
        assert!(!complaint.is_empty());
        sidecar.line(r#"{"event": "prompt_opened", "prompt_id": "p", "kind": "question"}"#);
        herdr.clear_faults();
        let shown = herdr.wait_until(PATIENCE, |pane| {
            pane.agent_status == "blocked" && pane.title.as_deref() == Some("Fix it")
        });
        shown.unwrap_or_else(|last| panic!("{fault}: {last}"));
        assert_eq!(sidecar.finish().code, Some(0));
        wait_clean(&herdr, fault);
    }
}

#[test]
fn a_host_that_reads_nothing_is_not_held_up() {
    let herdr = FakeHerdr::start().unwrap();
    let mut setup = inside(&herdr, &["run", "--receipts"]);
    // The pipes stay open and are never read.
    let mut child = setup.command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all("{no\n".repeat(50_000).as_bytes()).unwrap();
    stdin.write_all(format!("{WORK}\n").as_bytes()).unwrap();
    status(&herdr, "working");
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    wait_clean(&herdr, "pipes");
}

#[test]
fn a_reader_that_went_away_does_not_end_the_reporting() {
    let herdr = FakeHerdr::start().unwrap();
    let mut setup = inside(&herdr, &["run", "--receipts"]);
    let mut child = setup.command.spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(format!("{{no\n{WORK}\n").as_bytes()).unwrap();
    status(&herdr, "working");
    stdin.write_all(b"{no\n{\"event\": \"agent_settled\"}\n").unwrap();
    status(&herdr, "idle");
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    wait_clean(&herdr, "pipes");
}

#[test]
fn a_release_that_nobody_answers_is_told() {
    let herdr = FakeHerdr::start().unwrap();
    let mut sidecar = inside(&herdr, &["run", "--strict", "--receipts"]).start();
    sidecar.line(WORK);
    // The receipt is awaited and not the pane, because the answer may arrive after the pane has
    // changed.
    assert!(sidecar.answer().contains(r#""receipt":"applied","of":"state""#));
    herdr.fault(Fault::Frozen);
    let output = sidecar.finish();
    assert_eq!(output.code, Some(3), "{output:?}");
    assert!(output.stderr.contains("timeout: the release was not answered"), "{}", output.stderr);
}
