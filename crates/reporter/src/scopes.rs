//! Turns, tools and prompts as values: what began with a value ends when the value is dropped, on
//! every path (failures B23, B27).

use crate::builder::initial_prompt;
use crate::event::{AgentEvent, EventId, Prompt, TurnOutcome};
use crate::handle::Handle;

/// A turn of the agent. Dropping it settles the turn, with all its tools and prompts that are still
/// open.
#[derive(Debug)]
#[must_use = "the turn ends when this is dropped"]
pub struct Turn {
    handle: Handle,
    agent_id: EventId,
}

impl Turn {
    /// The first turn is the main agent's, and takes over a turn that was running when the reporter
    /// started. Turns that overlap it have ids of their own.
    pub(crate) fn begin(handle: Handle) -> Self {
        let agent_id = if handle.shared.take_main_turn() {
            let goes_on =
                [AgentEvent::prompt_closed(initial_prompt()), AgentEvent::agent_started()];
            handle.record_all(goes_on);
            EventId::default()
        } else {
            let agent_id = handle.shared.new_id();
            handle.report(AgentEvent::agent_started().of_agent(Some(agent_id.clone())));
            agent_id
        };
        Self { handle, agent_id }
    }

    /// Reports that a tool runs, until the result is dropped. Call it once the tool has been
    /// approved.
    pub fn tool(&self, name: impl Into<String>) -> ToolRun {
        let tool_id = self.handle.shared.new_id();
        let started = AgentEvent::tool_started(tool_id.clone(), name);
        self.handle.report(started.of_agent(Some(self.agent_id.clone())));
        ToolRun { handle: self.handle.clone(), tool_id }
    }

    /// Ends the turn and says how it ended, for example with an error's text.
    pub fn settle(self, outcome: TurnOutcome, message: Option<String>) {
        let settled = AgentEvent::agent_settled().of_agent(Some(self.agent_id.clone()));
        self.handle.report(settled.with_outcome(outcome, message));
    }

    /// Reports that a person is asked. The turn is blocked until the result is dropped.
    pub fn prompt(&self, prompt: Prompt) -> OpenPrompt {
        OpenPrompt::open(self.handle.clone(), Some(self.agent_id.clone()), prompt)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let agent_id = self.agent_id.clone();
        self.handle.report(AgentEvent::agent_settled().of_agent(Some(agent_id)));
        if self.agent_id.is_main() {
            // This comes last: a turn that began as the main agent's before this turn has settled
            // would be settled with it.
            self.handle.shared.give_main_turn_back();
        }
    }
}

/// A running tool.
#[derive(Debug)]
#[must_use = "the tool has ended when this is dropped"]
pub struct ToolRun {
    handle: Handle,
    tool_id: EventId,
}

impl Drop for ToolRun {
    fn drop(&mut self) {
        self.handle.report(AgentEvent::tool_finished(self.tool_id.clone()));
    }
}

/// A prompt that waits for a person.
#[derive(Debug)]
#[must_use = "the prompt is closed when this is dropped"]
pub struct OpenPrompt {
    handle: Handle,
    prompt_id: EventId,
}

impl OpenPrompt {
    pub(crate) fn open(handle: Handle, agent_id: Option<EventId>, prompt: Prompt) -> Self {
        let prompt_id = handle.shared.new_id();
        let opened = AgentEvent::prompt_opened(prompt_id.clone(), prompt);
        handle.report(opened.of_agent(agent_id));
        Self { handle, prompt_id }
    }
}

impl Drop for OpenPrompt {
    fn drop(&mut self) {
        self.handle.report(AgentEvent::prompt_closed(self.prompt_id.clone()));
    }
}
