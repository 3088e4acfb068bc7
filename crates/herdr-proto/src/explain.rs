use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::absent;
use crate::call::Call;
use crate::ids::PaneId;

/// `agent.explain`: what Herdr makes of the screen of a pane's agent. It
/// explains the agent that the row shows, if Herdr knows it, else the one that
/// it detects below. Takes only the pane's present id or an agent's name.
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

impl Call for AgentExplain {
    const METHOD: &'static str = "agent.explain";
    type Reply = AgentExplainReply;
}

/// What `agent.explain` answers. A pane without an agent that Herdr knows is
/// refused with `agent_explain_unavailable`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AgentExplainReply {
    /// The explanation.
    pub explain: Explanation,
}

/// What Herdr makes of a screen, as far as anything here depends on it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The agent that it is explained for.
    #[serde(default)]
    pub agent: Option<String>,
    /// The rule that fits the screen, if one does.
    #[serde(default)]
    pub matched_rule: Option<Value>,
    /// The screen looks like this agent's when it is idle.
    #[serde(default, deserialize_with = "absent::null")]
    pub visible_idle: bool,
    /// The screen shows a prompt of this agent.
    #[serde(default, deserialize_with = "absent::null")]
    pub visible_blocker: bool,
    /// The screen looks like this agent's when it works.
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
