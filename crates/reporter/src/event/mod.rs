//! The event language: what a host says of its agent.

mod fields;
mod line;
mod near;
mod problem;

use std::collections::BTreeMap;

use herdr_proto::{ReportState, StateKey};

pub use line::EventLine;
pub use problem::{LineError, LineProblem};

/// The agent of a host that has only one. Facts about the pane's session,
/// title, model and usage count only from it.
pub const MAIN_AGENT: &str = "main";

/// Longest id of an agent, tool, prompt, provider or run, in bytes. Ids are
/// kept as long as something is open, so they are bounded.
pub const ID_MAX_BYTES: usize = 1024;

/// One thing that happened to an agent.
///
/// Ids are the host's own. Ends without a beginning and repeated ends change
/// nothing. As JSON, `event` names the kind in snake case and the fields have
/// the names below ([`EventLine::parse`]).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AgentEvent {
    /// A session began or goes on. It ends nothing that runs, makes the state
    /// and the presentation go out again, and with another id forgets the
    /// model, window and usage that it does not give.
    SessionStarted(SessionStarted),
    /// The session is over: everything that runs or waits has ended. The pane
    /// stays claimed, as idle.
    SessionEnded {
        /// Whose session; of another than [`MAIN_AGENT`] it changes nothing.
        agent_id: String,
    },
    /// An agent began a turn.
    AgentStarted {
        /// Which one.
        agent_id: String,
    },
    /// An agent is done and waits for its next task. It ends the tools and
    /// prompts which that agent left open. This, not the end of a message, is
    /// the boundary of idle.
    AgentSettled {
        /// Which one.
        agent_id: String,
    },
    /// A tool runs, after approval.
    ToolStarted {
        /// The call's id.
        tool_id: String,
        /// The tool's name.
        tool: String,
        /// Who called it.
        agent_id: String,
    },
    /// A tool has ended.
    ToolFinished {
        /// The call's id.
        tool_id: String,
    },
    /// The agent waits for a person.
    PromptOpened {
        /// The prompt's id.
        prompt_id: String,
        /// What is asked.
        prompt: Prompt,
        /// Who asks. `None` is a prompt of no turn: no `AgentSettled` ends it.
        agent_id: Option<String>,
    },
    /// The person answered, or nobody waits any more.
    PromptClosed {
        /// The prompt's id.
        prompt_id: String,
    },
    /// What a workflow provider's runs do, as a whole.
    WorkflowSnapshot {
        /// The provider's name.
        provider: String,
        /// Whether the provider knows. While it is not, its last contribution
        /// stays; while it never was, idle is not reported.
        ready: bool,
        /// Runs that execute.
        running: Vec<String>,
        /// Runs that wait for a person.
        waiting: Vec<String>,
    },
    /// A workflow provider cannot say; as a snapshot that is not ready.
    WorkflowUnavailable {
        /// The provider's name.
        provider: String,
    },
    /// The state, from a host that knows only states.
    StateSet {
        /// Idle, working or blocked.
        state: ReportState,
        /// Why.
        label: Option<String>,
    },
    /// What the session is about; `None` or blank takes the title off.
    TitleChanged {
        /// The title.
        title: Option<String>,
        /// Whose; of another than [`MAIN_AGENT`] it changes nothing.
        agent_id: String,
    },
    /// Which model answers.
    ModelChanged {
        /// Its name; `None` or blank takes it off.
        model: Option<String>,
        /// How many tokens fit; `None` or 0 is unknown.
        context_window: Option<u64>,
        /// Whose; of another than [`MAIN_AGENT`] it changes nothing.
        agent_id: String,
    },
    /// How many tokens of the context are used.
    UsageChanged {
        /// The tokens.
        used: u64,
        /// Whose; of another than [`MAIN_AGENT`] it changes nothing.
        agent_id: String,
    },
    /// The host's own tokens; `None` takes one off. `model` and `ctx` stand
    /// for the derived ones, and `None` hides those.
    TokensChanged {
        /// Each key with its new text.
        tokens: BTreeMap<String, Option<String>>,
    },
    /// Texts for states; `None` falls back to the configured one.
    LabelsChanged {
        /// Each state with its new text.
        labels: BTreeMap<StateKey, Option<String>>,
    },
    /// The pane is given back until the next event.
    Release,
}

impl AgentEvent {
    /// Every id that it carries and that may be kept.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        let ids: [Option<&String>; 3] = match self {
            Self::SessionStarted(session) => {
                [Some(&session.session_id), Some(&session.agent_id), None]
            }
            Self::SessionEnded { agent_id }
            | Self::AgentStarted { agent_id }
            | Self::AgentSettled { agent_id }
            | Self::TitleChanged { agent_id, .. }
            | Self::ModelChanged { agent_id, .. }
            | Self::UsageChanged { agent_id, .. } => [Some(agent_id), None, None],
            Self::ToolStarted { tool_id, tool, agent_id } => {
                [Some(tool_id), Some(tool), Some(agent_id)]
            }
            Self::ToolFinished { tool_id } => [Some(tool_id), None, None],
            Self::PromptOpened { prompt_id, agent_id, .. } => {
                [Some(prompt_id), agent_id.as_ref(), None]
            }
            Self::PromptClosed { prompt_id } => [Some(prompt_id), None, None],
            Self::WorkflowSnapshot { provider, .. } | Self::WorkflowUnavailable { provider } => {
                [Some(provider), None, None]
            }
            Self::StateSet { .. }
            | Self::TokensChanged { .. }
            | Self::LabelsChanged { .. }
            | Self::Release => [None; 3],
        };
        ids.into_iter().flatten().map(String::as_str)
    }
}

/// A session began or goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionStarted {
    /// The session's id.
    pub session_id: String,
    /// Its file, absolute.
    pub session_path: Option<String>,
    /// Why it began: `startup`, `resume`, `clear`, `new`, `fork`, `compact`.
    /// Nothing shown depends on it.
    pub reason: Option<String>,
    /// What it is about; `None` keeps the present title.
    pub title: Option<String>,
    /// Which model answers; `None` keeps the present one within a session.
    pub model: Option<String>,
    /// How many tokens fit; `None` keeps the present number within a session,
    /// 0 is unknown.
    pub context_window: Option<u64>,
    /// How many tokens are used; `None` keeps the present number within a
    /// session.
    pub used: Option<u64>,
    /// How a server from 0.9.2 on restarts the agent.
    pub resume_argv: Option<Vec<String>>,
    /// Whose session; of another than [`MAIN_AGENT`] it changes nothing.
    pub agent_id: String,
}

impl SessionStarted {
    /// A session of the main agent of which only the id is known.
    pub fn new(session_id: impl Into<String>) -> Self {
        Self { session_id: session_id.into(), agent_id: MAIN_AGENT.to_owned(), ..Self::default() }
    }
}

/// What an agent waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prompt {
    /// The kind of answer.
    pub kind: PromptKind,
    /// What is asked, for people.
    pub label: Option<String>,
}

impl Prompt {
    /// Something is to be allowed.
    pub fn approval(label: impl Into<String>) -> Self {
        Self { kind: PromptKind::Approval, label: Some(label.into()) }
    }

    /// Something is to be answered.
    pub fn question(label: impl Into<String>) -> Self {
        Self { kind: PromptKind::Question, label: Some(label.into()) }
    }

    /// A prompt without a text of its own.
    pub fn of(kind: PromptKind) -> Self {
        Self { kind, label: None }
    }
}

/// The kind of answer that a prompt wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PromptKind {
    /// Yes or no to something the agent is about to do.
    Approval,
    /// An answer in words or by choice.
    Question,
    /// A kind that this version does not know. It blocks all the same.
    Other,
}
