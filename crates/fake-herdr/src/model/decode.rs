//! Requests as the server reads them.
//!
//! Not with the types of `herdr-proto`: those hold only what a good client
//! sends, and a server has to take the rest as well. The strictness is that of
//! the real one (protocol 2.1): `id` a string, `params` an object and never
//! null, no key of ours twice, unknown keys ignored, `null` for absent.

use std::fmt;

use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::params::{
    AgentPrompt, AgentRead, AgentTarget, Clear, InWorkspace, Notify, PaneCurrent, PaneMove,
    PaneRead, PaneRename, PaneSplit, PaneTarget, ProcessInfo, Release, ReportAgent, ReportMetadata,
    ReportSession, SendInput, SendKeys, SendText, Subscribe, TabCreate, TabTarget, WorkspaceCreate,
    WorkspaceMetadata, WorkspaceTarget,
};

/// A request with its parameters.
#[derive(Debug)]
pub(crate) enum Call {
    Ping,
    ServerStop,
    LiveHandoff,
    Snapshot,
    Notify(Notify),
    ReportAgent(ReportAgent),
    ReportSession(ReportSession),
    ReportMetadata(ReportMetadata),
    Release(Release),
    Clear(Clear),
    PaneGet(PaneTarget),
    PaneCurrent(PaneCurrent),
    PaneList(InWorkspace),
    PaneFocus(PaneTarget),
    PaneRename(PaneRename),
    PaneClose(PaneTarget),
    PaneSplit(PaneSplit),
    PaneMove(PaneMove),
    PaneRead(PaneRead),
    SendText(SendText),
    SendKeys(SendKeys),
    SendInput(SendInput),
    ProcessInfo(ProcessInfo),
    AgentGet(AgentTarget),
    AgentList,
    AgentRead(AgentRead),
    AgentExplain(AgentTarget),
    AgentPrompt(AgentPrompt),
    Subscribe(Subscribe),
    WorkspaceCreate(WorkspaceCreate),
    WorkspaceList,
    WorkspaceGet(WorkspaceTarget),
    WorkspaceFocus(WorkspaceTarget),
    WorkspaceClose(WorkspaceTarget),
    WorkspaceMetadata(WorkspaceMetadata),
    TabCreate(TabCreate),
    TabList(InWorkspace),
    TabGet(TabTarget),
    TabFocus(TabTarget),
    TabClose(TabTarget),
    /// A method that the server has and this model does not play.
    Unplayed(&'static str),
}

/// Methods of 0.8.2 that answer `not_implemented` here.
const UNPLAYED: [&str; 35] = [
    "agent.focus",
    "agent.rename",
    "agent.send_keys",
    "agent.start",
    "agent.view.clear",
    "agent.view.set",
    "agent.wait",
    "client.window_title.clear",
    "client.window_title.set",
    "events.wait",
    "layout.apply",
    "layout.export",
    "layout.set_split_ratio",
    "pane.edges",
    "pane.focus_direction",
    "pane.input.set",
    "pane.layout",
    "pane.neighbor",
    "pane.resize",
    "pane.swap",
    "pane.wait_for_output",
    "pane.zoom",
    "popup.close",
    "server.agent_manifests",
    "server.reload_agent_manifests",
    "server.reload_config",
    "tab.move",
    "tab.rename",
    "workspace.move",
    "workspace.move_block",
    "workspace.rename",
    "worktree.create",
    "worktree.list",
    "worktree.open",
    "worktree.remove",
];

/// Methods that are played.
const PLAYED: [&str; 40] = [
    "agent.explain",
    "agent.get",
    "agent.list",
    "agent.prompt",
    "agent.read",
    "events.subscribe",
    "notification.show",
    "pane.clear_agent_authority",
    "pane.close",
    "pane.current",
    "pane.focus",
    "pane.get",
    "pane.list",
    "pane.move",
    "pane.process_info",
    "pane.read",
    "pane.release_agent",
    "pane.rename",
    "pane.report_agent",
    "pane.report_agent_session",
    "pane.report_metadata",
    "pane.send_input",
    "pane.send_keys",
    "pane.send_text",
    "pane.split",
    "ping",
    "server.live_handoff",
    "server.stop",
    "session.snapshot",
    "tab.close",
    "tab.create",
    "tab.focus",
    "tab.get",
    "tab.list",
    "workspace.close",
    "workspace.create",
    "workspace.focus",
    "workspace.get",
    "workspace.list",
    "workspace.report_metadata",
];

/// A request that could be read, with its id.
pub(crate) struct Decoded {
    pub(crate) id: String,
    pub(crate) call: Call,
}

/// Why a line is no request, and the id if one could be made out all the same
/// (only servers from 0.9.2 on say it).
pub(crate) struct Undecodable {
    pub(crate) message: String,
    pub(crate) id: Option<String>,
    /// The envelope was fine and only the method is not known.
    pub(crate) unknown_method: bool,
}

/// Reads one line.
pub(crate) fn decode(line: &str) -> Result<Decoded, Undecodable> {
    decode_call(line).map_err(|(message, unknown_method)| Undecodable {
        message,
        id: lenient_id(line),
        unknown_method,
    })
}

fn decode_call(line: &str) -> Result<Decoded, (String, bool)> {
    let plain = |message: String| (message, false);
    if !line.trim_start().starts_with('{') {
        return Err(plain("a request is an object".to_owned()));
    }
    // What no key of ours holds is skipped, but it has to be JSON to the last
    // number, escape and level of nesting.
    serde_json::from_str::<serde_json::Value>(line).map_err(|error| plain(error.to_string()))?;
    let head: Head = serde_json::from_str(line).map_err(|error| plain(error.to_string()))?;
    let call =
        match head.method.as_str() {
            "ping" => nothing(line).map(|()| Call::Ping),
            "server.stop" => nothing(line).map(|()| Call::ServerStop),
            "server.live_handoff" => nothing(line).map(|()| Call::LiveHandoff),
            "session.snapshot" => nothing(line).map(|()| Call::Snapshot),
            "notification.show" => params(line).map(Call::Notify),
            "events.subscribe" => params(line).map(Call::Subscribe),
            method => decode_pane(method, line)
                .or_else(|| decode_rest(method, line))
                .unwrap_or_else(|| match UNPLAYED.iter().find(|known| **known == method) {
                    Some(known) => Ok(Call::Unplayed(known)),
                    None => Err(unknown_method(method)),
                }),
        };
    let known = known_methods().any(|known| known == head.method);
    call.map(|call| Decoded { id: head.id, call }).map_err(|message| (message, !known))
}

fn decode_pane(method: &str, line: &str) -> Option<Result<Call, String>> {
    Some(match method {
        "pane.report_agent" => params(line).map(Call::ReportAgent),
        "pane.report_agent_session" => params(line).map(Call::ReportSession),
        "pane.report_metadata" => params(line).map(Call::ReportMetadata),
        "pane.release_agent" => params(line).map(Call::Release),
        "pane.clear_agent_authority" => params(line).map(Call::Clear),
        "pane.get" => params(line).map(Call::PaneGet),
        "pane.current" => params(line).map(Call::PaneCurrent),
        "pane.list" => params(line).map(Call::PaneList),
        "pane.focus" => params(line).map(Call::PaneFocus),
        "pane.rename" => params(line).map(Call::PaneRename),
        "pane.close" => params(line).map(Call::PaneClose),
        "pane.split" => params(line).map(Call::PaneSplit),
        "pane.move" => params(line).map(Call::PaneMove),
        "pane.read" => params(line).map(Call::PaneRead),
        "pane.send_text" => params(line).map(Call::SendText),
        "pane.send_keys" => params(line).map(Call::SendKeys),
        "pane.send_input" => params(line).map(Call::SendInput),
        "pane.process_info" => params(line).map(Call::ProcessInfo),
        _ => return None,
    })
}

fn decode_rest(method: &str, line: &str) -> Option<Result<Call, String>> {
    Some(match method {
        "agent.get" => params(line).map(Call::AgentGet),
        "agent.list" => nothing(line).map(|()| Call::AgentList),
        "agent.read" => params(line).map(Call::AgentRead),
        "agent.explain" => params(line).map(Call::AgentExplain),
        "agent.prompt" => params(line).map(Call::AgentPrompt),
        "workspace.create" => params(line).map(Call::WorkspaceCreate),
        "workspace.list" => nothing(line).map(|()| Call::WorkspaceList),
        "workspace.get" => params(line).map(Call::WorkspaceGet),
        "workspace.focus" => params(line).map(Call::WorkspaceFocus),
        "workspace.close" => params(line).map(Call::WorkspaceClose),
        "workspace.report_metadata" => params(line).map(Call::WorkspaceMetadata),
        "tab.create" => params(line).map(Call::TabCreate),
        "tab.list" => params(line).map(Call::TabList),
        "tab.get" => params(line).map(Call::TabGet),
        "tab.focus" => params(line).map(Call::TabFocus),
        "tab.close" => params(line).map(Call::TabClose),
        _ => return None,
    })
}

fn known_methods() -> impl Iterator<Item = &'static str> {
    PLAYED.into_iter().chain(UNPLAYED)
}

fn unknown_method(method: &str) -> String {
    let mut known: Vec<_> = known_methods().collect();
    known.sort_unstable();
    let known: Vec<_> = known.iter().map(|known| format!("`{known}`")).collect();
    format!("unknown variant `{method}`, expected one of {}", known.join(", "))
}

/// The id of a line that is JSON and has exactly one, as a string.
fn lenient_id(line: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct OnlyId {
        id: String,
    }
    if !line.trim_start().starts_with('{') {
        return None;
    }
    serde_json::from_str::<OnlyId>(line).ok().map(|only| only.id)
}

/// The envelope. `params` is looked at twice: here only for its shape.
#[derive(Deserialize)]
struct Head {
    id: String,
    method: String,
    #[serde(rename = "params")]
    _params: AnyObject,
}

fn params<P: DeserializeOwned>(line: &str) -> Result<P, String> {
    #[derive(Deserialize)]
    struct Body<P> {
        params: P,
    }
    serde_json::from_str::<Body<P>>(line).map(|body| body.params).map_err(|error| error.to_string())
}

fn nothing(line: &str) -> Result<(), String> {
    params::<AnyObject>(line).map(|_| ())
}

/// Any object, and nothing but an object.
struct AnyObject;

impl<'de> Deserialize<'de> for AnyObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Shape;
        impl<'de> Visitor<'de> for Shape {
            type Value = AnyObject;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AnyObject, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(AnyObject)
            }
        }
        deserializer.deserialize_map(Shape)
    }
}
