use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::absent;
use crate::ids::PaneId;

/// `agent.explain`: how Herdr understands the screen of a pane's agent. It explains the agent
/// of the row if Herdr knows it, otherwise the detected agent below. It takes only the pane's
/// present id or the agent's name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentExplain {
    /// A pane id or an agent's name.
    pub target: String,
}

impl AgentExplain {
    /// Asks about the agent of this pane.
    pub fn of(pane: &PaneId) -> Self {
        Self { target: pane.as_str().to_owned() }
    }
}

/// What `agent.explain` answers. For a pane without an agent that Herdr knows, the server
/// refuses with `agent_explain_unavailable`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AgentExplainReply {
    /// The explanation.
    pub explain: Explanation,
}

/// How Herdr understands a screen. Fields that nothing here needs are left out.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The agent that the explanation is for.
    #[serde(default)]
    pub agent: Option<String>,
    /// The rule that matches the screen, if there is one.
    #[serde(default)]
    pub matched_rule: Option<Value>,
    /// Whether the screen looks like this agent's when it is idle.
    #[serde(default, deserialize_with = "absent::null")]
    pub visible_idle: bool,
    /// Whether the screen shows a prompt of this agent.
    #[serde(default, deserialize_with = "absent::null")]
    pub visible_blocker: bool,
    /// Whether the screen looks like this agent's when it works.
    #[serde(default, deserialize_with = "absent::null")]
    pub visible_working: bool,
}

impl Explanation {
    /// Whether the screen looks like the agent's.
    pub fn fits_the_screen(&self) -> bool {
        let rule = self.matched_rule.as_ref().is_some_and(|rule| !rule.is_null());
        rule || self.visible_idle || self.visible_blocker || self.visible_working
    }
}
