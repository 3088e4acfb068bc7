//! The recorded sessions, written to `run` as by their hosts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;

use fake_herdr::{FakeHerdr, Observation};
use serde_json::Value;

use crate::support::{
    PATIENCE, fixtures, inside, numbered, requests, sequence, states, status, wait_clean,
};

fn sessions() -> Vec<PathBuf> {
    let files = std::fs::read_dir(fixtures()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    files.sort();
    assert!(files.len() > 20, "the fixtures are there");
    files
}

fn is_as_expected(pane: &Observation, expect: &Value) -> bool {
    let status = match pane.agent_status.as_str() {
        "done" => "idle",
        other => other,
    };
    let tokens: BTreeMap<String, String> =
        serde_json::from_value(expect["tokens"].clone()).unwrap_or_default();
    expect["agent_status"] == *status
        && pane.title.as_deref() == expect["title"].as_str()
        && pane.tokens == tokens
}

/// Whether `some` is `all` with gaps. A state that ended before it could be sent may be
/// missing, but none may be added.
fn is_in_order(some: &[String], all: &[String]) -> bool {
    let mut all = all.iter();
    some.iter().all(|state| all.any(|next| next == state))
}

fn play(file: &Path) {
    let name = file.file_name().unwrap().display().to_string();
    let expect = std::fs::read(file.with_extension("expect.json")).unwrap();
    let expect: Value = serde_json::from_slice(&expect).unwrap();
    let herdr = FakeHerdr::start().unwrap();
    let mut sidecar = inside(&herdr, &["run"]).start();

    sidecar.write(std::fs::read(file).unwrap());
    let before_the_end = herdr.wait_until(PATIENCE, |pane| is_as_expected(pane, &expect));
    before_the_end.unwrap_or_else(|last| panic!("{name}: {last}"));
    if let Some(all) = expect.get("states") {
        let all: Vec<String> = serde_json::from_value(all.clone()).unwrap();
        assert!(is_in_order(&states(&herdr), &all), "{name}: {:?} of {all:?}", states(&herdr));
    }

    let output = sidecar.finish();
    assert_eq!(output.code, Some(0), "{name}\n{}", numbered(&output.stderr));
    wait_clean(&herdr, &name);
    assert!(sequence(&herdr).is_sorted_by(|a, b| a < b), "{name}");
    let count = herdr.log().len();
    assert!(count < 200, "{name}: {count} requests");
}

#[test]
fn every_session_ends_as_expected_and_leaves_nothing() {
    thread::scope(|scope| {
        for file in sessions() {
            scope.spawn(move || play(&file));
        }
    });
}

#[test]
fn at_a_persons_pace_every_state_goes_out_in_order() {
    let herdr = FakeHerdr::start().unwrap();
    let mut sidecar = inside(&herdr, &["run"]).start();
    let text = std::fs::read_to_string(fixtures().join("tool-then-human.jsonl")).unwrap();
    let expected = ["idle", "working", "blocked", "working", "idle"];
    for (line, state) in text.lines().zip(expected) {
        sidecar.line(line);
        status(&herdr, state);
    }
    assert_eq!(sidecar.finish().code, Some(0));
    assert_eq!(states(&herdr), expected);
    assert!(sequence(&herdr).is_sorted_by(|a, b| a < b));
    assert_eq!(requests(&herdr, "pane.release_agent").len(), 1);
    wait_clean(&herdr, "at a person's pace");
}

#[test]
fn titles_change_and_labels_stay() {
    let herdr = FakeHerdr::start().unwrap();
    let mut sidecar = inside(&herdr, &["run", "--display-name", "Pixie"]).start();
    sidecar.line(r#"{"event": "labels_changed", "labels": {"working": "on it"}}"#);
    sidecar.line(r#"{"event": "agent_started"}"#);
    for title in ["one", "two", "three"] {
        sidecar.line(&format!(r#"{{"event": "title_changed", "title": "{title}"}}"#));
        let shown = |pane: &Observation| pane.title.as_deref() == Some(title);
        let pane = herdr.wait_until(PATIENCE, shown).unwrap();
        assert_eq!(pane.state_labels["working"], "on it");
        assert_eq!(pane.display_agent.as_deref(), Some("Pixie"));
    }
    assert_eq!(sidecar.finish().code, Some(0));
    for params in requests(&herdr, "pane.report_metadata") {
        if params.get("title").is_some() {
            assert_eq!(params["agent"], "agent");
            assert_eq!(params["applies_to_source"], "custom:agent");
        }
    }
}

#[test]
fn what_is_ready_before_the_claim_is_folded_into_it() {
    let herdr = FakeHerdr::start().unwrap();
    let mut sidecar = inside(&herdr, &["run"]).start();
    sidecar.write(
        "{\"event\": \"session_started\", \"session_id\": \"s\"}\n{\"event\": \"agent_started\"}\n\
         {\"event\": \"prompt_opened\", \"prompt_id\": \"p\", \"kind\": \"approval\"}\n",
    );
    status(&herdr, "blocked");
    assert_eq!(states(&herdr), ["blocked"], "nothing that was over already goes out");
    assert_eq!(sidecar.finish().code, Some(0));
}
