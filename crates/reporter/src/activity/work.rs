use std::collections::{BTreeMap, BTreeSet};

use herdr_proto::{PresentationText, ReportState};

use super::{OPEN_MAX, Refused, clean};
use crate::event::{AgentEvent, EventId, PromptKind, TurnOutcome};

/// The most running runs of a provider that are kept by name, and the most waiting ones.
const RUNS_MAX: usize = 32;

/// The most providers that are kept even if they have no runs.
const PROVIDERS_MAX: usize = 64;

#[derive(Debug, Clone, Default)]
pub(super) struct Work {
    pub(super) agents: BTreeSet<EventId>,
    /// In the order of their start.
    pub(super) tools: Vec<Tool>,
    /// In the order of their opening.
    pub(super) prompts: Vec<OpenPrompt>,
    pub(super) providers: BTreeMap<String, Provider>,
    /// The progress of turns, in percent.
    pub(super) progress: BTreeMap<EventId, u8>,
    /// The last state that the host has set directly. Idle is forgotten when something begins.
    set: Option<SetState>,
    /// How the main agent's last turn ended, and the message for that end.
    pub(super) end: Option<(TurnOutcome, Option<PresentationText>)>,
    /// Counts the runs that began to wait, to find the newest one.
    waits: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Tool {
    id: EventId,
    pub(super) name: Option<PresentationText>,
    pub(super) agent: EventId,
}

#[derive(Debug, Clone)]
pub(super) struct OpenPrompt {
    id: EventId,
    pub(super) kind: PromptKind,
    pub(super) label: Option<PresentationText>,
    pub(super) agent: Option<EventId>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Provider {
    /// The provider has been ready once.
    known: bool,
    running: bool,
    /// Each run's name, and whether it waits for a person.
    pub(super) runs: BTreeMap<PresentationText, bool>,
    /// The newest waiting run, and its number in [`Work::waits`].
    waiting: Option<(Option<PresentationText>, u64)>,
}

#[derive(Debug, Clone)]
struct SetState {
    state: ReportState,
    label: Option<PresentationText>,
    settles: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reason {
    /// A prompt is open.
    Prompt(PromptKind, Option<PresentationText>),
    /// A workflow run waits for a person.
    Run(Option<PresentationText>),
    /// A tool runs.
    Tool(PresentationText),
    /// The host has set the state.
    Set(PresentationText),
    /// The host has set the state, and this ended everything that was open.
    SetAtEnd(PresentationText),
    /// The last turn ended with an error.
    Error(PresentationText),
}

impl Work {
    pub(super) fn apply(&mut self, event: AgentEvent) -> Result<(), Refused> {
        let begins = matches!(
            event,
            AgentEvent::AgentStarted { .. }
                | AgentEvent::ToolStarted { .. }
                | AgentEvent::PromptOpened { .. }
        );
        if begins {
            self.set.take_if(|set| set.state == ReportState::Idle);
        }
        match event {
            AgentEvent::AgentStarted { agent_id } => {
                self.check_room(self.agents.contains(&agent_id))?;
                if agent_id.is_main() {
                    self.end = None;
                }
                self.progress.remove(&agent_id);
                self.agents.insert(agent_id);
            }
            AgentEvent::AgentSettled { agent_id, outcome, message } => {
                // A second end without an outcome does not overwrite the first outcome.
                if agent_id.is_main() && (outcome.is_some() || self.agents.contains(&agent_id)) {
                    self.end = outcome.map(|outcome| (outcome, clean(message.as_deref())));
                }
                self.end_agent(&agent_id);
            }
            AgentEvent::ToolStarted { tool_id, tool, agent_id } => {
                let known = self.tools.iter().position(|tool| tool.id == tool_id);
                self.check_room(known.is_some())?;
                let name = PresentationText::normalize(&tool);
                let tool = Tool { id: tool_id, name, agent: agent_id };
                match known {
                    Some(at) => self.tools[at] = tool,
                    None => self.tools.push(tool),
                }
            }
            AgentEvent::ToolFinished { tool_id } => self.tools.retain(|tool| tool.id != tool_id),
            AgentEvent::PromptOpened { prompt_id, prompt, agent_id } => {
                let open = self.prompts.iter().any(|prompt| prompt.id == prompt_id);
                self.check_room(open)?;
                // A prompt that is opened again becomes the newest one.
                self.prompts.retain(|prompt| prompt.id != prompt_id);
                let label = clean(prompt.label.as_deref());
                let kind = prompt.kind;
                self.prompts.push(OpenPrompt { id: prompt_id, kind, label, agent: agent_id });
            }
            AgentEvent::PromptClosed { prompt_id } => {
                self.prompts.retain(|prompt| prompt.id != prompt_id);
            }
            AgentEvent::WorkflowSnapshot { provider, ready: true, running, waiting } => {
                let waits = self.waits + 1;
                let known = self.provider(provider)?;
                known.known = true;
                known.running = !running.is_empty();
                known.runs = runs(&running, &waiting);
                let newest = waiting.last().map(|run| PresentationText::normalize(run));
                if known.waiting.as_ref().map(|(run, _)| run) != newest.as_ref() {
                    known.waiting = newest.map(|run| (run, waits));
                    self.waits = waits;
                }
            }
            AgentEvent::WorkflowSnapshot { provider, .. }
            | AgentEvent::WorkflowUnavailable { provider } => {
                self.provider(provider)?;
            }
            AgentEvent::StateSet { state, label, settles } => {
                if settles {
                    self.agents.clear();
                    self.tools.clear();
                    self.prompts.clear();
                    self.end = None;
                }
                if settles || state == ReportState::Idle {
                    self.progress.clear();
                }
                let label = clean(label.as_deref());
                self.set = Some(SetState { state, label, settles });
            }
            AgentEvent::ProgressChanged { percent, agent_id } => match percent {
                Some(percent) if agent_id.is_main() || self.agents.contains(&agent_id) => {
                    self.progress.insert(agent_id, percent.min(100));
                }
                _ => drop(self.progress.remove(&agent_id)),
            },
            // The other events do not change the work.
            _ => {}
        }
        Ok(())
    }

    /// The main agent begins another session, so everything that it left open has ended, and a
    /// state that was set counts no more.
    pub(super) fn end_main_agent(&mut self) {
        self.end_agent(&EventId::default());
        self.set = None;
        self.end = None;
    }

    /// Ends everything, but keeps how the last turn ended.
    pub(super) fn end_all(&mut self) {
        *self = Self { end: self.end.take(), ..Self::default() };
    }

    /// Ends an agent's turn, and the tools and prompts that it left open.
    fn end_agent(&mut self, agent: &EventId) {
        self.agents.remove(agent);
        self.progress.remove(agent);
        self.tools.retain(|tool| tool.agent != *agent);
        self.prompts.retain(|prompt| prompt.agent.as_ref() != Some(agent));
    }

    pub(super) fn state(&self) -> ReportState {
        let set = |state| self.set.as_ref().is_some_and(|set| set.state == state);
        if self.providers.values().any(|provider| provider.running) {
            ReportState::Working
        } else if !self.prompts.is_empty()
            || self.newest_run().is_some()
            || set(ReportState::Blocked)
        {
            ReportState::Blocked
        } else if !self.agents.is_empty() || !self.tools.is_empty() || set(ReportState::Working) {
            ReportState::Working
        } else {
            ReportState::Idle
        }
    }

    /// Whether every named provider has been ready once.
    pub(super) fn all_providers_known(&self) -> bool {
        self.providers.values().all(|provider| provider.known)
    }

    pub(super) fn reason(&self, state: ReportState) -> Option<Reason> {
        let set = || {
            let set = self.set.as_ref().filter(|set| set.state == state)?;
            let reason = if set.settles { Reason::SetAtEnd } else { Reason::Set };
            set.label.clone().map(reason)
        };
        match state {
            ReportState::Blocked => {
                let prompt = self.prompts.last().map(|p| Reason::Prompt(p.kind, p.label.clone()));
                let run = || self.newest_run().cloned().map(Reason::Run);
                prompt.or_else(run).or_else(set)
            }
            ReportState::Working => {
                let tool = self.tools.iter().rev().find_map(|tool| tool.name.clone());
                tool.map(Reason::Tool).or_else(set)
            }
            ReportState::Idle => match &self.end {
                Some((TurnOutcome::Error, Some(message))) => Some(Reason::Error(message.clone())),
                _ => set(),
            },
            ReportState::Unknown => None,
        }
    }

    fn newest_run(&self) -> Option<&Option<PresentationText>> {
        let waiting = self.providers.values().filter_map(|provider| provider.waiting.as_ref());
        waiting.max_by_key(|(_, since)| *since).map(|(run, _)| run)
    }

    /// If many providers are known, forgets those without runs to make room for a new one.
    fn provider(&mut self, name: String) -> Result<&mut Provider, Refused> {
        let known = self.providers.contains_key(&name);
        if self.providers.len() >= PROVIDERS_MAX && !known {
            self.providers.retain(|_, provider| provider.running || provider.waiting.is_some());
        }
        self.check_room(known)?;
        Ok(self.providers.entry(name).or_default())
    }

    fn check_room(&self, known: bool) -> Result<(), Refused> {
        let open = self.agents.len() + self.tools.len() + self.prompts.len() + self.providers.len();
        if known || open < OPEN_MAX { Ok(()) } else { Err(Refused::TooManyOpen) }
    }
}

/// The runs by name. A run that is in both lists counts as waiting.
fn runs(running: &[String], waiting: &[String]) -> BTreeMap<PresentationText, bool> {
    let named = |waits| move |run: &String| Some((PresentationText::normalize(run)?, waits));
    let running = running.iter().filter_map(named(false)).take(RUNS_MAX);
    running.chain(waiting.iter().filter_map(named(true)).take(RUNS_MAX)).collect()
}
