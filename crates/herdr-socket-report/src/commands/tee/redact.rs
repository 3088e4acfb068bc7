//! Lines without what they say of a person's work.

use serde_json::{Map, Value};

/// The fields whose texts are the protocol's own words, ids of its things, or
/// names of programs. Every other text may be anything; and in a method that
/// nobody here knows these may be, too, so they stay only if they look it.
const KEPT: &str = "agent agent_status applies_to_source caller_pane_id code direction event \
    focused_pane_id focused_tab_id focused_workspace_id format id kind method \
    pane_id previous_pane_id reason session_start_source source state status tab_id \
    terminal_id type until version workspace_id";

/// Longest text that is taken for a word, in bytes. A source has at most 80.
const WORD_MAX: usize = 80;

/// Fields that hold texts under keys of a reporter's own choice.
const FREE: [&str; 2] = ["tokens", "state_labels"];

/// The line with texts in place of which their lengths stand. A line that is no
/// JSON is nothing but a text.
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

/// A map's keys may be names of files, or sentences.
fn hide_keys(fields: &mut Map<String, Value>) {
    if fields.keys().all(|key| is_word(key)) {
        return;
    }
    for (number, (key, value)) in (1..).zip(std::mem::take(fields)) {
        // Two of one length are two fields all the same.
        let key = if is_word(&key) { key } else { format!("{} {number}", length(&key)) };
        fields.insert(key, value);
    }
}

/// Whether it has the shape of the protocol's words, ids and names.
fn is_word(text: &str) -> bool {
    text.len() <= WORD_MAX
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte))
}

fn length(text: &str) -> String {
    format!("<{} characters>", text.chars().count())
}
