//! Reduces output to what the recordings contain.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// The id and code of an error, the id and type of a result.
pub(super) fn reply(line: Option<&str>) -> Value {
    let Some(line) = line else {
        return Value::Null;
    };
    let Ok(whole) = serde_json::from_str::<Value>(line) else {
        return json!({ "unreadable": line });
    };
    let id = &whole["id"];
    match whole.get("error") {
        Some(error) => json!({ "id": id, "error": { "code": error["code"] } }),
        None => json!({ "id": id, "result": { "type": whole["result"]["type"] } }),
    }
}

/// The fields of `pane.get` that reports can change.
pub(super) fn observation(line: Option<&str>) -> Value {
    const FIELDS: [&str; 7] = [
        "agent",
        "agent_session",
        "agent_status",
        "display_agent",
        "state_labels",
        "title",
        "tokens",
    ];
    let whole: Value = line.and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    match whole.get("error") {
        Some(error) => json!({ "error": error["code"] }),
        None => Value::Object(only(&whole["result"]["pane"], |name| FIELDS.contains(&name))),
    }
}

/// The events about the script's panes, with the relevant fields and the script's names for its
/// panes.
pub(super) fn events(
    lines: &[String],
    expected: &[Value],
    names: &BTreeMap<String, String>,
) -> Vec<Value> {
    const FIELDS: [&str; 10] = [
        "agent",
        "agent_status",
        "display_agent",
        "final_status",
        "pane_id",
        "previous_pane_id",
        "released",
        "state_labels",
        "title",
        "type",
    ];
    // A recording has these fields of a whole pane. It has others only if they are its subject.
    let mut of_pane = BTreeSet::from(["agent", "agent_status", "pane_id"]);
    for event in expected {
        of_pane.extend(
            event["data"]["pane"].as_object().into_iter().flat_map(Map::keys).map(String::as_str),
        );
    }
    let of_pane: BTreeSet<String> = of_pane.into_iter().map(str::to_owned).collect();
    lines
        .iter()
        .filter_map(|line| {
            let Ok(event) = serde_json::from_str::<Value>(line) else {
                return Some(json!({ "unreadable": line }));
            };
            if event.get("error").is_some() {
                return Some(reply(Some(line)));
            }
            let data = &event["data"];
            let mut kept = only(data, |name| FIELDS.contains(&name));
            if data.get("pane").is_some() {
                let pane = only(&data["pane"], |name| of_pane.contains(name));
                kept.insert("pane".to_owned(), Value::Object(pane));
            }
            let mut known = false;
            rename(&mut kept, names, &mut known);
            known.then(|| json!({ "data": kept, "event": event["event"] }))
        })
        .collect()
}

fn only(object: &Value, keep: impl Fn(&str) -> bool) -> Map<String, Value> {
    let fields = object.as_object().into_iter().flatten();
    fields
        .filter(|(name, _)| keep(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Replaces pane ids by the script's names.
fn rename(fields: &mut Map<String, Value>, names: &BTreeMap<String, String>, known: &mut bool) {
    for (field, value) in fields {
        match value {
            Value::Object(inner) => rename(inner, names, known),
            Value::String(id) if field.ends_with("pane_id") => {
                if let Some(name) = names.get(id) {
                    name.clone_into(id);
                    *known = true;
                }
            }
            _ => {}
        }
    }
}
