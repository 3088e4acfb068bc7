//! The parameters of the methods, in plain types: what the server refuses at
//! decoding is refused here, everything else is the handler's affair.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::layout::Direction;
use super::state::State;
use super::subscription::Subscription;

#[derive(Debug, Deserialize)]
pub(crate) struct ReportAgent {
    pub(crate) pane_id: String,
    pub(crate) source: String,
    pub(crate) agent: String,
    pub(crate) state: State,
    /// Kept by the real server and shown nowhere, so only its type matters.
    #[serde(rename = "message")]
    _message: Option<String>,
    pub(crate) seq: Option<u64>,
    pub(crate) agent_session_id: Option<String>,
    pub(crate) agent_session_path: Option<String>,
    /// Unknown to 0.8.2, so of any type.
    pub(crate) resume_argv: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ReportSession {
    pub(crate) pane_id: String,
    pub(crate) source: String,
    pub(crate) agent: String,
    pub(crate) seq: Option<u64>,
    pub(crate) agent_session_id: Option<String>,
    pub(crate) agent_session_path: Option<String>,
    pub(crate) session_start_source: Option<String>,
    pub(crate) resume_argv: Option<Value>,
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
pub(crate) struct PaneTarget {
    pub(crate) pane_id: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PaneCurrent {
    pub(crate) caller_pane_id: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct InWorkspace {
    pub(crate) workspace_id: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PaneRename {
    pub(crate) pane_id: String,
    pub(crate) label: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PaneSplit {
    pub(crate) target_pane_id: Option<String>,
    pub(crate) direction: Direction,
    pub(crate) ratio: Option<f64>,
    pub(crate) cwd: Option<String>,
    #[serde(default)]
    pub(crate) focus: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PaneMove {
    pub(crate) pane_id: String,
    pub(crate) destination: Destination,
    #[serde(default)]
    pub(crate) focus: bool,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Destination {
    Tab { tab_id: String, target_pane_id: Option<String>, split: Direction, ratio: Option<f64> },
    NewTab { workspace_id: Option<String>, label: Option<String> },
    NewWorkspace { label: Option<String>, tab_label: Option<String> },
}

/// What part of a screen is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReadSource {
    Visible,
    Recent,
    RecentUnwrapped,
    Detection,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReadFormat {
    #[default]
    Text,
    Ansi,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct PaneRead {
    pub(crate) pane_id: String,
    #[serde(flatten)]
    pub(crate) how: ReadHow,
    /// A screen here has no colours to strip, so only its type matters.
    #[serde(rename = "strip_ansi")]
    _strip_ansi: Option<bool>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct AgentRead {
    pub(crate) target: String,
    #[serde(flatten)]
    pub(crate) how: ReadHow,
    /// As with a pane.
    #[serde(rename = "strip_ansi")]
    _strip_ansi: Option<bool>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ReadHow {
    pub(crate) source: ReadSource,
    pub(crate) lines: Option<u32>,
    #[serde(default)]
    pub(crate) format: ReadFormat,
}

#[derive(Debug, Deserialize)]
pub(crate) struct SendText {
    pub(crate) pane_id: String,
    pub(crate) text: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct SendKeys {
    pub(crate) pane_id: String,
    pub(crate) keys: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct SendInput {
    pub(crate) pane_id: String,
    #[serde(default)]
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) keys: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ProcessInfo {
    pub(crate) pane_id: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AgentTarget {
    pub(crate) target: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AgentPrompt {
    pub(crate) target: String,
    pub(crate) text: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Subscribe {
    pub(crate) subscriptions: Vec<Subscription>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Notify {
    pub(crate) title: String,
    /// Nothing is ever shown here, so of the rest only the types matter.
    #[serde(rename = "body")]
    _body: Option<String>,
    #[serde(rename = "sound")]
    _sound: Option<Sound>,
}

/// What a notification sounds like.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Sound {
    None,
    Done,
    Request,
}

#[derive(Debug, Deserialize)]
pub(crate) struct WorkspaceCreate {
    pub(crate) cwd: Option<String>,
    pub(crate) label: Option<String>,
    #[serde(default)]
    pub(crate) focus: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct WorkspaceTarget {
    pub(crate) workspace_id: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct WorkspaceMetadata {
    pub(crate) workspace_id: String,
    pub(crate) source: String,
    pub(crate) tokens: BTreeMap<String, Option<String>>,
    pub(crate) seq: Option<u64>,
    pub(crate) ttl_ms: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct TabCreate {
    pub(crate) workspace_id: Option<String>,
    pub(crate) cwd: Option<String>,
    pub(crate) label: Option<String>,
    #[serde(default)]
    pub(crate) focus: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct TabTarget {
    pub(crate) tab_id: String,
}
