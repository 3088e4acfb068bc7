//! Begin and end in one value: what a guard began ends when it goes, however
//! it goes (failures B23, B27).

use crate::builder::INITIAL_PROMPT;
use crate::event::{AgentEvent, MAIN_AGENT, Prompt};
use crate::handle::Handle;

/// A turn of the agent. Dropping it settles the turn, with every tool and
/// prompt of it that is still open.
#[derive(Debug)]
#[must_use = "the turn ends when the guard is dropped"]
pub struct Turn {
    handle: Handle,
    agent_id: String,
}

impl Turn {
    /// The first turn is the main agent's, which takes over one that was
    /// running when the reporter started; overlapping ones have ids of their
    /// own.
    pub(crate) fn begin(handle: Handle) -> Self {
        let started = |agent_id: &str| AgentEvent::AgentStarted { agent_id: agent_id.to_owned() };
        let agent_id = if handle.shared().take_main_turn() {
            let prompt_id = INITIAL_PROMPT.to_owned();
            handle.record_all([AgentEvent::PromptClosed { prompt_id }, started(MAIN_AGENT)]);
            MAIN_AGENT.to_owned()
        } else {
            let agent_id = handle.shared().new_id("turn");
            handle.tell(started(&agent_id));
            agent_id
        };
        Self { handle, agent_id }
    }

    /// Runs a tool, after approval; it has ended when the guard goes.
    pub fn tool(&self, name: impl Into<String>) -> ToolRun {
        let tool_id = self.handle.shared().new_id("tool");
        self.handle.tell(AgentEvent::ToolStarted {
            tool_id: tool_id.clone(),
            tool: name.into(),
            agent_id: self.agent_id.clone(),
        });
        ToolRun { handle: self.handle.clone(), tool_id }
    }

    /// Asks a person; blocked until the guard goes.
    pub fn prompt(&self, prompt: Prompt) -> OpenPrompt {
        OpenPrompt::open(self.handle.clone(), Some(self.agent_id.clone()), prompt)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let agent_id = std::mem::take(&mut self.agent_id);
        let main = agent_id == MAIN_AGENT;
        self.handle.tell(AgentEvent::AgentSettled { agent_id });
        if main {
            // Last: a turn that began as the main agent's before this one has
            // settled would be settled with it.
            self.handle.shared().give_main_turn_back();
        }
    }
}

/// A tool that runs.
#[derive(Debug)]
#[must_use = "the tool has ended when the guard is dropped"]
pub struct ToolRun {
    handle: Handle,
    tool_id: String,
}

impl Drop for ToolRun {
    fn drop(&mut self) {
        let tool_id = std::mem::take(&mut self.tool_id);
        self.handle.tell(AgentEvent::ToolFinished { tool_id });
    }
}

/// A prompt that waits for a person.
#[derive(Debug)]
#[must_use = "the prompt is closed when the guard is dropped"]
pub struct OpenPrompt {
    handle: Handle,
    prompt_id: String,
}

impl OpenPrompt {
    pub(crate) fn open(handle: Handle, agent_id: Option<String>, prompt: Prompt) -> Self {
        let prompt_id = handle.shared().new_id("prompt");
        handle.tell(AgentEvent::PromptOpened { prompt_id: prompt_id.clone(), prompt, agent_id });
        Self { handle, prompt_id }
    }
}

impl Drop for OpenPrompt {
    fn drop(&mut self) {
        let prompt_id = std::mem::take(&mut self.prompt_id);
        self.handle.tell(AgentEvent::PromptClosed { prompt_id });
    }
}
