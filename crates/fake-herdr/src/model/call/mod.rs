//! Requests as the server reads them: all supported methods with their parameters.
//!
//! The types of `herdr-proto` are not used, because they can only express what a good client
//! sends. This module is as strict as the real server (protocol 2.1): `id` is a string,
//! `params` is an object and never null, a known field must not occur twice, unknown fields are
//! ignored, and `null` counts as absent. A request that the real server refuses while decoding
//! is refused here. All other checks are made by the handlers.

mod agent;
mod pane;
mod place;
mod report;
mod server;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

pub(crate) use agent::{AgentPrompt, AgentRename, AgentSendKeys, AgentTarget};
pub(crate) use pane::{
    AgentRead, Destination, InWorkspace, PaneCurrent, PaneMove, PaneOrFocused, PaneRead,
    PaneRename, PaneResize, PaneSplit, PaneSwap, PaneTarget, PaneZoom, ReadFormat, ReadHow,
    ReadSource, SendInput, SendKeys, SendText, ZoomMode,
};
pub(crate) use place::{
    Create, TabCreate, TabRename, TabTarget, WorkspaceMetadata, WorkspaceRename, WorkspaceTarget,
};
pub(crate) use report::{Clear, Release, ReportAgent, ReportMetadata, ReportSession};
pub(crate) use server::{Notify, Subscribe};

macro_rules! methods {
    ($($method:literal => $name:ident($params:ident),)*) => {
        /// A method with its parameters.
        #[derive(Debug)]
        pub(crate) enum Call {
            $($name($params),)*
        }

        /// The names of the supported methods.
        const SUPPORTED: &[&str] = &[$($method),*];

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
const UNSUPPORTED: &str = "\
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
    Other,
    /// The server has the method, and this model does not support it.
    Unsupported,
    /// The server does not have the method.
    Unknown,
}

/// Reads one line: the id and the method with its parameters.
pub(crate) fn decode(line: &str) -> Result<(String, Call), Undecodable> {
    let failed = |message: String, id, method| Undecodable { message, id, method };
    if !line.trim_start().starts_with('{') {
        return Err(failed("a request is an object".to_owned(), None, Method::Other));
    }
    let head = whole::<Value>(line).and_then(|_| whole::<Head>(line)).and_then(|head| {
        let is_object = head.params.get().starts_with('{');
        is_object.then_some(head).ok_or_else(|| "params is an object".to_owned())
    });
    let Head { id, method, params } = head.map_err(|message| {
        let id = whole::<OnlyId>(line).ok().map(|only| only.id);
        failed(message, id, Method::Other)
    })?;
    if UNSUPPORTED.split_whitespace().any(|known| known == method) {
        let message = format!("{method} is not played by this server");
        return Err(failed(message, Some(id), Method::Unsupported));
    }
    match Call::read(&method, params.get()) {
        Some(Ok(call)) => Ok((id, call)),
        Some(Err(message)) => Err(failed(message, Some(id), Method::Other)),
        None => {
            let known = SUPPORTED.iter().copied().chain(UNSUPPORTED.split_whitespace());
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
