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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_protocols_own_words_stay() {
        let line = br#"{"id":"t1","method":"pane.report_metadata","params":{"pane_id":"w1:p1",
            "source":"custom:bot","agent":"bot","title":"secret","display_agent":"secret",
            "state_labels":{"state":"secret"},"tokens":{"id":"secret","gone":null},"seq":4,
            "agent_session_id":"secret","agent_session_path":"/secret","message":"secret",
            "text":"s\u00e9cr\u00e9t","argv":["secret","secret"],
            "agent_session":{"kind":"id","value":"secret"},"cwd":"/secret","new":{"x":"secret"}}}"#;
        let shown = redact(line);
        assert!(!shown.contains("secret"), "{shown}");
        for part in [
            r#""id":"t1""#,
            r#""method":"pane.report_metadata""#,
            r#""source":"custom:bot""#,
            r#""seq":4"#,
            r#""title":"<6 characters>""#,
            r#""text":"<6 characters>""#,
            r#""tokens":{"gone":null,"id":"<6 characters>"}"#,
            r#""agent_session_path":"<7 characters>""#,
            r#""kind":"id""#,
        ] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
        assert_eq!(redact(b"no \xff"), "<4 bytes that are not JSON>");
        assert_eq!(redact(br#""secret""#), r#""<6 characters>""#);
    }

    #[test]
    fn what_an_unknown_method_says_is_no_word_of_the_protocol() {
        let line = br#"{"id":"a secret","method":"secret/notes","params":{"source":"my secret",
            "reason":"a secret, told","state":"secr\u00e9t secret","event":{"x":"secret"},
            "files":{"/home/secret":1,"/srv/secret.":2,"/srv/secrets":3},
            "tokens":{"a secret":{"the secret":"secret"}},"kind":["secret"]}}"#;
        let shown = redact(line);
        assert!(!shown.contains("secr"), "{shown}");
        let files: Value = serde_json::from_str(&shown).unwrap();
        let files = files["params"]["files"].as_object().unwrap();
        assert_eq!(files.len(), 3, "{shown}");
        let long = format!(r#"{{"method":"{}"}}"#, "x".repeat(81));
        assert_eq!(redact(long.as_bytes()), r#"{"method":"<81 characters>"}"#);
    }
}
