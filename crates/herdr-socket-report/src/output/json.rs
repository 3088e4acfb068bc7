//! JSON for a terminal as much as for a program.

use std::fmt::Write as _;

use serde::Serialize;

/// A value as one line of JSON. What is not printable is escaped, also where
/// JSON would allow it: the line may be looked at in a terminal.
pub(crate) fn json_line(value: &impl Serialize) -> String {
    // What is written here has texts for keys: this cannot fail.
    let json = serde_json::to_string(value).unwrap_or_default();
    let mut line = String::with_capacity(json.len());
    for c in json.chars() {
        // Outside of strings JSON is ASCII, and inside the rest is escaped.
        if matches!(c, ' '..='~') || c.escape_debug().count() == 1 {
            line.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(line, "\\u{unit:04x}");
            }
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_value_is_the_same_and_nothing_controls_a_terminal() {
        let wild = "a\u{1b}[2J\u{7f}\u{9b}\u{202e}\u{2028}\u{e0041}\n\"\\ b";
        let kept = "日本 é 👩\u{200d}👧 “quoted”";
        let value = json!({wild: [wild, kept, 5, null]});
        let line = json_line(&value);
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
        assert!(line.chars().all(|c| c == '"' || c == '\\' || c.escape_debug().count() == 1));
        assert!(line.contains("日本 é 👩") && line.contains("\\u009b\\u202e\\u2028\\udb40\\udc41"));
    }
}
