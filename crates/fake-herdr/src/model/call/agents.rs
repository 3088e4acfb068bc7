//! The parameters of the `agent.*` methods.

use serde::Deserialize;

use super::{Empty, ReadOptions};

#[derive(Debug, Deserialize)]
pub(crate) struct AgentRead {
    pub(crate) target: String,
    #[serde(flatten)]
    pub(crate) options: ReadOptions,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AgentTarget {
    pub(crate) target: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AgentRename {
    pub(crate) target: String,
    pub(crate) name: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AgentPrompt {
    pub(crate) target: String,
    pub(crate) text: String,
    pub(crate) wait: Option<Empty>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AgentSendKeys {
    pub(crate) target: String,
    pub(crate) keys: Vec<String>,
}
