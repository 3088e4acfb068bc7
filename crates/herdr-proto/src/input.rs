use serde::{Deserialize, Serialize};

use crate::call::{Ack, Call};
use crate::ids::PaneId;

/// `pane.send_text`: writes a text to the pane's terminal as it is, never as a
/// paste and without an Enter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SendText {
    /// The pane, also by an id that it had before a move.
    pub pane_id: PaneId,
    /// What is written, control characters included.
    pub text: String,
}

impl SendText {
    /// Writes this text to this pane.
    pub fn new(pane_id: PaneId, text: impl Into<String>) -> Self {
        Self { pane_id, text: text.into() }
    }
}

impl Call for SendText {
    const METHOD: &'static str = "pane.send_text";
    type Reply = Ack;
}

/// `pane.send_keys`: presses keys, by name. The server checks every name before
/// it writes a byte, and it answers `ok` to some keys that it then does not
/// write (`f13` and above, for example).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SendKeys {
    /// The pane, also by an id that it had before a move.
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

impl Call for SendKeys {
    const METHOD: &'static str = "pane.send_keys";
    type Reply = Ack;
}

/// `pane.send_input`: a text, then keys, in one write. The text is bracketed as
/// a paste if the program has asked for that (mode 2004); an end mark of a
/// paste inside the text passes through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SendInput {
    /// The pane, also by an id that it had before a move.
    pub pane_id: PaneId,
    /// The text; empty means none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The names of the keys that follow; empty means none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
}

impl SendInput {
    /// Pastes this text into this pane, without an Enter.
    pub fn new(pane_id: PaneId, text: impl Into<String>) -> Self {
        Self { pane_id, text: text.into(), keys: Vec::new() }
    }
}

impl Call for SendInput {
    const METHOD: &'static str = "pane.send_input";
    type Reply = Ack;
}
