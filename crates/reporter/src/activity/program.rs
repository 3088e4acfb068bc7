use std::collections::BTreeMap;

use herdr_program_status::{BlockedKind, State};
use herdr_proto::{PresentationText, ReportState};

use super::Activity;
use super::snapshot::{SUSPENDED, reason_text};
use super::work::Reason;
use crate::config::{Config, Privacy};
use crate::event::{EventId, PromptKind, TurnOutcome};

/// What a terminal should show: the agent's own record, and one for each subagent and workflow run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) root: Record,
    pub(crate) parts: BTreeMap<PartId, Record>,
}

/// A part of the agent's program that has its own record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PartId {
    /// An agent other than the main one.
    Agent(EventId),
    /// A run of a workflow provider.
    Run(String, PresentationText),
}

/// The content of one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) state: State,
    /// What the blocked agent waits for; `None` in other states.
    pub(crate) kind: Option<BlockedKind>,
    /// In percent; `None` unless working or blocked.
    pub(crate) progress: Option<u8>,
    pub(crate) title: Option<PresentationText>,
    /// The reason for the state.
    pub(crate) message: Option<PresentationText>,
}

impl Record {
    fn new(state: State) -> Self {
        Self { state, kind: None, progress: None, title: None, message: None }
    }
}

impl Program {
    /// The same program while its process is stopped.
    pub(crate) fn suspended(self) -> Self {
        let message = PresentationText::normalize(SUSPENDED);
        let root = Record { title: self.root.title, message, ..Record::new(State::Idle) };
        Self { root, parts: BTreeMap::new() }
    }
}

impl Activity {
    /// What a terminal should show with these settings; `None` while there is no state to show.
    pub(crate) fn program(&self, config: &Config) -> Option<Program> {
        let state = self.state()?;
        let mut root = match state {
            ReportState::Blocked => {
                let kind = match self.work.reason(state) {
                    Some(Reason::Prompt(kind, _)) => blocked_kind(kind),
                    _ => None,
                };
                Record { kind, ..Record::new(State::Blocked) }
            }
            ReportState::Working => Record::new(State::Working),
            ReportState::Idle | ReportState::Unknown => self.rest(config),
        };
        if matches!(root.state, State::Blocked | State::Working) {
            root.progress = self.progress();
        }
        root.title = self.shown_title(config);
        root.message = root.message.or_else(|| self.reason(state, config));
        let agents = self.work.agents.iter().filter(|agent| !agent.is_main());
        let agents = agents.map(|agent| (PartId::Agent(agent.clone()), self.agent(agent, config)));
        let providers = self.work.providers.iter();
        let runs = providers.flat_map(|(provider, known)| {
            known.runs.iter().map(|(name, waits)| {
                (PartId::Run(provider.clone(), name.clone()), run(name, *waits, config))
            })
        });
        Some(Program { root, parts: agents.chain(runs).collect() })
    }

    /// The progress of the main agent's turn, in percent.
    pub(super) fn progress(&self) -> Option<u8> {
        self.work.progress.get(&EventId::default()).copied()
    }

    /// The record of an agent that rests, which shows how its last turn ended.
    fn rest(&self, config: &Config) -> Record {
        let (state, message) = match &self.work.end {
            Some((TurnOutcome::Done, message)) => (State::Done, message.clone()),
            Some((TurnOutcome::Error, message)) => (State::Error, message.clone()),
            Some((TurnOutcome::Cancelled, _)) | None => (State::Idle, None),
        };
        let reason = message.map(Reason::Error);
        let message = reason.and_then(|reason| reason_text(reason, ReportState::Idle, config));
        Record { message, ..Record::new(state) }
    }

    /// The record of a subagent.
    fn agent(&self, agent: &EventId, config: &Config) -> Record {
        let progress = self.work.progress.get(agent).copied();
        let prompts = self.work.prompts.iter();
        if let Some(prompt) = prompts.rev().find(|prompt| prompt.agent.as_ref() == Some(agent)) {
            let reason = Reason::Prompt(prompt.kind, prompt.label.clone());
            let message = reason_text(reason, ReportState::Blocked, config);
            let kind = blocked_kind(prompt.kind);
            return Record { kind, progress, message, ..Record::new(State::Blocked) };
        }
        let mut tools = self.work.tools.iter().rev().filter(|tool| tool.agent == *agent);
        let tool = tools.find_map(|tool| tool.name.clone());
        let message =
            tool.and_then(|tool| reason_text(Reason::Tool(tool), ReportState::Working, config));
        Record { progress, message, ..Record::new(State::Working) }
    }
}

/// The record of a workflow run. The run's name is one of the host's texts.
fn run(name: &PresentationText, waits: bool, config: &Config) -> Record {
    let state = if waits { State::Blocked } else { State::Working };
    let title = Some(name.clone()).filter(|_| config.privacy == Privacy::Text);
    let waits = waits.then_some(Reason::Run(None));
    let message = waits.and_then(|reason| reason_text(reason, ReportState::Blocked, config));
    Record { title, message, ..Record::new(state) }
}

fn blocked_kind(kind: PromptKind) -> Option<BlockedKind> {
    match kind {
        PromptKind::Approval => Some(BlockedKind::Permission),
        PromptKind::Question => Some(BlockedKind::Question),
        PromptKind::Auth => Some(BlockedKind::Auth),
        PromptKind::Other => None,
    }
}
