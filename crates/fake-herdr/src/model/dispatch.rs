//! From a line to its answer.

use std::time::Duration;

use herdr_proto::limits;
use serde::Serialize;

use super::decode::{self, Call, Undecodable};
use super::failure::Failure;
use super::view::Outcome;
use super::{Answer, Model};

impl Model {
    /// Answers one request line, with or without its newline.
    ///
    /// A line that is blank, not UTF-8 or too long gets [`Answer::Silence`], as
    /// the real server closes without a word. Bytes after the first newline are
    /// not looked at.
    pub fn request(&mut self, now: Duration, line: &[u8]) -> Answer {
        self.advance(now);
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
        if line.len() > limits::SERVER_LINE_MAX {
            return Answer::Silence;
        }
        let line = std::str::from_utf8(line).unwrap_or_default().trim();
        if line.is_empty() {
            return Answer::Silence;
        }
        match decode::decode(line) {
            Ok(decoded) => {
                let answer = self.dispatch(decoded.id, decoded.call);
                self.tell_focus();
                answer
            }
            Err(undecodable) => Answer::Reply(self.refuse(undecodable)),
        }
    }

    fn dispatch(&mut self, id: String, call: Call) -> Answer {
        match call {
            Call::Subscribe(subscribe) => self.subscribe(id, subscribe.subscriptions),
            call if self.stopping && !matches!(call, Call::Ping | Call::ServerStop) => {
                Answer::Reply(error_line(&id, &Failure::stopping()))
            }
            call => Answer::Reply(match self.perform_as_profile(call) {
                Ok(outcome) => success_line(&id, &outcome),
                Err(failure) => error_line(&id, &failure),
            }),
        }
    }

    fn perform_as_profile(&mut self, call: Call) -> Result<Outcome, Failure> {
        let own = if self.profile.tuios { self.tuios_answer(&call) } else { None };
        own.unwrap_or_else(|| self.perform(call))
    }

    fn perform(&mut self, call: Call) -> Result<Outcome, Failure> {
        match call {
            Call::Ping => Ok(self.pong()),
            Call::ServerStop => {
                self.stopping = true;
                Ok(Outcome::Ok)
            }
            Call::LiveHandoff => {
                self.begin_handoff();
                Ok(Outcome::Ok)
            }
            Call::Snapshot => Ok(self.snapshot()),
            Call::Notify(notify) => Self::notify(&notify),
            Call::ReportAgent(report) => self.report_agent(report),
            Call::ReportSession(report) => self.report_agent_session(report),
            Call::ReportMetadata(report) => self.report_pane_metadata(&report),
            Call::Release(release) => self.release_agent(&release),
            Call::Clear(clear) => self.clear_agent_authority(&clear),
            Call::AgentGet(target) => self.agent_get(&target),
            Call::AgentList => Ok(self.agent_list()),
            Call::AgentRead(read) => self.agent_read(&read),
            Call::AgentExplain(target) => self.agent_explain(&target),
            Call::AgentPrompt(prompt) => self.agent_prompt(&prompt),
            Call::Unplayed(method) => Err(Failure::new(
                "not_implemented",
                format!("{method} is not played by this server"),
            )),
            call => self.perform_on_panes(call),
        }
    }

    fn perform_on_panes(&mut self, call: Call) -> Result<Outcome, Failure> {
        match call {
            Call::PaneGet(target) => self.pane_get(&target),
            Call::PaneCurrent(current) => self.pane_current(&current),
            Call::PaneList(list) => self.pane_list(&list),
            Call::PaneFocus(target) => self.pane_focus(&target),
            Call::PaneRename(rename) => self.pane_rename(&rename),
            Call::PaneClose(target) => self.close(&target.pane_id).map(|()| Outcome::Ok),
            Call::PaneSplit(split) => self.pane_split(split),
            Call::PaneMove(pane_move) => self.pane_move(pane_move),
            Call::PaneRead(read) => self.pane_read(&read),
            Call::SendText(send) => self.send_text(&send),
            Call::SendKeys(send) => self.send_keys(&send),
            Call::SendInput(send) => self.send_input(&send),
            Call::ProcessInfo(info) => self.process_info(&info),
            Call::WorkspaceCreate(create) => self.workspace_create(create),
            Call::WorkspaceList => Ok(self.workspace_list()),
            Call::WorkspaceGet(target) => self.workspace_get(&target),
            Call::WorkspaceFocus(target) => self.workspace_focus(&target),
            Call::WorkspaceClose(target) => self.workspace_close(&target),
            Call::WorkspaceMetadata(report) => self.report_workspace_metadata(&report),
            Call::TabCreate(create) => self.tab_create(create),
            Call::TabList(list) => self.tab_list(&list),
            Call::TabGet(target) => self.tab_get(&target),
            Call::TabFocus(target) => self.tab_focus(&target),
            Call::TabClose(target) => self.tab_close(&target),
            call => Err(Failure::new("not_implemented", format!("{call:?} has no handler"))),
        }
    }

    /// A line that is no request. Before 0.9.2 the reply never says to which.
    fn refuse(&self, undecodable: Undecodable) -> String {
        let Undecodable { message, id, unknown_method } = undecodable;
        let message = format!("invalid request: {message}");
        if !self.profile.echoes_ids {
            return error_line("", &Failure::new("invalid_request", message));
        }
        let code = match (unknown_method, self.profile.tuios, &id) {
            (true, ..) => "unknown_method",
            (false, true, Some(_)) => "invalid_params",
            _ => "invalid_request",
        };
        error_line(&id.unwrap_or_default(), &Failure::new(code, message))
    }
}

pub(super) fn success_line(id: &str, result: &Outcome) -> String {
    #[derive(Serialize)]
    struct Success<'a> {
        id: &'a str,
        result: &'a Outcome,
    }
    serde_json::to_string(&Success { id, result }).unwrap_or_else(|error| {
        error_line(id, &Failure::new("serialization_error", error.to_string()))
    })
}

pub(super) fn error_line(id: &str, failure: &Failure) -> String {
    serde_json::json!({
        "id": id,
        "error": { "code": failure.code, "message": failure.message },
    })
    .to_string()
}
