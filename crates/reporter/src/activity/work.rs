use std::collections::{BTreeMap, BTreeSet};

use herdr_proto::{PresentationText, ReportState};

use super::{OPEN_MAX, Refused, text};
use crate::event::{AgentEvent, EventId, PromptKind, TurnOutcome};

/// Most runs of a provider that are kept by name.
const RUNS_MAX: usize = 32;

/// Most providers that are kept though they may have nothing to say.
const NAMES_MAX: usize = 64;

#[derive(Debug, Clone, Default)]
pub(super) struct Work {
    pub(super) agents: BTreeSet<EventId>,
    /// In the order of their start.
    pub(super) tools: Vec<Tool>,
    /// In the order of their opening.
    pub(super) prompts: Vec<OpenPrompt>,
    pub(super) providers: BTreeMap<String, Provider>,
    /// How far turns have got, in percent.
    pub(super) progress: BTreeMap<EventId, u8>,
    /// What a host that knows only states said last. Idle goes with the next
    /// beginning.
    set: Option<SetState>,
    /// How the main agent's last turn ended, and what was said about it.
    pub(super) end: Option<(TurnOutcome, Option<PresentationText>)>,
    /// Counts what began to wait, to tell which is the newest.
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
    known: bool,
    running: bool,
    /// The runs by name, and whether each waits for a person.
    pub(super) runs: BTreeMap<PresentationText, bool>,
    /// The newest waiting run, and when it began to wait.
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
    /// A workflow run waits.
    Run(Option<PresentationText>),
    /// A tool runs.
    Tool(PresentationText),
    /// The host said so.
    Said(PresentationText),
    /// The host said so, as a last word.
    LastWord(PresentationText),
    /// The last turn went wrong.
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
                self.room(self.agents.contains(&agent_id))?;
                if agent_id.is_main() {
                    self.end = None;
                }
                self.progress.remove(&agent_id);
                self.agents.insert(agent_id);
            }
            AgentEvent::AgentSettled { agent_id, outcome, message } => {
                // A repeated end without an outcome does not take the first one's.
                if agent_id.is_main() && (outcome.is_some() || self.agents.contains(&agent_id)) {
                    self.end = outcome.map(|outcome| (outcome, text::clean(message.as_deref())));
                }
                self.end_agent(&agent_id);
            }
            AgentEvent::ToolStarted { tool_id, tool, agent_id } => {
                let known = self.tools.iter().position(|tool| tool.id == tool_id);
                self.room(known.is_some())?;
                let tool = Tool { id: tool_id, name: text::clean(Some(&tool)), agent: agent_id };
                match known {
                    Some(at) => self.tools[at] = tool,
                    None => self.tools.push(tool),
                }
            }
            AgentEvent::ToolFinished { tool_id } => self.tools.retain(|tool| tool.id != tool_id),
            AgentEvent::PromptOpened { prompt_id, prompt, agent_id } => {
                let open = self.prompts.iter().any(|prompt| prompt.id == prompt_id);
                self.room(open)?;
                // Opened again, it is the newest.
                self.prompts.retain(|prompt| prompt.id != prompt_id);
                let label = text::clean(prompt.label.as_deref());
                let kind = prompt.kind;
                self.prompts.push(OpenPrompt { id: prompt_id, kind, label, agent: agent_id });
            }
            AgentEvent::PromptClosed { prompt_id } => {
                self.prompts.retain(|prompt| prompt.id != prompt_id);
            }
            AgentEvent::WorkflowSnapshot { provider, ready: true, running, waiting } => {
                self.forget_names(&provider);
                self.room(self.providers.contains_key(&provider))?;
                let known = self.providers.entry(provider).or_default();
                known.known = true;
                known.running = !running.is_empty();
                known.runs = runs(&running, &waiting);
                let newest = waiting.last().map(|run| text::clean(Some(run)));
                if known.waiting.as_ref().map(|(run, _)| run) != newest.as_ref() {
                    self.waits += 1;
                    known.waiting = newest.map(|run| (run, self.waits));
                }
            }
            AgentEvent::WorkflowSnapshot { provider, .. }
            | AgentEvent::WorkflowUnavailable { provider } => {
                self.forget_names(&provider);
                self.room(self.providers.contains_key(&provider))?;
                self.providers.entry(provider).or_default();
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
                let label = text::clean(label.as_deref());
                self.set = Some(SetState { state, label, settles });
            }
            AgentEvent::ProgressChanged { percent, agent_id } => match percent {
                Some(percent) if agent_id.is_main() || self.agents.contains(&agent_id) => {
                    self.progress.insert(agent_id, percent.min(100));
                }
                _ => drop(self.progress.remove(&agent_id)),
            },
            // The others do not bear on what runs.
            _ => {}
        }
        Ok(())
    }

    /// The main agent's work is another session's: what it left open has ended,
    /// and so has a state that was set.
    pub(super) fn end_main_agent(&mut self) {
        self.end_agent(&EventId::default());
        self.set = None;
        self.end = None;
    }

    /// Nothing runs or waits any more. How the last turn has ended is still true.
    pub(super) fn end_all(&mut self) {
        *self = Self { end: self.end.take(), ..Self::default() };
    }

    /// An agent's turn has ended, with the tools and prompts that it left open.
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

    /// Whether every provider that was named has been ready once.
    pub(super) fn all_providers_known(&self) -> bool {
        self.providers.values().all(|provider| provider.known)
    }

    pub(super) fn reason(&self, state: ReportState) -> Option<Reason> {
        let said = || {
            let set = self.set.as_ref().filter(|set| set.state == state)?;
            let reason = if set.settles { Reason::LastWord } else { Reason::Said };
            set.label.clone().map(reason)
        };
        match state {
            ReportState::Blocked => {
                let prompt = self.prompts.last().map(|p| Reason::Prompt(p.kind, p.label.clone()));
                let run = || self.newest_run().cloned().map(Reason::Run);
                prompt.or_else(run).or_else(said)
            }
            ReportState::Working => {
                let tool = self.tools.iter().rev().find_map(|tool| tool.name.clone());
                tool.map(Reason::Tool).or_else(said)
            }
            ReportState::Idle => match &self.end {
                Some((TurnOutcome::Error, Some(message))) => Some(Reason::Error(message.clone())),
                _ => said(),
            },
            ReportState::Unknown => None,
        }
    }

    fn newest_run(&self) -> Option<&Option<PresentationText>> {
        let waiting = self.providers.values().filter_map(|provider| provider.waiting.as_ref());
        waiting.max_by_key(|(_, since)| *since).map(|(run, _)| run)
    }

    /// Where many providers were named, a new name takes the place of those that
    /// run nothing and have nothing that waits.
    fn forget_names(&mut self, new: &str) {
        if self.providers.len() >= NAMES_MAX && !self.providers.contains_key(new) {
            self.providers.retain(|_, provider| provider.running || provider.waiting.is_some());
        }
    }

    fn room(&self, known: bool) -> Result<(), Refused> {
        let open = self.agents.len() + self.tools.len() + self.prompts.len() + self.providers.len();
        if known || open < OPEN_MAX { Ok(()) } else { Err(Refused::TooManyOpen) }
    }
}

/// The runs by name; one that also waits does so.
fn runs(running: &[String], waiting: &[String]) -> BTreeMap<PresentationText, bool> {
    let named = |waits| move |run: &String| Some((text::clean(Some(run))?, waits));
    let running = running.iter().filter_map(named(false)).take(RUNS_MAX);
    running.chain(waiting.iter().filter_map(named(true)).take(RUNS_MAX)).collect()
}
