//! Answers that a fault has changed.

use serde_json::{Map, Value, json};

use super::fault::Fault;

/// The length of an oversize answer.
const OVERSIZE: usize = 10 * 1024 * 1024;

/// The bytes to send for an answer under a fault, with the newline. `None` if the
/// fault does not change the bytes.
pub(super) fn mangle(fault: &Fault, reply: &str) -> Option<Vec<u8>> {
    let with_id = |id: Value| edit(reply, |answer| _ = answer.insert("id".to_owned(), id));
    let text = match fault {
        Fault::HalfLine => return Some(reply.as_bytes()[..reply.len() / 2].to_vec()),
        Fault::TwoLines => format!("{reply}\n{}", json!({ "id": "uninvited", "result": {} })),
        Fault::WrongId => with_id("of-another-request".into()),
        Fault::EmptyId => with_id("".into()),
        Fault::NullId => with_id(Value::Null),
        Fault::Oversize => edit(reply, |answer| {
            let padding = OVERSIZE.saturating_sub(reply.len());
            answer.insert("padding".to_owned(), "x".repeat(padding).into());
        }),
        Fault::Unknown => edit(reply, |answer| {
            answer.insert("trace".to_owned(), json!({ "span": [1, null] }));
            answer.values_mut().for_each(add_unknown);
        }),
        Fault::InvalidUtf8 => {
            let mut bytes = line(reply);
            // Not at the end, so that the newline still ends the line.
            bytes.insert(1, 0xff);
            return Some(bytes);
        }
        _ => return None,
    };
    Some(line(&text))
}

/// The answer of herdr-core to a request that it does not know.
pub(super) fn json_rpc(request: &str) -> String {
    json!({
        "jsonrpc": "2.0",
        "id": id_of(request),
        "error": {
            "code": -32601,
            "message": "method not found",
            "data": { "kind": "unknown_method", "hint": "hc schema" },
        },
    })
    .to_string()
}

pub(super) fn refusal(request: &str, code: &str) -> String {
    json!({ "id": id_of(request), "error": { "code": code, "message": "refused by a fault" } })
        .to_string()
}

fn id_of(request: &str) -> Option<Value> {
    serde_json::from_str::<Value>(request).ok()?.get("id").cloned()
}

pub(super) fn line(text: &str) -> Vec<u8> {
    format!("{text}\n").into_bytes()
}

/// Changes the outermost object of an answer.
fn edit(reply: &str, change: impl FnOnce(&mut Map<String, Value>)) -> String {
    match serde_json::from_str(reply) {
        Ok(Value::Object(mut answer)) => {
            change(&mut answer);
            Value::Object(answer).to_string()
        }
        _ => reply.to_owned(),
    }
}

/// Adds a field to every object, and replaces values that clients might take for a
/// closed set.
fn add_unknown(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                let open = ["agent_status", "code", "kind"].contains(&name.as_str());
                if open && value.is_string() {
                    *value = "of_the_future".into();
                } else {
                    add_unknown(value);
                }
            }
            fields.insert("of_the_future".to_owned(), json!({ "since": 99 }));
        }
        Value::Array(items) => items.iter_mut().for_each(add_unknown),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_part_is_wrong() {
        let reply = r#"{"id":"7","result":{"type":"ok"}}"#;
        let text = |fault| String::from_utf8(mangle(&fault, reply).unwrap()).unwrap();
        assert_eq!(text(Fault::EmptyId), "{\"id\":\"\",\"result\":{\"type\":\"ok\"}}\n");
        assert!(text(Fault::NullId).contains("\"id\":null"));
        assert!(!text(Fault::HalfLine).contains('\n'));
        assert_eq!(text(Fault::TwoLines).lines().count(), 2);
        assert!(text(Fault::Oversize).len() >= OVERSIZE);
        assert!(String::from_utf8(mangle(&Fault::InvalidUtf8, reply).unwrap()).is_err());
        let unknown = text(Fault::Unknown);
        assert!(unknown.contains("\"type\":\"ok\"") && unknown.contains("of_the_future"));
        assert_eq!(mangle(&Fault::NeverAnswers, reply), None);
        assert!(json_rpc(r#"{"id":"7"}"#).contains("\"jsonrpc\":\"2.0\""));
        assert!(refusal(r#"{"id":"7"}"#, "c").contains("\"id\":\"7\""));
    }
}
