//! Lines that are not events.

use std::io::Write as _;

use fake_herdr::FakeHerdr;

use crate::support::{PATIENCE, fixtures, inside, records, sidecar, status};
use crate::terminal::both_ends;

#[test]
fn who_types_is_told_what_to_type_and_how_it_ends() {
    let herdr = FakeHerdr::start().unwrap();
    for (mut setup, report) in [(inside(&herdr, &["run"]), true), (sidecar(&["run"]), false)] {
        let (mut keys, terminal) = both_ends();
        setup.command.stdin(terminal);
        let mut typed = setup.start();
        assert!(typed.complaint().contains("type events such as"));
        if report {
            writeln!(keys, r#"{{"event": "agent_started"}}"#).unwrap();
            status(&herdr, "working");
        } else {
            let complaint = typed.complaint();
            assert!(complaint.contains("nothing is reported: not in Herdr"), "{complaint}");
        }
        keys.write_all(b"\x04").unwrap();
        let output = typed.wait();
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output:?}");
    }
}

#[test]
fn each_bad_line_is_named_by_number_and_reason_and_the_rest_works() {
    let herdr = FakeHerdr::start().unwrap();
    let mut sidecar = inside(&herdr, &["run"]).start();
    sidecar.write(std::fs::read(fixtures().join("messy.jsonl")).unwrap());
    status(&herdr, "working");
    let output = sidecar.finish();
    let stderr: Vec<_> = output.stderr.lines().collect();
    let expected = [
        "herdr-socket-report: line 1: not JSON (column 2)",
        "herdr-socket-report: line 3: unknown event `nonsense`",
        "herdr-socket-report: line 4: JSON, but not an object",
        "herdr-socket-report: line 5: JSON, but not an object",
    ];
    assert_eq!(stderr.len(), expected.len(), "{stderr:#?}");
    for (line, expected) in stderr.iter().zip(expected) {
        assert!(line.starts_with(expected), "{line}");
    }
    assert_eq!(output.code, Some(0));
    assert!(output.stdout.is_empty());
}

#[test]
fn a_line_over_the_limit_is_named_and_skipped() {
    let herdr = FakeHerdr::start().unwrap();
    let mut sidecar = inside(&herdr, &["run", "--receipts"]).start();
    sidecar.line(r#"{"event": "agent_started"}"#);
    let title = "x".repeat(3 * 1024 * 1024);
    sidecar.line(&format!(r#"{{"event": "title_changed", "title": "{title}"}}"#));
    sidecar.line(r#"{"event": "title_changed", "title": "short"}"#);
    herdr.wait_until(PATIENCE, |pane| pane.title.as_deref() == Some("short")).unwrap();
    let output = sidecar.finish();
    assert_eq!(output.stderr, "herdr-socket-report: line 2: longer than 1048576 bytes; skipped\n");
    let told =
        records(&output.stdout).into_iter().find(|record| record["diagnostic"] == "bad_line");
    assert_eq!(told.unwrap()["detail"], "line 2: longer than 1048576 bytes; skipped");
}

#[test]
fn what_does_not_fit_is_named_by_its_line() {
    let herdr = FakeHerdr::start().unwrap();
    let mut sidecar = inside(&herdr, &["run"]).start();
    sidecar.line(r#"{"event": "agent_started"}"#);
    sidecar.line(r#"{"event": "tokens_changed", "tokens": {"not a key": "x", "good": "y"}}"#);
    herdr.wait_until(PATIENCE, |pane| pane.tokens.contains_key("good")).unwrap();
    let output = sidecar.finish();
    assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
    assert!(
        output.stderr.starts_with("herdr-socket-report: line 2: token keys"),
        "{}",
        output.stderr
    );
}

#[test]
fn values_never_reach_the_messages() {
    let herdr = FakeHerdr::start().unwrap();
    let input = "{\"event\": \"usage_changed\", \"used\": \"hunter2\"}\n{\"event\": \"agent_started\"\n\
                 {\"event\": \"title_changed\", \"title\": 5, \"hunter2\": 1}\n";
    let output = inside(&herdr, &["run", "--receipts"]).env("HERDR_REPORT_LOG", "trace").run(input);
    assert!(!format!("{output:?}").contains("hunter2"), "{output:?}");
}

#[test]
fn thousands_of_bad_lines_are_all_named() {
    let herdr = FakeHerdr::start().unwrap();
    let output = inside(&herdr, &["run"]).run("{no\n".repeat(5000));
    assert_eq!(output.stderr.lines().count(), 5000);
    let last = output.stderr.lines().last().unwrap();
    assert!(last.starts_with("herdr-socket-report: line 5000: "), "{last}");
}

#[test]
fn outside_herdr_everything_is_read_quietly() {
    for (flags, code) in [(&["run"][..], 0), (&["run", "--strict"], 3)] {
        let output = sidecar(flags).run("{no\n".repeat(100_000));
        assert_eq!((output.code, output.stdout.as_str()), (Some(code), ""));
        assert_eq!(output.stderr.lines().count(), usize::from(code == 3), "{}", output.stderr);
    }
}
