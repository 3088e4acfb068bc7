//! The parameters of the report methods.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::model::state::State;

/// The parameters that state and session reports share.
#[derive(Debug, Deserialize)]
pub(crate) struct AgentReport {
    pub(crate) pane_id: String,
    pub(crate) source: String,
    pub(crate) agent: String,
    pub(crate) seq: Option<u64>,
    pub(crate) agent_session_id: Option<String>,
    pub(crate) agent_session_path: Option<String>,
    /// 0.8.2 does not know it, so it may be of any type.
    pub(crate) resume_argv: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ReportAgent {
    #[serde(flatten)]
    pub(crate) report: AgentReport,
    pub(crate) state: State,
    /// The real server keeps it and shows it nowhere, so only its type matters.
    #[serde(rename = "message")]
    _message: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ReportSession {
    #[serde(flatten)]
    pub(crate) report: AgentReport,
    pub(crate) session_start_source: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ReportMetadata {
    pub(crate) pane_id: String,
    pub(crate) source: String,
    pub(crate) agent: Option<String>,
    pub(crate) applies_to_source: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) display_agent: Option<String>,
    #[serde(default)]
    pub(crate) state_labels: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) tokens: BTreeMap<String, Option<String>>,
    #[serde(default)]
    pub(crate) clear_title: bool,
    #[serde(default)]
    pub(crate) clear_display_agent: bool,
    #[serde(default)]
    pub(crate) clear_state_labels: bool,
    pub(crate) seq: Option<u64>,
    pub(crate) ttl_ms: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Release {
    pub(crate) pane_id: String,
    pub(crate) source: String,
    pub(crate) agent: String,
    pub(crate) seq: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Clear {
    pub(crate) pane_id: String,
    pub(crate) source: Option<String>,
    pub(crate) seq: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct WorkspaceMetadata {
    pub(crate) workspace_id: String,
    pub(crate) source: String,
    pub(crate) tokens: BTreeMap<String, Option<String>>,
    pub(crate) seq: Option<u64>,
    pub(crate) ttl_ms: Option<u64>,
}
