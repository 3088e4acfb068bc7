use serde::{Deserialize, Serialize};

use crate::ids::PaneId;

/// `pane.send_text`: writes a text to the pane's terminal without changing it. It is never sent
/// as a paste, and no Enter follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SendText {
    /// The pane. An id from before a move works, too.
    pub pane_id: PaneId,
    /// The text, which may contain control characters.
    pub text: String,
}

impl SendText {
    /// Writes this text to this pane.
    pub fn new(pane_id: PaneId, text: impl Into<String>) -> Self {
        Self { pane_id, text: text.into() }
    }
}

/// `pane.send_keys`: presses keys by their names. The server checks all names before it writes
/// anything. For some keys it answers `ok` and writes nothing (for example `f13` and above).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SendKeys {
    /// The pane. An id from before a move works, too.
    pub pane_id: PaneId,
    /// The names of the keys, for example `enter` or `ctrl+u`.
    pub keys: Vec<String>,
}

impl SendKeys {
    /// Presses these keys in this pane.
    pub fn new(pane_id: PaneId, keys: Vec<String>) -> Self {
        Self { pane_id, keys }
    }
}

/// `pane.send_input`: sends a text and then keys in one write. The text is bracketed as a paste
/// if the program has asked for that (mode 2004). An end-of-paste mark inside the text is not
/// removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SendInput {
    /// The pane. An id from before a move works, too.
    pub pane_id: PaneId,
    /// The text; empty sends none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The names of the keys that follow the text; empty sends none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
}

impl SendInput {
    /// Pastes this text into this pane, without an Enter.
    pub fn new(pane_id: PaneId, text: impl Into<String>) -> Self {
        Self { pane_id, text: text.into(), keys: Vec::new() }
    }
}
