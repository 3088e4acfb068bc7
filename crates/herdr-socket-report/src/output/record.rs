//! Output lines: what `--receipts` and `flush` write to stdout, and what a
//! control client gets.

use serde::Serialize;
use serde_json::Value;

/// One output line.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Record<'a> {
    /// What became of a report.
    Receipt {
        /// The outcome.
        receipt: &'static str,
        /// What it was about.
        of: &'static str,
        /// The number it went out with.
        #[serde(skip_serializing_if = "Option::is_none")]
        seq: Option<u64>,
        /// Why, unless it was applied.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'static str>,
        /// What a person can do about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        remedy: Option<&'static str>,
    },
    /// What keeps reports from showing.
    Diagnostic {
        /// The kind.
        diagnostic: &'a str,
        /// In words.
        detail: &'a str,
    },
    /// The answer to a `flush`.
    Flushed {
        /// The id of the `flush`.
        flushed: &'a Value,
        /// Whether everything before it was delivered.
        ok: bool,
        /// Why not.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'static str>,
    },
}

impl Record<'_> {
    /// What became of a report.
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
        super::json_line(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_published_shape() {
        let receipt = Record::Receipt {
            receipt: "ignored",
            of: "state",
            seq: Some(5),
            reason: Some("label_conflict"),
            remedy: Some("x"),
        };
        for (record, line) in [
            (
                receipt,
                r#"{"receipt":"ignored","of":"state","seq":5,"reason":"label_conflict","remedy":"x"}"#,
            ),
            (
                Record::Diagnostic { diagnostic: "timeout", detail: "a \"b\"" },
                r#"{"diagnostic":"timeout","detail":"a \"b\""}"#,
            ),
            (
                Record::Flushed { flushed: &Value::Null, ok: true, reason: None },
                r#"{"flushed":null,"ok":true}"#,
            ),
            (
                Record::Flushed { flushed: &"f".into(), ok: false, reason: Some("timeout") },
                r#"{"flushed":"f","ok":false,"reason":"timeout"}"#,
            ),
        ] {
            assert_eq!(record.line(), line);
        }
    }
}
