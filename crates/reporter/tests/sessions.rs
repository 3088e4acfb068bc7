//! Every recorded session, folded line by line, passes through the states that its expectation
//! names and ends with its title and tokens.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use herdr_reporter::Config;
use herdr_reporter::sidecar::{Activity, EventLine, Snapshot};
use serde_json::Value;

fn sessions() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    files.sort();
    assert!(files.len() > 20, "the fixtures are there");
    files
}

fn fold(file: &Path) -> (Vec<String>, Option<Snapshot>) {
    let config = Config::default();
    let mut activity = Activity::default();
    let mut states: Vec<String> = Vec::new();
    for line in std::fs::read(file).unwrap().split(|byte| *byte == b'\n') {
        let Ok(Some(EventLine::Event(event))) = EventLine::parse(line) else { continue };
        activity.apply(event).unwrap();
        let state = activity.state().map(|state| state.to_string());
        if state.is_some() && states.last() != state.as_ref() {
            states.extend(state);
        }
    }
    (states, activity.snapshot(&config))
}

#[test]
fn each_session_ends_as_expected() {
    for file in sessions() {
        let expect = std::fs::read(file.with_extension("expect.json")).unwrap();
        let expect: Value = serde_json::from_slice(&expect).unwrap();
        let (states, snapshot) = fold(&file);
        let snapshot = snapshot.expect("every session has a state");
        let name = file.display();

        assert_eq!(snapshot.state.as_str(), expect["agent_status"], "{name}");
        if let Some(expected) = expect.get("states") {
            assert_eq!(serde_json::to_value(states).unwrap(), *expected, "{name}");
        }
        let title = snapshot.presentation.title.map(|title| title.to_string());
        assert_eq!(title.as_deref(), expect.get("title").and_then(Value::as_str), "{name}");
        let tokens: BTreeMap<String, String> = snapshot
            .tokens
            .into_iter()
            .map(|(key, text)| (key.to_string(), text.to_string()))
            .collect();
        assert_eq!(serde_json::to_value(tokens).unwrap(), expect["tokens"], "{name}");
    }
}
