//! The `agent.*` methods. Their target is a current pane id or a name that
//! `agent.rename` has given.

use std::time::Duration;

use serde_json::{Value, json};

use super::Model;
use super::call::{
    AgentPrompt, AgentRead, AgentRename, AgentSendKeys, ReadFormat, ReadOptions, ReadSource,
};
use super::dispatch::{Outcome, ok, without_unset};
use super::failure::Failure;
use super::panes::encode_keys;
use super::state::State;
use super::terminal::Terminal;

/// The time between a prompt and its Enter.
const ENTER_AFTER: Duration = Duration::from_millis(300);

impl Model {
    pub(super) fn agent_get(&self, target: &str) -> Outcome {
        let pane = self.find_agent(target)?;
        Ok(json!({ "type": "agent_info", "agent": self.agent_view(pane) }))
    }

    pub(super) fn agents(&self) -> Vec<Value> {
        self.all_panes().into_iter().filter_map(|pane| self.agent_view(pane)).collect()
    }

    pub(super) fn agent_focus(&mut self, target: &str) -> Outcome {
        self.focus_pane(self.find_agent(target)?);
        self.agent_get(target)
    }

    pub(super) fn agent_rename(&mut self, rename: AgentRename) -> Outcome {
        let pane = self.find_agent(&rename.target)?;
        let fits = |name: &str| {
            name.len() <= 32
                && name.starts_with(|first: char| first.is_ascii_lowercase())
                && name.bytes().all(|byte| {
                    byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte)
                })
        };
        if let Some(name) = &rename.name {
            if !fits(name) {
                let message = "a name has 1 to 32 of a-z 0-9 - _ and begins with a letter";
                return Err(Failure::new("invalid_agent_name", message));
            }
            if self.named(name).is_some_and(|named| named != pane) {
                return Err(Failure::new(
                    "agent_name_taken",
                    format!("another agent has the name {name}"),
                ));
            }
        }
        if let Some(entry) = self.panes.get_mut(&pane) {
            if entry.terminal.label().is_none() {
                return Err(not_found(&rename.target));
            }
            entry.terminal.set_name(rename.name);
        }
        self.emit("pane_updated", json!({ "pane": self.pane_view(pane) }));
        Ok(json!({ "type": "agent_info", "agent": self.agent_view(pane) }))
    }

    pub(super) fn agent_read(&self, params: &AgentRead) -> Outcome {
        let pane = self.find_agent(&params.target)?;
        self.check_history(pane, &params.options)?;
        Ok(json!({ "type": "pane_read", "read": self.read_view(pane, &params.options) }))
    }

    /// Refuses to read more rows than a screen without a history has, unless the
    /// agent is idle or not a known one.
    fn check_history(&self, pane: u64, options: &ReadOptions) -> Result<(), Failure> {
        let recent = matches!(options.source, ReadSource::Recent | ReadSource::RecentUnwrapped);
        let screen = self.panes.get(&pane).map(|pane| &pane.screen);
        let lacks = screen.is_some_and(|screen| {
            let asked = options.lines.and_then(|lines| usize::try_from(lines).ok()).unwrap_or(0);
            screen.alternate && screen.height() < asked.min(1000)
        });
        let busy = self.terminal(pane).is_some_and(|terminal| {
            let known = terminal.label().and_then(herdr_proto::canonical_label).is_some();
            known && terminal.state() != State::Idle
        });
        if recent && options.format == ReadFormat::Text && lacks && busy {
            let message = "the agent is not idle, and its screen keeps no history";
            return Err(Failure::new("agent_not_idle", message));
        }
        Ok(())
    }

    /// Explains how the detector came to the state of a known agent.
    pub(super) fn agent_explain(&self, target: &str) -> Outcome {
        let pane = self.find_agent(target)?;
        let Some(terminal) = self.terminal(pane) else { return Err(not_found(target)) };
        let skipped = terminal.screen_reading_off();
        let known = terminal.label().and_then(herdr_proto::canonical_label);
        let Some(known) = known.or(terminal.detected) else {
            let message = format!("{target} shows no agent that Herdr knows");
            return Err(Failure::new("agent_explain_unavailable", message));
        };
        Ok(json!({ "type": "agent_explain", "explain": {
            "agent": known,
            "state": terminal.state(),
            "visible_blocker": terminal.prompt_seen_at.is_some(),
            "screen_detection_skipped": skipped,
            "screen_detection_skip_reason": skipped.then_some("full_lifecycle_hook_authority"),
            // This model has no rules that match a screen.
            "matched_rule": null,
            "skipped_update_reason": null,
            "fallback_reason": (!skipped).then_some("default_known_agent_idle_fallback"),
        } }))
    }

    /// Types a text into the agent's program. Enter follows after [`ENTER_AFTER`].
    pub(super) fn agent_prompt(&mut self, params: &AgentPrompt) -> Outcome {
        if params.text.is_empty() {
            return Err(Failure::new("empty_agent_prompt", "there is nothing to type"));
        }
        let pane = self.find_agent(&params.target)?;
        if self.terminal(pane).is_some_and(|terminal| terminal.state() == State::Blocked) {
            return Err(Failure::new("agent_blocked", "the agent waits for a person"));
        }
        self.check_runs(pane, &params.target)?;
        if params.wait.is_some() {
            return Err(Failure::new("not_implemented", "this server cannot wait for an agent"));
        }
        let text = self.pasted(pane, &params.text);
        self.type_into(pane, &text);
        let at = self.now.saturating_add(ENTER_AFTER);
        if let Some(entry) = self.panes.get_mut(&pane) {
            entry.enters.push(at);
        }
        Ok(json!({ "type": "agent_prompted", "agent": self.agent_view(pane) }))
    }

    pub(super) fn agent_send_keys(&mut self, params: &AgentSendKeys) -> Outcome {
        let pane = self.find_agent(&params.target)?;
        self.check_runs(pane, &params.target)?;
        let bytes = encode_keys(&params.keys)?;
        self.type_into(pane, &bytes);
        ok()
    }

    /// Checks that the program of the shown agent is in the foreground.
    fn check_runs(&self, pane: u64, target: &str) -> Result<(), Failure> {
        let shown = self.terminal(pane).and_then(Terminal::label);
        let known = shown.and_then(herdr_proto::canonical_label);
        let runs = self.panes.get(&pane).and_then(|pane| pane.foreground.agent);
        if known.is_none() || known != runs {
            let message = format!("{target} is not the program in the foreground");
            return Err(Failure::new("agent_not_ready", message));
        }
        Ok(())
    }

    fn find_agent(&self, target: &str) -> Result<u64, Failure> {
        self.find_current_pane(target)
            .filter(|pane| self.terminal(*pane).is_some_and(Terminal::is_agent))
            .or_else(|| self.named(target))
            .ok_or_else(|| not_found(target))
    }

    fn named(&self, name: &str) -> Option<u64> {
        let mut panes = self.panes.iter();
        panes.find(|(_, pane)| pane.terminal.name() == Some(name)).map(|(pane, _)| *pane)
    }

    pub(super) fn terminal(&self, pane: u64) -> Option<&Terminal> {
        self.panes.get(&pane).map(|pane| &pane.terminal)
    }

    /// The agent of a pane as readers see it; `None` if the pane has no agent.
    fn agent_view(&self, pane: u64) -> Option<Value> {
        let terminal = self.terminal(pane).filter(|terminal| terminal.is_agent())?;
        let mut view = self.pane_view(pane)?;
        for absent in ["label", "scroll"] {
            view.as_object_mut()?.remove(absent);
        }
        view["name"] = terminal.name().into();
        view["screen_detection_skipped"] = terminal.screen_reading_off().then_some(true).into();
        view["state_change_seq"] = terminal.state_change_seq.into();
        Some(without_unset(view))
    }
}

fn not_found(target: &str) -> Failure {
    Failure::new("agent_not_found", format!("there is no agent {target}"))
}
