//! Output lines: what `--receipts` and `flush` write to stdout, and what a
//! control client gets.

use serde::Serialize;
use serde_json::Value;

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Record<'a> {
    Receipt {
        receipt: &'static str,
        of: &'static str,
        /// The number it went out with.
        #[serde(skip_serializing_if = "Option::is_none")]
        seq: Option<u64>,
        /// Why, unless it was applied.
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
        super::json_line(self)
    }
}
