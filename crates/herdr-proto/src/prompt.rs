use serde::{Deserialize, Serialize};

use crate::agent::AgentInfoReply;
use crate::call::Call;
use crate::ids::PaneId;

/// `agent.prompt`: types a text into an agent that the server knows, then
/// presses Enter about 300 ms later. The answer comes before that Enter, so it
/// says nothing about whether the agent took the text.
///
/// The server's own wait is left out: it has no deadline unless it is given
/// one, and it ends when the pane moves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentPrompt {
    /// The present id of a pane, or an agent's name.
    pub target: String,
    /// The text; an empty one is refused.
    pub text: String,
}

impl AgentPrompt {
    /// Prompts the agent of this pane.
    pub fn new(pane: &PaneId, text: impl Into<String>) -> Self {
        Self { target: pane.as_str().to_owned(), text: text.into() }
    }
}

impl Call for AgentPrompt {
    const METHOD: &'static str = "agent.prompt";
    type Reply = AgentInfoReply;
}
