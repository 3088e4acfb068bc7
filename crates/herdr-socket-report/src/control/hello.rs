//! The first line of a client, which says who it is and which pane it means, and the answer to
//! it.
//!
//! The line is optional. A host that writes event lines to an address that it was given needs
//! none, because the address stands for the pane.

use std::path::PathBuf;

use herdr_proto::PaneId;
use serde::{Deserialize, Serialize};

/// The longest first line that is checked for a hello.
pub(super) const HELLO_MAX: usize = 16 * 1024;

/// What a client tells about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// The server's socket and the pane, from the environment of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) socket: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pane: Option<PaneId>,
    /// The agent that the client's arguments name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    /// The source that the client's arguments name.
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
    /// The client does not belong to the watched process.
    Foreign,
    Late,
    /// The owner releases the pane, and the client may take the lease.
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
    /// How many lines were read; the last line to a client that sent a hello.
    Taken(u64),
}

#[derive(Deserialize)]
struct Line {
    hello: Hello,
}

impl Hello {
    /// Reads a first line; `None` if it is not a hello.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        // The check saves reading every event line twice.
        line.trim_ascii_start().starts_with(b"{\"hello\"").then_some(())?;
        serde_json::from_slice::<Line>(line).ok().map(|line| line.hello)
    }

    /// The hello as one line, with its newline.
    pub(super) fn line(&self) -> String {
        format!("{}\n", serde_json::json!({ "hello": self }))
    }
}

impl Answer {
    pub(super) fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
