//! Begin and end in one value: what began with it ends when it goes, however it
//! goes (failures B23, B27).

use crate::builder::initial_prompt;
use crate::event::{AgentEvent, EventId, Prompt, TurnOutcome};
use crate::handle::Handle;

/// A turn of the agent. Dropping it settles the turn, with every tool and
/// prompt of it that is still open.
#[derive(Debug)]
#[must_use = "the turn ends when this is dropped"]
pub struct Turn {
    handle: Handle,
    agent_id: EventId,
}

impl Turn {
    /// The first turn is the main agent's, which takes over one that was
    /// running when the reporter started; overlapping ones have ids of their
    /// own.
    pub(crate) fn begin(handle: Handle) -> Self {
        let agent_id = if handle.shared.take_main_turn() {
            let goes_on =
                [AgentEvent::prompt_closed(initial_prompt()), AgentEvent::agent_started()];
            handle.record_all(goes_on);
            EventId::default()
        } else {
            let agent_id = handle.shared.new_id();
            handle.tell(AgentEvent::agent_started().of_agent(Some(agent_id.clone())));
            agent_id
        };
        Self { handle, agent_id }
    }

    /// Runs a tool, after approval; it has ended when this goes.
    pub fn tool(&self, name: impl Into<String>) -> ToolRun {
        let tool_id = self.handle.shared.new_id();
        let started = AgentEvent::tool_started(tool_id.clone(), name);
        self.handle.tell(started.of_agent(Some(self.agent_id.clone())));
        ToolRun { handle: self.handle.clone(), tool_id }
    }

    /// Ends the turn and says how it ended, for example with an error's text.
    pub fn settle(self, outcome: TurnOutcome, message: Option<String>) {
        let settled = AgentEvent::agent_settled().of_agent(Some(self.agent_id.clone()));
        self.handle.tell(settled.with_outcome(outcome, message));
    }

    /// Asks a person; blocked until this goes.
    pub fn prompt(&self, prompt: Prompt) -> OpenPrompt {
        OpenPrompt::open(self.handle.clone(), Some(self.agent_id.clone()), prompt)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let agent_id = self.agent_id.clone();
        self.handle.tell(AgentEvent::agent_settled().of_agent(Some(agent_id)));
        if self.agent_id.is_main() {
            // Last: a turn that began as the main agent's before this one has
            // settled would be settled with it.
            self.handle.shared.give_main_turn_back();
        }
    }
}

/// A tool that runs.
#[derive(Debug)]
#[must_use = "the tool has ended when this is dropped"]
pub struct ToolRun {
    handle: Handle,
    tool_id: EventId,
}

impl Drop for ToolRun {
    fn drop(&mut self) {
        self.handle.tell(AgentEvent::tool_finished(self.tool_id.clone()));
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
        handle.tell(opened.of_agent(agent_id));
        Self { handle, prompt_id }
    }
}

impl Drop for OpenPrompt {
    fn drop(&mut self) {
        self.handle.tell(AgentEvent::prompt_closed(self.prompt_id.clone()));
    }
}
