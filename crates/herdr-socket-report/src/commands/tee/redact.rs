//! Redacts lines: removes what they tell about a person's work.

use serde_json::{Map, Value};

/// The fields whose texts are words of the protocol, its ids, or names of programs. Texts of
/// other fields are hidden. In methods that are not known here these fields may contain
/// anything too, so their texts stay only if they look like words.
const KEPT: &str = "agent agent_status applies_to_source caller_pane_id code direction event \
    focused_pane_id focused_tab_id focused_workspace_id format id kind method \
    pane_id previous_pane_id reason session_start_source source state status tab_id \
    terminal_id type until version workspace_id";

/// The longest text that can be a word, in bytes. A source has at most 80.
const WORD_MAX: usize = 80;

/// Fields with keys that a reporter chooses.
const FREE: [&str; 2] = ["tokens", "state_labels"];

/// The line with the lengths of texts in place of the texts. A line that is not JSON is
/// replaced as a whole.
pub(super) fn redact(line: &[u8]) -> String {
    match serde_json::from_slice::<Value>(line) {
        Ok(mut value) => {
            hide(&mut value, false);
            value.to_string()
        }
        Err(_) => format!("<{} bytes that are not JSON>", line.len()),
    }
}

fn hide(value: &mut Value, kept: bool) {
    match value {
        Value::String(text) if !(kept && is_word(text)) => *text = length(text),
        Value::Array(items) => items.iter_mut().for_each(|item| hide(item, false)),
        Value::Object(fields) => {
            hide_keys(fields);
            for (key, value) in fields {
                if FREE.contains(&key.as_str()) {
                    hide_all(value);
                } else {
                    hide(value, KEPT.split(' ').any(|kept| kept == key));
                }
            }
        }
        _ => {}
    }
}

fn hide_all(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(hide_all),
        Value::Object(fields) => {
            hide_keys(fields);
            fields.values_mut().for_each(hide_all);
        }
        other => hide(other, false),
    }
}

/// Hides a map's keys, which may be names of files, or sentences.
fn hide_keys(fields: &mut Map<String, Value>) {
    if fields.keys().all(|key| is_word(key)) {
        return;
    }
    for (number, (key, value)) in (1..).zip(std::mem::take(fields)) {
        // Two keys of the same length stay different.
        let key = if is_word(&key) { key } else { format!("{} {number}", length(&key)) };
        fields.insert(key, value);
    }
}

/// Whether a text looks like a word, an id or a name of the protocol.
fn is_word(text: &str) -> bool {
    text.len() <= WORD_MAX
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte))
}

fn length(text: &str) -> String {
    format!("<{} characters>", text.chars().count())
}
