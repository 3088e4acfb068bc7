//! The `agent.*` methods. They take only present pane ids; the names that
//! `agent.start` gives do not exist here.

use super::Model;
use super::failure::Failure;
use super::params::{AgentPrompt, AgentRead, AgentTarget};
use super::state::Status;
use super::view::Outcome;

impl Model {
    pub(super) fn agent_get(&self, params: &AgentTarget) -> Result<Outcome, Failure> {
        let (_, agent) = self.find_agent(&params.target)?;
        Ok(Outcome::AgentInfo { agent })
    }

    pub(super) fn agent_list(&self) -> Outcome {
        let panes = (0..self.workspaces.len()).flat_map(|workspace| self.panes_of(workspace));
        Outcome::AgentList {
            agents: panes.filter_map(|pane| self.agent_info(pane, self.now)).collect(),
        }
    }

    pub(super) fn agent_read(&self, params: &AgentRead) -> Result<Outcome, Failure> {
        let (pane, _) = self.find_agent(&params.target)?;
        let read = self.read(pane, &params.how);
        read.map(|read| Outcome::PaneRead { read }).ok_or_else(|| not_found(&params.target))
    }

    /// Explains what the detector makes of a known agent; for any other label
    /// there is nothing to explain.
    pub(super) fn agent_explain(&self, params: &AgentTarget) -> Result<Outcome, Failure> {
        let (pane, agent) = self.find_agent(&params.target)?;
        let terminal = self.panes.get(&pane).map(|pane| &pane.terminal);
        let detected = terminal.and_then(super::terminal::Terminal::detected);
        let Some(known) = herdr_proto::canonical_label(&agent.agent).or(detected) else {
            return Err(Failure::new(
                "agent_explain_unavailable",
                format!("{} is no agent that Herdr knows", agent.agent),
            ));
        };
        let skipped = terminal.is_some_and(super::terminal::Terminal::screen_reading_off);
        let mut explain = serde_json::json!({
            "agent": known,
            "agent_status": agent.agent_status,
            "visible_blocker": terminal.is_some_and(|terminal| terminal.prompt_seen_at.is_some()),
            "screen_detection_skipped": skipped,
            // No screen is matched here, so no rule ever is.
            "matched_rule": null,
            "skipped_update_reason": null,
            "fallback_reason": if detected.is_some() { "screen" } else { "no_process" },
        });
        if skipped {
            explain["screen_detection_skip_reason"] = "full_lifecycle_hook_authority".into();
        }
        Ok(Outcome::AgentExplain { explain })
    }

    pub(super) fn agent_prompt(&mut self, params: &AgentPrompt) -> Result<Outcome, Failure> {
        if params.text.is_empty() {
            return Err(Failure::new("empty_agent_prompt", "there is nothing to type"));
        }
        let (pane, agent) = self.find_agent(&params.target)?;
        if agent.agent_status == Status::Blocked {
            return Err(Failure::new("agent_blocked", "the agent waits for a person"));
        }
        let detected = self.panes.get(&pane).and_then(|pane| pane.terminal.detected());
        if detected.is_none() || detected != herdr_proto::canonical_label(&agent.agent) {
            return Err(Failure::new(
                "agent_not_ready",
                format!("{} is not the program in the foreground", agent.agent),
            ));
        }
        self.type_into(pane, format!("{}\r", params.text).as_bytes());
        Ok(Outcome::AgentPrompted { agent })
    }

    fn find_agent(&self, target: &str) -> Result<(u64, super::view::AgentInfo), Failure> {
        self.find_current_pane(target)
            .and_then(|pane| Some((pane, self.agent_info(pane, self.now)?)))
            .ok_or_else(|| not_found(target))
    }
}

fn not_found(target: &str) -> Failure {
    Failure::new("agent_not_found", format!("there is no agent {target}"))
}
