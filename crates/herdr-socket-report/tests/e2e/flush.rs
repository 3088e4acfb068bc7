//! `flush` lines and receipts.

use std::os::unix::net::UnixListener;

use fake_herdr::FakeHerdr;
use serde_json::{Value, json};

use crate::support::{inside, now, records, sidecar};

#[test]
fn a_flush_answers_when_everything_before_it_is_delivered() {
    let herdr = FakeHerdr::start().unwrap();
    let mut sidecar = inside(&herdr, &["run"]).start();
    for (state, shown) in [("working", "working"), ("blocked", "blocked"), ("idle", "idle")] {
        sidecar.line(&format!(r#"{{"event": "state_set", "state": "{state}"}}"#));
        sidecar.line(&format!(r#"{{"event": "flush", "id": "{state}"}}"#));
        assert_eq!(sidecar.answer(), format!(r#"{{"flushed":"{state}","ok":true}}"#));
        assert_eq!(now(&herdr).agent_status, shown);
    }
    let output = sidecar.finish();
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), ""));
}

#[test]
fn a_flush_at_the_end_of_the_input_is_answered() {
    let herdr = FakeHerdr::start().unwrap();
    let input = "{\"event\": \"agent_started\"}\n{\"event\": \"flush\"}";
    let output = inside(&herdr, &["run"]).run(input);
    assert_eq!(output.stdout, "{\"flushed\":null,\"ok\":true}\n");
}

#[test]
fn outside_herdr_a_flush_is_answered_too() {
    let output = sidecar(&["run"]).run("{\"event\": \"flush\", \"id\": \"f\"}\n");
    assert_eq!(output.stdout, "{\"flushed\":\"f\",\"ok\":false,\"reason\":\"not_in_herdr\"}\n");
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
}

#[test]
fn f38_the_id_of_a_flush_comes_back_as_it_was() {
    let lines = [r#"{"event": "flush", "id": 7}"#, r#"{"event": "flush", "id": "7"}"#];
    let output = sidecar(&["run"]).run(lines.join("\n"));
    let ids: Vec<Value> =
        records(&output.stdout).into_iter().map(|mut line| line["flushed"].take()).collect();
    assert_eq!(ids.len(), 2, "{output:?}");
    assert!(ids.contains(&json!(7)) && ids.contains(&json!("7")), "{ids:?}");
}

#[test]
fn a_flush_that_waits_holds_up_no_later_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("herdr.sock");
    // A server that listens and never accepts.
    let _listener = UnixListener::bind(&path).unwrap();
    let socket = path.to_str().unwrap();
    let mut sidecar = sidecar(&["run", "--socket", socket, "--pane", "w1:p1"]).start();
    sidecar.line(r#"{"event": "agent_started"}"#);
    sidecar.line(r#"{"event": "flush", "id": "long", "timeout_ms": 600000}"#);
    sidecar.line(r#"{"event": "flush", "id": "short", "timeout_ms": 1}"#);
    sidecar.line("{no");
    assert_eq!(sidecar.answer(), r#"{"flushed":"short","ok":false,"reason":"timeout"}"#);
    loop {
        if sidecar.complaint().contains("line 4: not JSON") {
            break;
        }
    }
    let output = sidecar.finish();
    assert_eq!(output.code, Some(0));
    assert_eq!(output.stdout, "{\"flushed\":\"long\",\"ok\":false,\"reason\":\"ended\"}\n");
}

#[test]
fn too_many_flushes_at_a_time_are_refused_and_answered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("herdr.sock");
    let _listener = UnixListener::bind(&path).unwrap();
    let socket = path.to_str().unwrap();
    let flushes = "{\"event\": \"flush\", \"timeout_ms\": 600000}\n".repeat(100);
    let input = format!("{{\"event\": \"agent_started\"}}\n{flushes}");
    let output = sidecar(&["run", "--socket", socket, "--pane", "w1:p1"]).run(input);
    let answers = records(&output.stdout);
    assert_eq!(answers.len(), 100);
    let refused = answers.iter().filter(|answer| answer["reason"] == "too_many").count();
    assert_eq!(refused, 68);
}

#[test]
fn receipts_say_what_became_of_each_report() {
    let herdr = FakeHerdr::start().unwrap();
    let input = "{\"event\": \"session_started\", \"session_id\": \"s\", \"title\": \"Fix it\", \
                 \"model\": \"m\"}\n{\"event\": \"agent_started\"}\n";
    let mut sidecar = inside(&herdr, &["run", "--receipts"]).start();
    sidecar.write(input);
    let mut seen: Vec<Value> = Vec::new();
    while !["state", "presentation", "tokens"]
        .iter()
        .all(|part| seen.iter().any(|record| record["of"] == **part))
    {
        seen.push(serde_json::from_str(&sidecar.answer()).unwrap());
    }
    let state = seen.iter().find(|record| record["of"] == "state").unwrap();
    assert_eq!(state["receipt"], "applied");
    assert!(state["seq"].as_u64().unwrap() > 1_000_000_000_000_000, "microseconds of the clock");
    let output = sidecar.finish();
    let last = records(&output.stdout).pop().unwrap();
    assert_eq!(last["of"], json!("release"));
    assert_eq!(output.stderr, "");
}
