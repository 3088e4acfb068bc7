//! Requests as the server reads them: every implemented method with its
//! parameters.
//!
//! The types of `herdr-proto` cannot be used here. They hold only what a correct
//! client sends, and a server has to read everything else as well.
//!
//! Decoding is as strict as on the real server (protocol 2.1): `id` is a string,
//! `params` is an object and never null, a known key appears only once, unknown
//! keys are ignored, and `null` means absent. The handlers check the rest.

mod agents;
mod panes;
mod reports;
mod workspaces;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::subscription::Subscription;

pub(crate) use agents::*;
pub(crate) use panes::*;
pub(crate) use reports::*;
pub(crate) use workspaces::*;

macro_rules! methods {
    ($($method:literal => $name:ident($params:ident),)*) => {
        /// A method with its parameters.
        #[derive(Debug)]
        pub(crate) enum Call {
            $($name($params),)*
        }

        const IMPLEMENTED: &[&str] = &[$($method),*];

        impl Call {
            /// Reads the parameters of a method; `None` if it is not implemented.
            fn read(method: &str, params: &str) -> Option<Result<Self, String>> {
                match method {
                    $($method => Some(parse(params).map(Self::$name)),)*
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
    "pane.list" => PaneList(WorkspaceFilter),
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
    "tab.list" => TabList(WorkspaceFilter),
    "tab.get" => TabGet(TabTarget),
    "tab.focus" => TabFocus(TabTarget),
    "tab.rename" => TabRename(TabRename),
    "tab.close" => TabClose(TabTarget),
}

/// Methods of 0.8.2 that answer `not_implemented` here.
const NOT_IMPLEMENTED: &str = "\
    agent.start agent.view.clear agent.view.set agent.wait client.window_title.clear \
    client.window_title.set events.wait layout.apply layout.export layout.set_split_ratio \
    pane.edges pane.focus_direction pane.input.set pane.neighbor pane.wait_for_output \
    popup.close server.agent_manifests server.reload_agent_manifests server.reload_config \
    tab.move workspace.move workspace.move_block worktree.create worktree.list worktree.open \
    worktree.remove";

/// A line that could not be decoded. The id is set if the line has a valid one;
/// only servers from 0.9.2 on repeat it in their answer.
#[derive(Debug)]
pub(crate) struct Undecodable {
    pub(crate) message: String,
    pub(crate) id: Option<String>,
    pub(crate) cause: Cause,
}

/// Why a line could not be decoded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The envelope or the parameters are wrong.
    Malformed,
    /// The real server has the method, and this model does not.
    NotImplemented,
    /// No server has the method.
    UnknownMethod,
}

/// Reads the id and the call of a request line.
pub(crate) fn decode(line: &str) -> Result<(String, Call), Undecodable> {
    let failed = |message: String, id, cause| Undecodable { message, id, cause };
    if !line.trim_start().starts_with('{') {
        return Err(failed("a request is an object".to_owned(), None, Cause::Malformed));
    }
    // A raw value may have numbers that are too large and lone surrogates, which the
    // server refuses even in unknown keys.
    let envelope =
        parse::<Value>(line).and_then(|_| parse::<Envelope>(line)).and_then(|envelope| {
            let is_object = envelope.params.get().starts_with('{');
            is_object.then_some(envelope).ok_or_else(|| "params is an object".to_owned())
        });
    let Envelope { id, method, params } = envelope.map_err(|message| {
        let id = parse::<OnlyId>(line).ok().map(|only| only.id);
        failed(message, id, Cause::Malformed)
    })?;
    let not_implemented = || NOT_IMPLEMENTED.split_whitespace();
    if not_implemented().any(|known| known == method) {
        let message = format!("this server does not implement {method}");
        return Err(failed(message, Some(id), Cause::NotImplemented));
    }
    match Call::read(&method, params.get()) {
        Some(Ok(call)) => Ok((id, call)),
        Some(Err(message)) => Err(failed(message, Some(id), Cause::Malformed)),
        None => {
            let known = IMPLEMENTED.iter().copied().chain(not_implemented());
            let known: Vec<_> = known.map(|known| format!("`{known}`")).collect();
            let message =
                format!("unknown variant `{method}`, expected one of {}", known.join(", "));
            Err(failed(message, Some(id), Cause::UnknownMethod))
        }
    }
}

fn parse<'a, T: Deserialize<'a>>(line: &'a str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|error| error.to_string())
}

/// A request whose `params` are read once the method is known.
#[derive(Deserialize)]
struct Envelope<'a> {
    id: String,
    method: String,
    #[serde(borrow)]
    params: &'a RawValue,
}

#[derive(Deserialize)]
struct OnlyId {
    id: String,
}

/// The parameters of a method that reads none. Any object will do.
#[derive(Debug, Deserialize)]
pub(crate) struct Empty {}

#[derive(Debug, Deserialize)]
pub(crate) struct Subscribe {
    pub(crate) subscriptions: Vec<Subscription>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Notify {
    pub(crate) title: String,
    /// No notification is ever shown, so only the types of the other fields matter.
    #[serde(rename = "body")]
    _body: Option<String>,
    #[serde(rename = "sound")]
    _sound: Option<Sound>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Sound {
    None,
    Done,
    Request,
}
