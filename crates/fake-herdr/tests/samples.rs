//! Replies have the recorded shapes: the same fields, in the same order and of the same
//! types.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support;

use std::path::Path;

use serde_json::{Value, json};
use support::Herdr;

fn sample(name: &str) -> (Value, Value) {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(format!("{name}.json"));
    let text = std::fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut sample: Value = serde_json::from_str(&text).unwrap();
    (sample["request"].take(), sample["reply"].take())
}

/// The fields of a value and their types. A list has the type of its first entry; maps
/// whose keys are data have a type of their own.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(name, value)| {
                    let data = ["tokens", "state_labels"].contains(&name.as_str());
                    (name.clone(), if data { json!("map") } else { shape(value) })
                })
                .collect(),
        ),
        Value::Array(items) => items.first().map_or(json!("list"), |first| json!([shape(first)])),
        Value::String(_) => json!("text"),
        Value::Number(_) => json!("number"),
        Value::Bool(_) => json!("flag"),
        Value::Null => json!("null"),
    }
}

fn check(herdr: &mut Herdr, name: &str) {
    let (request, recorded) = sample(name);
    let reply = match herdr.model.request(herdr.now, request.to_string().as_bytes()) {
        fake_herdr::Answer::Reply(reply) => serde_json::from_str::<Value>(&reply).unwrap(),
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(shape(&reply), shape(&recorded), "{name}");
    for value in ["/id", "/error/code", "/result/type", "/result/reason"] {
        assert_eq!(reply.pointer(value), recorded.pointer(value), "{name} {value}");
    }
}

#[test]
fn replies_have_the_recorded_shapes() {
    let mut herdr = Herdr::new();
    for name in ["ping", "pane.get-bare", "error-pane_not_found", "error-invalid_request"] {
        check(&mut herdr, name);
    }
    check(&mut herdr, "pane.report_agent");
    check(&mut herdr, "pane.report_metadata");
    herdr.model.split_pane(herdr.now, "w1:p1").unwrap();
    let mut shell = fake_herdr::PaneProcess::new(7, "sh");
    shell.argv = vec!["/bin/sh".to_owned()];
    shell.cmdline = Some("/bin/sh".to_owned());
    shell.cwd = Some("/tmp".to_owned());
    for pane in ["w1:p1", "w1:p2"] {
        assert!(herdr.model.set_processes(pane, Some(7), vec![shell.clone()]));
    }
    for name in [
        "pane.get-reported",
        "pane.current",
        "pane.list",
        "agent.get",
        "agent.list",
        "session.snapshot",
        "pane.read",
        "pane.read-ansi",
        "pane.process_info",
        "pane.process_info-sibling",
        "notification.show",
        "error-agent_explain_unavailable",
        "error-agent_not_found",
        "error-agent_not_ready",
        "error-invalid_key",
        "pane.report_agent-blocked",
        "pane.move",
        "pane.get-by-old-id",
        "pane.release_agent",
    ] {
        check(&mut herdr, name);
    }
}

/// Repeats the recorded stream and compares the shapes of its events.
#[test]
fn events_have_the_recorded_shapes() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/events.subscribe.jsonl");
    let text = std::fs::read_to_string(file).unwrap();
    let mut lines = text.lines();
    let request: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
    let mut herdr = Herdr::new();
    herdr.model.split_pane(herdr.now, "w1:p1").unwrap();
    let line = request["request"].to_string();
    let fake_herdr::Answer::Stream { reply, mut stream } =
        herdr.model.request(herdr.now, line.as_bytes())
    else {
        panic!("no stream");
    };
    assert_eq!(reply, lines.next().unwrap());
    let send = |herdr: &mut Herdr, name: &str| {
        let (request, _) = sample(name);
        herdr.model.request(herdr.now, request.to_string().as_bytes());
    };
    let mut events = Vec::new();
    for step in
        ["pane.report_agent", "pane.report_metadata", "pane.report_agent-blocked", "pane.move"]
    {
        send(&mut herdr, step);
        for _ in 0..3 {
            events.extend(herdr.model.tick(stream.due(), &mut stream));
            herdr.now = stream.due();
        }
    }
    send(&mut herdr, "pane.release_agent");
    for _ in 0..3 {
        events.extend(herdr.model.tick(stream.due(), &mut stream));
        herdr.now = stream.due();
    }
    herdr.model.close_pane(herdr.now, "w1:p2");
    herdr.model.exit_pane(herdr.now, "w2:p1");
    for _ in 0..3 {
        events.extend(herdr.model.tick(stream.due(), &mut stream));
    }
    let parsed = |line: &str| shape(&serde_json::from_str(line).unwrap());
    let recorded: Vec<Value> = lines.map(parsed).collect();
    let events: Vec<Value> = events.iter().map(|line| parsed(line)).collect();
    // The events of a turn are in the order of the subscriptions, and one turn here can
    // cover two recorded turns, so the order is not compared.
    let sorted = |mut events: Vec<Value>| {
        events.sort_by_key(ToString::to_string);
        events
    };
    assert_eq!(sorted(events), sorted(recorded));
}
