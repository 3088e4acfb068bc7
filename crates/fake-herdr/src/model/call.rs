//! Requests as the server reads them: every method that is played, with its
//! parameters.
//!
//! Not with the types of `herdr-proto`: those hold only what a good client
//! sends, and a server has to take the rest as well. The strictness is that of
//! the real one (protocol 2.1): `id` a string, `params` an object and never
//! null, no key of ours twice, unknown keys ignored, `null` for absent. What the
//! server refuses at decoding is refused here, everything else is the handler's
//! affair.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::layout::{Direction, Side};
use super::state::State;
use super::subscription::Subscription;

macro_rules! methods {
    ($($method:literal => $name:ident($params:ident),)*) => {
        /// A method with its parameters.
        #[derive(Debug, Deserialize)]
        #[serde(tag = "method", content = "params")]
        pub(crate) enum Call {
            $(#[serde(rename = $method)] $name($params),)*
        }
    };
}

methods! {
    "ping" => Ping(Empty),
    "server.stop" => ServerStop(Empty),
    "server.live_handoff" => LiveHandoff(Empty),
    "session.snapshot" => Snapshot(Empty),
    "notification.show" => Notify(Notify),
    "events.subscribe" => Subscribe(Subscribe),
    "pane.report_agent" => ReportAgent(ReportAgent),
    "pane.report_agent_session" => ReportSession(ReportSession),
    "pane.report_metadata" => ReportMetadata(ReportMetadata),
    "pane.release_agent" => Release(Release),
    "pane.clear_agent_authority" => Clear(Clear),
    "pane.get" => PaneGet(PaneTarget),
    "pane.current" => PaneCurrent(PaneCurrent),
    "pane.list" => PaneList(InWorkspace),
    "pane.focus" => PaneFocus(PaneTarget),
    "pane.rename" => PaneRename(PaneRename),
    "pane.close" => PaneClose(PaneTarget),
    "pane.split" => PaneSplit(PaneSplit),
    "pane.move" => PaneMove(PaneMove),
    "pane.swap" => PaneSwap(PaneSwap),
    "pane.zoom" => PaneZoom(PaneZoom),
    "pane.resize" => PaneResize(PaneResize),
    "pane.layout" => PaneLayout(PaneOrFocused),
    "pane.process_info" => ProcessInfo(PaneOrFocused),
    "pane.read" => PaneRead(PaneRead),
    "pane.send_text" => SendText(SendText),
    "pane.send_keys" => SendKeys(SendKeys),
    "pane.send_input" => SendInput(SendInput),
    "agent.get" => AgentGet(AgentTarget),
    "agent.list" => AgentList(Empty),
    "agent.focus" => AgentFocus(AgentTarget),
    "agent.rename" => AgentRename(AgentRename),
    "agent.read" => AgentRead(AgentRead),
    "agent.explain" => AgentExplain(AgentTarget),
    "agent.prompt" => AgentPrompt(AgentPrompt),
    "agent.send_keys" => AgentSendKeys(AgentSendKeys),
    "workspace.create" => WorkspaceCreate(Create),
    "workspace.list" => WorkspaceList(Empty),
    "workspace.get" => WorkspaceGet(WorkspaceTarget),
    "workspace.focus" => WorkspaceFocus(WorkspaceTarget),
    "workspace.rename" => WorkspaceRename(WorkspaceRename),
    "workspace.close" => WorkspaceClose(WorkspaceTarget),
    "workspace.report_metadata" => WorkspaceMetadata(WorkspaceMetadata),
    "tab.create" => TabCreate(TabCreate),
    "tab.list" => TabList(InWorkspace),
    "tab.get" => TabGet(TabTarget),
    "tab.focus" => TabFocus(TabTarget),
    "tab.rename" => TabRename(TabRename),
    "tab.close" => TabClose(TabTarget),
}

/// Methods of 0.8.2 that answer `not_implemented` here.
const UNPLAYED: &str = "\
    agent.start agent.view.clear agent.view.set agent.wait client.window_title.clear \
    client.window_title.set events.wait layout.apply layout.export layout.set_split_ratio \
    pane.edges pane.focus_direction pane.input.set pane.neighbor pane.wait_for_output \
    popup.close server.agent_manifests server.reload_agent_manifests server.reload_config \
    tab.move workspace.move workspace.move_block worktree.create worktree.list worktree.open \
    worktree.remove";

/// Why a line is no request that is played, and the id if one could be made out
/// all the same (only servers from 0.9.2 on say it).
#[derive(Debug)]
pub(crate) struct Undecodable {
    pub(crate) message: String,
    pub(crate) id: Option<String>,
    pub(crate) method: Method,
}

/// What is known of the method of a line that could not be decoded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// One that is played, or nobody can tell.
    Fine,
    /// One that the server has and this model does not play.
    Unplayed,
    /// One that no server has.
    Unknown,
}

/// Reads one line: the id and what is asked for.
pub(crate) fn decode(line: &str) -> Result<(String, Call), Undecodable> {
    let failed = |message: String, id, method| Undecodable { message, id, method };
    if !line.trim_start().starts_with('{') {
        return Err(failed("a request is an object".to_owned(), None, Method::Fine));
    }
    let head = whole::<Value>(line).and_then(|_| whole::<Head>(line));
    let Head { id, method, .. } = head.map_err(|message| {
        let id = whole::<OnlyId>(line).ok().map(|only| only.id);
        failed(message, id, Method::Fine)
    })?;
    if UNPLAYED.split_whitespace().any(|known| known == method) {
        let message = format!("{method} is not played by this server");
        return Err(failed(message, Some(id), Method::Unplayed));
    }
    match whole(line) {
        Ok(call) => Ok((id, call)),
        Err(message) if message.starts_with("unknown variant `") && message.contains("`ping`") => {
            let also: Vec<_> =
                UNPLAYED.split_whitespace().map(|known| format!("`{known}`")).collect();
            Err(failed(format!("{message}, {}", also.join(", ")), Some(id), Method::Unknown))
        }
        Err(message) => Err(failed(message, Some(id), Method::Fine)),
    }
}

fn whole<'a, T: Deserialize<'a>>(line: &'a str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|error| error.to_string())
}

/// The envelope. `params` is looked at again with the method.
#[derive(Deserialize)]
struct Head {
    id: String,
    method: String,
    #[serde(rename = "params")]
    _params: Map<String, Value>,
}

#[derive(Deserialize)]
struct OnlyId {
    id: String,
}

/// Any object.
#[derive(Debug, Deserialize)]
pub(crate) struct Empty {}

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
pub(crate) struct PaneOrFocused {
    pub(crate) pane_id: Option<String>,
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
    pub(crate) workspace_id: Option<String>,
    pub(crate) target_pane_id: Option<String>,
    pub(crate) direction: Direction,
    pub(crate) ratio: Option<f32>,
    pub(crate) cwd: Option<String>,
    #[serde(default)]
    pub(crate) focus: bool,
    /// Nobody clicks here, so only its type matters.
    #[serde(default, rename = "right_click")]
    _right_click: RightClick,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RightClick {
    #[default]
    Herdr,
    Pane,
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
    Tab { tab_id: String, target_pane_id: Option<String>, split: Direction, ratio: Option<f32> },
    NewTab { workspace_id: Option<String>, label: Option<String> },
    NewWorkspace { label: Option<String>, tab_label: Option<String> },
}

#[derive(Debug, Deserialize)]
pub(crate) struct PaneSwap {
    pub(crate) pane_id: Option<String>,
    pub(crate) direction: Option<Side>,
    pub(crate) source_pane_id: Option<String>,
    pub(crate) target_pane_id: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PaneZoom {
    pub(crate) pane_id: Option<String>,
    #[serde(default)]
    pub(crate) mode: ZoomMode,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ZoomMode {
    #[default]
    Toggle,
    On,
    Off,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PaneResize {
    pub(crate) pane_id: Option<String>,
    pub(crate) direction: Side,
    pub(crate) amount: Option<f32>,
}

/// What part of a screen is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReadSource {
    Visible,
    Recent,
    RecentUnwrapped,
    Detection,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReadFormat {
    #[default]
    Text,
    Ansi,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PaneRead {
    pub(crate) pane_id: String,
    #[serde(flatten)]
    pub(crate) how: ReadHow,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AgentRead {
    pub(crate) target: String,
    #[serde(flatten)]
    pub(crate) how: ReadHow,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ReadHow {
    pub(crate) source: ReadSource,
    pub(crate) lines: Option<u32>,
    #[serde(default)]
    pub(crate) format: ReadFormat,
    /// A screen here has no colours to strip, so only its type matters.
    #[serde(default, rename = "strip_ansi")]
    _strip_ansi: bool,
}

impl ReadHow {
    pub(crate) fn of(source: ReadSource) -> Self {
        Self { source, lines: None, format: ReadFormat::Text, _strip_ansi: true }
    }
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

/// What a new workspace or tab is like.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Create {
    pub(crate) cwd: Option<String>,
    pub(crate) label: Option<String>,
    #[serde(default)]
    pub(crate) focus: bool,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct TabCreate {
    pub(crate) workspace_id: Option<String>,
    #[serde(flatten)]
    pub(crate) create: Create,
}

#[derive(Debug, Deserialize)]
pub(crate) struct WorkspaceTarget {
    pub(crate) workspace_id: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct WorkspaceRename {
    pub(crate) workspace_id: String,
    pub(crate) label: String,
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
pub(crate) struct TabTarget {
    pub(crate) tab_id: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct TabRename {
    pub(crate) tab_id: String,
    pub(crate) label: String,
}
