//! The output lines of `--receipts`, of `flush` and of the control socket.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Record<'a> {
    Receipt {
        receipt: &'static str,
        of: &'static str,
        /// The sequence number of the report.
        #[serde(skip_serializing_if = "Option::is_none")]
        seq: Option<u64>,
        /// The reason, unless it was applied.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        remedy: Option<&'static str>,
    },
    Diagnostic {
        diagnostic: &'a str,
        detail: &'a str,
    },
    /// The answer to a `flush`.
    Flushed {
        flushed: &'a Value,
        ok: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'static str>,
    },
}

impl Record<'_> {
    pub(crate) fn of_receipt(receipt: &herdr_reporter::Receipt) -> Self {
        Self::Receipt {
            receipt: receipt.outcome.as_str(),
            of: receipt.of.as_str(),
            seq: receipt.seq.map(herdr_proto::Seq::get),
            reason: receipt.reason.as_ref().map(herdr_reporter::Reason::as_str),
            remedy: receipt.reason.as_ref().map(herdr_reporter::Reason::remedy),
        }
    }

    /// The line, without its newline.
    pub(crate) fn line(&self) -> String {
        json_line(self)
    }
}

/// A value as one line of JSON. Characters that are not printable are escaped even where JSON
/// allows them, because the line may be printed on a terminal.
pub(crate) fn json_line(value: &impl Serialize) -> String {
    // This cannot fail, because all keys are texts.
    let json = serde_json::to_string(value).unwrap_or_default();
    let mut line = String::with_capacity(json.len());
    for c in json.chars() {
        // Outside strings JSON is ASCII, so these characters stand in a string, where they may
        // be escaped.
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
    use serde_json::json;

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
