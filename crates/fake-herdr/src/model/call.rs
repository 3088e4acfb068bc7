//! Requests as the server reads them: all supported methods with their parameters.
//!
//! The types of `herdr-proto` are not used, because they can only express what a good client
//! sends. This module is as strict as the real server (protocol 2.1): `id` is a string,
//! `params` is an object and never null, a known field must not occur twice, unknown fields are
//! ignored, and `null` counts as absent. A request that the real server refuses while decoding
//! is refused here. All other checks are made by the handlers.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::layout::{Direction, Side};
use super::state::State;
use super::subscription::Subscription;

macro_rules! methods {
    ($($method:literal => $name:ident($params:ident),)*) => {
        /// A method with its parameters.
        #[derive(Debug)]
        pub(crate) enum Call {
            $($name($params),)*
        }

        /// The names of the supported methods.
        const PLAYED: &[&str] = &[$($method),*];

        impl Call {
            /// Reads the parameters of a method; `None` if it is not supported.
            fn read(method: &str, params: &str) -> Option<Result<Self, String>> {
                match method {
                    $($method => Some(whole(params).map(Self::$name)),)*
                    _ => None,
                }
            }
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

/// The methods of 0.8.2 that are answered with `not_implemented` here.
const UNPLAYED: &str = "\
    agent.start agent.view.clear agent.view.set agent.wait client.window_title.clear \
    client.window_title.set events.wait layout.apply layout.export layout.set_split_ratio \
    pane.edges pane.focus_direction pane.input.set pane.neighbor pane.wait_for_output \
    popup.close server.agent_manifests server.reload_agent_manifests server.reload_config \
    tab.move workspace.move workspace.move_block worktree.create worktree.list worktree.open \
    worktree.remove";

/// Why a line is not a supported request. It has the id if that could be read, which only
/// servers from 0.9.2 on return.
#[derive(Debug)]
pub(crate) struct Undecodable {
    pub(crate) message: String,
    pub(crate) id: Option<String>,
    pub(crate) method: Method,
}

/// What is known about the method of a line that could not be decoded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// The method is supported or could not be read.
    Fine,
    /// The server has the method, and this model does not support it.
    Unplayed,
    /// The server does not have the method.
    Unknown,
}

/// Reads one line: the id and the method with its parameters.
pub(crate) fn decode(line: &str) -> Result<(String, Call), Undecodable> {
    let failed = |message: String, id, method| Undecodable { message, id, method };
    if !line.trim_start().starts_with('{') {
        return Err(failed("a request is an object".to_owned(), None, Method::Fine));
    }
    let head = whole::<Value>(line).and_then(|_| whole::<Head>(line)).and_then(|head| {
        let is_object = head.params.get().starts_with('{');
        is_object.then_some(head).ok_or_else(|| "params is an object".to_owned())
    });
    let Head { id, method, params } = head.map_err(|message| {
        let id = whole::<OnlyId>(line).ok().map(|only| only.id);
        failed(message, id, Method::Fine)
    })?;
    if UNPLAYED.split_whitespace().any(|known| known == method) {
        let message = format!("{method} is not played by this server");
        return Err(failed(message, Some(id), Method::Unplayed));
    }
    match Call::read(&method, params.get()) {
        Some(Ok(call)) => Ok((id, call)),
        Some(Err(message)) => Err(failed(message, Some(id), Method::Fine)),
        None => {
            let known = PLAYED.iter().copied().chain(UNPLAYED.split_whitespace());
            let known: Vec<_> = known.map(|known| format!("`{known}`")).collect();
            let message =
                format!("unknown variant `{method}`, expected one of {}", known.join(", "));
            Err(failed(message, Some(id), Method::Unknown))
        }
    }
}

fn whole<'a, T: Deserialize<'a>>(line: &'a str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|error| error.to_string())
}

/// The outer object. `params` is read later, when the method is known.
#[derive(Deserialize)]
struct Head<'a> {
    id: String,
    method: String,
    #[serde(borrow)]
    params: &'a RawValue,
}

#[derive(Deserialize)]
struct OnlyId {
    id: String,
}

/// Parameters without fields.
#[derive(Debug, Deserialize)]
pub(crate) struct Empty {}

#[derive(Debug, Deserialize)]
pub(crate) struct ReportAgent {
    pub(crate) pane_id: String,
    pub(crate) source: String,
    pub(crate) agent: String,
    pub(crate) state: State,
    /// The real server stores it and never shows it, so only its type is checked.
    #[serde(rename = "message")]
    _message: Option<String>,
    pub(crate) seq: Option<u64>,
    pub(crate) agent_session_id: Option<String>,
    pub(crate) agent_session_path: Option<String>,
    /// 0.8.2 does not know it, so any type is accepted.
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
    /// Nothing is clicked in the model, so only its type is checked.
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

/// The part of a screen that is read.
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
    /// Screens of the model have no colours, so only its type is checked.
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
    /// Notifications are never shown, so only the types of these fields are checked.
    #[serde(rename = "body")]
    _body: Option<String>,
    #[serde(rename = "sound")]
    _sound: Option<Sound>,
}

/// The sound of a notification.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Sound {
    None,
    Done,
    Request,
}

/// The properties of a new workspace or tab.
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
