//! The first line of a client, and the answer: who speaks for which pane.
//!
//! A client need not say hello; a host that writes event lines to an address
//! that it was given has named its pane by that.

use std::path::PathBuf;

use herdr_proto::PaneId;
use serde::{Deserialize, Serialize};

/// Longest first line that is looked at as a greeting.
pub(super) const HELLO_MAX: usize = 16 * 1024;

/// What a client says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// The server's socket and the pane, by the client's own variables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) socket: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pane: Option<PaneId>,
    /// The agent that the client was told to speak for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    /// The source that it was told to report as.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seeks: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Refusal {
    OtherPane,
    OtherAgent,
    /// It does not belong to the supervised process.
    Foreign,
    Late,
    /// It may have the pane: the owner lets it go.
    LetGo,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    Welcome {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<u32>,
    },
    Refused {
        because: Refusal,
        detail: String,
    },
    /// So many lines were taken; the last word to a client that said hello.
    Taken(u64),
}

#[derive(Deserialize)]
struct Line {
    hello: Hello,
}

impl Hello {
    /// Reads a first line; `None` if it is not a greeting.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        // An event has no such field at its beginning, and need not be read
        // twice.
        line.trim_ascii_start().starts_with(b"{\"hello\"").then_some(())?;
        serde_json::from_slice::<Line>(line).ok().map(|line| line.hello)
    }

    /// As one line, with its newline.
    pub(super) fn line(&self) -> String {
        format!("{}\n", serde_json::json!({ "hello": self }))
    }
}

impl Answer {
    pub(super) fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
