use serde::{Deserialize, Serialize};

use crate::ids::PaneId;

/// `agent.prompt`: types a text into an agent that the server knows, and presses Enter about
/// 300 ms later. The answer comes before that Enter, so it does not tell whether the agent took
/// the text.
///
/// The server's own option to wait is left out: by default it has no deadline, and it ends when
/// the pane moves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentPrompt {
    /// The present id of a pane, or an agent's name.
    pub target: String,
    /// The text; the server refuses an empty one.
    pub text: String,
}

impl AgentPrompt {
    /// Prompts the agent of this pane.
    pub fn new(pane: &PaneId, text: impl Into<String>) -> Self {
        Self { target: pane.as_str().to_owned(), text: text.into() }
    }
}
