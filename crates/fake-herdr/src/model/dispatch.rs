//! Dispatches a request line to its handler and forms the answer.

use std::time::Duration;

use herdr_proto::limits;
use serde_json::{Value, json};

use super::call::{self, Call, Cause, Undecodable};
use super::failure::Failure;
use super::{Answer, Model, text};

/// What a handler returns: the result of the reply with its `type`, or an error.
pub(super) type Outcome = Result<Value, Failure>;

impl Model {
    /// Answers one request line, with or without its newline.
    ///
    /// A line that is blank, not UTF-8 or too long gets [`Answer::Silence`],
    /// because the real server closes the connection without an answer. Bytes
    /// after the first newline are ignored.
    pub fn request(&mut self, now: Duration, line: &[u8]) -> Answer {
        self.pass(now);
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
        if line.len() > limits::SERVER_LINE_MAX {
            return Answer::Silence;
        }
        let line = std::str::from_utf8(line).unwrap_or_default().trim();
        if line.is_empty() {
            return Answer::Silence;
        }
        match call::decode(line) {
            Ok((id, Call::Subscribe(subscribe))) => self.subscribe(id, subscribe.subscriptions),
            Ok((id, call)) => {
                let refused = self.stopping && !matches!(call, Call::Ping(_) | Call::ServerStop(_));
                let outcome = if refused { Err(Failure::stopping()) } else { self.perform(call) };
                self.finish_turn();
                Answer::Reply(match outcome {
                    Ok(result) => success_line(&id, &result),
                    Err(failure) => error_line(&id, &failure),
                })
            }
            Err(undecodable) => Answer::Reply(self.refuse(undecodable)),
        }
    }

    fn perform(&mut self, call: Call) -> Outcome {
        match call {
            Call::Ping(_) => Ok(self.pong()),
            Call::ServerStop(_) => {
                self.stopping = true;
                ok()
            }
            Call::LiveHandoff(_) => {
                self.live_handoff(self.now);
                ok()
            }
            Call::Snapshot(_) => Ok(self.snapshot()),
            Call::Notify(notify) => match text::presentation(&notify.title) {
                None => Err(Failure::new("invalid_params", "the title is empty")),
                // Notifications are off in the default settings.
                Some(_) => {
                    Ok(json!({ "type": "notification_show", "shown": false, "reason": "disabled" }))
                }
            },
            Call::Subscribe(_) => Err(Failure::new("internal_error", "a stream is not a reply")),
            Call::ReportAgent(report) => self.report_agent(report),
            Call::ReportSession(report) => self.report_agent_session(report),
            Call::ReportMetadata(report) => self.report_pane_metadata(report),
            Call::Release(release) => self.release_agent(&release),
            Call::Clear(clear) => self.clear_agent_authority(&clear),
            Call::PaneGet(target) => self.pane_get(&target.pane_id),
            Call::PaneCurrent(current) => self.pane_current(current.caller_pane_id.as_deref()),
            Call::PaneList(list) => self.pane_list(&list),
            Call::PaneFocus(target) => self.pane_focus(&target.pane_id),
            Call::PaneRename(rename) => self.pane_rename(&rename),
            Call::PaneClose(target) => self.close(&target.pane_id),
            Call::PaneSplit(split) => self.pane_split(split),
            Call::PaneMove(pane_move) => self.pane_move(pane_move),
            Call::PaneSwap(swap) => self.pane_swap(&swap),
            Call::PaneZoom(zoom) => self.pane_zoom(&zoom),
            Call::PaneResize(resize) => self.pane_resize(&resize),
            Call::PaneLayout(target) => self.pane_layout(target.pane_id.as_deref()),
            Call::ProcessInfo(target) => self.process_info(target.pane_id.as_deref()),
            Call::PaneRead(read) => self.pane_read(&read),
            Call::SendText(send) => self.send_text(&send),
            Call::SendKeys(send) => self.send_keys(&send),
            Call::SendInput(send) => self.send_input(&send),
            Call::AgentGet(target) => self.agent_get(&target.target),
            Call::AgentList(_) => Ok(json!({ "type": "agent_list", "agents": self.agents() })),
            Call::AgentFocus(target) => self.agent_focus(&target.target),
            Call::AgentRename(rename) => self.agent_rename(rename),
            Call::AgentRead(read) => self.agent_read(&read),
            Call::AgentExplain(target) => self.agent_explain(&target.target),
            Call::AgentPrompt(prompt) => self.agent_prompt(&prompt),
            Call::AgentSendKeys(send) => self.agent_send_keys(&send),
            Call::WorkspaceCreate(create) => self.workspace_create(create),
            Call::WorkspaceList(_) => Ok(self.workspace_list()),
            Call::WorkspaceGet(target) => self.workspace_get(&target.workspace_id),
            Call::WorkspaceFocus(target) => self.workspace_focus(&target.workspace_id),
            Call::WorkspaceRename(rename) => self.workspace_rename(rename),
            Call::WorkspaceClose(target) => self.workspace_close(&target.workspace_id),
            Call::WorkspaceMetadata(report) => self.report_workspace_metadata(&report),
            Call::TabCreate(create) => self.tab_create(create),
            Call::TabList(list) => self.tab_list(&list),
            Call::TabGet(target) => self.tab_get(&target.tab_id),
            Call::TabFocus(target) => self.tab_focus(&target.tab_id),
            Call::TabRename(rename) => self.tab_rename(rename),
            Call::TabClose(target) => self.tab_close(&target.tab_id),
        }
    }

    /// Answers a line that could not be decoded. Before 0.9.2 such a reply has an
    /// empty id.
    fn refuse(&self, undecodable: Undecodable) -> String {
        let Undecodable { message, id, cause } = undecodable;
        if cause == Cause::NotImplemented {
            return error_line(&id.unwrap_or_default(), &Failure::new("not_implemented", message));
        }
        let unknown = cause == Cause::UnknownMethod && self.profile.echoes_ids;
        let code = if unknown { "unknown_method" } else { "invalid_request" };
        let failure = Failure::new(code, format!("invalid request: {message}"));
        error_line(&id.filter(|_| self.profile.echoes_ids).unwrap_or_default(), &failure)
    }
}

#[expect(clippy::unnecessary_wraps, reason = "handlers return an `Outcome`")]
pub(super) fn ok() -> Outcome {
    Ok(json!({ "type": "ok" }))
}

/// Removes the fields of an object that are null or an empty map.
pub(super) fn without_unset(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|_, value| {
            !value.is_null() && value.as_object().is_none_or(|map| !map.is_empty())
        });
    }
    object
}

pub(super) fn success_line(id: &str, result: &Value) -> String {
    json!({ "id": id, "result": result }).to_string()
}

pub(super) fn error_line(id: &str, failure: &Failure) -> String {
    json!({ "id": id, "error": { "code": failure.code, "message": failure.message } }).to_string()
}
