//! Every recorded reply with one thing wrong in it: a field that is
//! missing, null, of another type, or there twice. What a client cannot do
//! without makes a typed error, everything else is read without it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use herdr_proto::{
    Ack, AgentInfoReply, AgentListReply, Error, ErrorKind, PaneInfoReply, PaneListReply, Pong,
    ProcessInfoReply, Reply, SnapshotReply, SubscriptionStarted, decode,
};
use serde_json::{Value, json};

/// Something that a server said, and to which method.
struct Said {
    method: String,
    line: Value,
}

/// Everything that is in the samples.
fn said() -> Vec<Said> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let mut said = Vec::new();
    for file in fs::read_dir(folder).unwrap() {
        let file = file.unwrap().path();
        let text = fs::read_to_string(&file).unwrap();
        if file.extension().is_some_and(|ending| ending == "json") {
            let mut sample: Value = serde_json::from_str(&text).unwrap();
            let method = sample["request"]["method"].as_str().unwrap().to_owned();
            said.push(Said { method, line: sample["reply"].take() });
            continue;
        }
        // What follows the acknowledgement of a stream are events.
        let lines = text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap());
        let replies = lines.filter(|line: &Value| line["event"].is_null());
        said.extend(replies.map(|line| Said { method: "events.subscribe".to_owned(), line }));
    }
    assert!(said.len() > 20, "{}", said.len());
    said
}

/// Reads a line as what the method answers: fine, or a typed error.
fn read(method: &str, line: &str) -> Result<(), ErrorKind> {
    fn outcome<T>(read: Result<Reply<T>, Error>) -> Result<(), ErrorKind> {
        read.map(|_| ()).map_err(|error| error.kind())
    }
    let line = line.as_bytes();
    match method {
        "ping" => outcome(decode::<Pong>(line)),
        "pane.get" | "pane.current" => outcome(decode::<PaneInfoReply>(line)),
        "pane.list" => outcome(decode::<PaneListReply>(line)),
        "pane.process_info" => outcome(decode::<ProcessInfoReply>(line)),
        "agent.get" => outcome(decode::<AgentInfoReply>(line)),
        "agent.list" => outcome(decode::<AgentListReply>(line)),
        "session.snapshot" => outcome(decode::<SnapshotReply>(line)),
        "events.subscribe" => outcome(decode::<SubscriptionStarted>(line)),
        _ => outcome(decode::<Ack>(line)),
    }
}

/// The pointer to every field of every object in a value.
fn fields(value: &Value, above: &str, into: &mut Vec<String>) {
    let mut below = |name: &str, value: &Value| {
        let pointer = format!("{above}/{name}");
        if !value.is_null() {
            fields(value, &pointer, into);
        }
        pointer
    };
    match value {
        Value::Object(members) => {
            let pointers: Vec<_> = members.iter().map(|(name, value)| below(name, value)).collect();
            into.extend(pointers);
        }
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                below(&number.to_string(), item);
            }
        }
        _ => {}
    }
}

/// Does something to each field of each sample, one at a time.
fn with_each_field(mut act: impl FnMut(&Said, &str, &str)) {
    for said in said() {
        assert_eq!(read(&said.method, &said.line.to_string()), Ok(()), "{}", said.line);
        let mut pointers = Vec::new();
        fields(&said.line, "", &mut pointers);
        for pointer in pointers {
            let (object, name) = pointer.rsplit_once('/').unwrap();
            act(&said, object, name);
        }
    }
}

fn without(line: &Value, object: &str, name: &str) -> String {
    let mut line = line.clone();
    line.pointer_mut(object).unwrap().as_object_mut().unwrap().remove(name);
    line.to_string()
}

fn with(line: &Value, object: &str, name: &str, value: Value) -> String {
    let mut line = line.clone();
    line.pointer_mut(object).unwrap()[name] = value;
    line.to_string()
}

/// The fields that something is said by; whatever else is missing, the rest
/// counts. Null says as much as nothing does.
#[test]
fn only_what_names_a_thing_is_needed() {
    let mut needed = BTreeSet::new();
    with_each_field(|said, object, name| {
        let missing = read(&said.method, &without(&said.line, object, name));
        let null = read(&said.method, &with(&said.line, object, name, Value::Null));
        let place = object.rsplit('/').next().unwrap();
        assert_eq!(missing, null, "{} {object}/{name}", said.method);
        if let Err(kind) = missing {
            assert_eq!(kind, ErrorKind::Malformed, "{} {object}/{name}", said.method);
            needed.insert(match place.parse::<usize>() {
                Ok(_) => format!("{name} of an item"),
                Err(_) => format!("{name} of {}", if place.is_empty() { "a line" } else { place }),
            });
        }
    });
    let expected = [
        "agent of result",
        "agents of result",
        "code of error",
        "error of a line",
        "pane of result",
        "pane_id of agent",
        "pane_id of an item",
        "pane_id of pane",
        "pane_id of process_info",
        "panes of result",
        "pid of an item",
        "process_info of result",
        "result of a line",
        "snapshot of result",
        "tab_id of an item",
        "type of result",
        "workspace_id of an item",
    ];
    assert_eq!(needed, expected.map(str::to_owned).into());
}

#[test]
fn a_field_of_another_type_is_passed_over_or_a_typed_error() {
    let others = [json!(7), json!(-1.5), json!(true), json!("x y"), json!([null]), json!({"a": 1})];
    with_each_field(|said, object, name| {
        for other in &others {
            let line = with(&said.line, object, name, other.clone());
            let outcome = read(&said.method, &line);
            let typed = [Ok(()), Err(ErrorKind::Malformed), Err(ErrorKind::NotPaneApi)];
            assert!(typed.contains(&outcome), "{} {object}/{name} {other}", said.method);
            // What Herdr may say in words of its own stays open.
            if other.is_string() && ["agent_status", "code", "kind"].contains(&name) {
                assert_eq!(outcome, Ok(()), "{} {object}/{name}", said.method);
            }
        }
    });
}

#[test]
fn a_field_that_is_there_twice_is_passed_over_or_a_typed_error() {
    with_each_field(|said, object, name| {
        let mark = "here-it-comes-again";
        let value = said.line.pointer(object).unwrap()[name].clone();
        let marked = with(&said.line, object, mark, value.clone());
        assert_eq!(read(&said.method, &marked), Ok(()), "a field of the future");
        let twice = marked.replace(&format!("\"{mark}\""), &format!("\"{name}\""));
        let outcome = read(&said.method, &twice);
        assert!([Ok(()), Err(ErrorKind::Malformed)].contains(&outcome), "{object}/{name}");
    });
}
