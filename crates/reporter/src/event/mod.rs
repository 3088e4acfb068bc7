//! The event language: what a host says about its agent.

mod error;
mod fields;
mod id;
mod line;
mod make;
mod names;
mod repair;
mod value;

use std::collections::BTreeMap;

use herdr_proto::{ReportState, StateKey};
use serde::Serialize;

pub use error::LineError;
pub use id::{EventId, ID_MAX_BYTES};
pub use line::EventLine;
pub use repair::repaired;

/// The id of the main agent, which is the only agent of most hosts. The session, title, model and
/// usage of other agents are ignored.
pub const MAIN_AGENT: &str = "main";

/// One thing that happened to an agent.
///
/// The host chooses the ids. An end without a beginning and a repeated end change nothing. In JSON,
/// `event` is the variant's name in snake case, and the fields have the names below
/// ([`EventLine::parse`] reads it). Variants may get more fields later, so there is a function for
/// each, such as [`AgentEvent::agent_started`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentEvent {
    /// A session began or continues. The state and the presentation are sent again. If the session
    /// is not the same as before, the model, context window and usage that it does not give are
    /// forgotten, and everything that the main agent left open ends, unless the reason is
    /// `compact`.
    SessionStarted(SessionStarted),
    /// The session has ended, and so has everything that runs or waits. The pane stays claimed and
    /// is idle.
    #[non_exhaustive]
    SessionEnded {
        /// The agent of the session. Only [`MAIN_AGENT`] counts.
        agent_id: EventId,
    },
    /// An agent has begun a turn.
    #[non_exhaustive]
    AgentStarted {
        /// The agent.
        agent_id: EventId,
    },
    /// An agent has finished its turn and waits for its next task. The tools and prompts that it
    /// left open end too. The agent is idle from here on, not already from the end of a message.
    #[non_exhaustive]
    AgentSettled {
        /// The agent.
        agent_id: EventId,
        /// How its turn ended, if the host knows.
        outcome: Option<TurnOutcome>,
        /// A text about the end, such as an error message.
        message: Option<String>,
    },
    /// A tool has started to run, after its approval. If a tool with this id is already running, it
    /// gets the new name.
    #[non_exhaustive]
    ToolStarted {
        /// The call's id.
        tool_id: EventId,
        /// The tool's name.
        tool: String,
        /// The agent that called the tool.
        agent_id: EventId,
    },
    /// A tool has ended.
    #[non_exhaustive]
    ToolFinished {
        /// The call's id.
        tool_id: EventId,
    },
    /// The agent has started to wait for a person. If a prompt with this id is already open, it
    /// gets the new text.
    #[non_exhaustive]
    PromptOpened {
        /// The prompt's id.
        prompt_id: EventId,
        /// What is asked.
        #[serde(flatten)]
        prompt: Prompt,
        /// The agent that asks. `None` is a prompt that belongs to no turn, so no `AgentSettled`
        /// ends it.
        agent_id: Option<EventId>,
    },
    /// The person has answered, or the agent no longer waits.
    #[non_exhaustive]
    PromptClosed {
        /// The prompt's id.
        prompt_id: EventId,
    },
    /// The progress of an agent's turn. Herdr shows it only as a token.
    #[non_exhaustive]
    ProgressChanged {
        /// 0 to 100; `None` means unknown.
        percent: Option<u8>,
        /// The agent whose turn it is.
        agent_id: EventId,
    },
    /// All runs of a workflow provider.
    #[non_exhaustive]
    WorkflowSnapshot {
        /// The provider's name.
        provider: String,
        /// Whether the provider knows its runs. If not, its last snapshot stays; if it has never
        /// known them, idle is not reported.
        ready: bool,
        /// Runs that are executing.
        running: Vec<String>,
        /// Runs that wait for a person.
        waiting: Vec<String>,
    },
    /// A workflow provider does not know its runs. This is the same as a snapshot that is not
    /// ready.
    #[non_exhaustive]
    WorkflowUnavailable {
        /// The provider's name.
        provider: String,
    },
    /// The state, from a host that knows only states.
    #[non_exhaustive]
    StateSet {
        /// Idle, working or blocked.
        state: ReportState,
        /// Why.
        label: Option<String>,
        /// Whether everything that is open ends first: agents, tools and prompts.
        settles: bool,
    },
    /// The title, which says what the session is about.
    #[non_exhaustive]
    TitleChanged {
        /// The title; `None` or blank clears it.
        title: Option<String>,
        /// The agent. Only [`MAIN_AGENT`] counts.
        agent_id: EventId,
    },
    /// Which model answers.
    #[non_exhaustive]
    ModelChanged {
        /// Its name; `None` or blank clears it.
        model: Option<String>,
        /// How many tokens its context window holds; `None` or 0 means unknown.
        context_window: Option<u64>,
        /// The agent. Only [`MAIN_AGENT`] counts.
        agent_id: EventId,
    },
    /// How many tokens of the context window are used.
    #[non_exhaustive]
    UsageChanged {
        /// The number of tokens.
        used: u64,
        /// The agent. Only [`MAIN_AGENT`] counts.
        agent_id: EventId,
    },
    /// The host's own tokens; `None` clears a token. For a derived token such as `model` or `ctx`,
    /// a text replaces it and `None` hides it.
    #[non_exhaustive]
    TokensChanged {
        /// Each key with its new text.
        tokens: BTreeMap<String, Option<String>>,
    },
    /// Texts for states; `None` falls back to the configured one.
    #[non_exhaustive]
    LabelsChanged {
        /// Each state with its new text.
        labels: BTreeMap<StateKey, Option<String>>,
    },
    /// The pane is given back, and all earlier events are forgotten. The pane is claimed again when
    /// something begins.
    Release,
}

/// A session began or goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SessionStarted {
    /// The session's id.
    pub session_id: String,
    /// The absolute path of its file.
    pub session_path: Option<String>,
    /// Why it began: `startup`, `resume`, `clear`, `new`, `fork` or `compact`. With `compact`, the
    /// main agent's work goes on in a session with another id.
    pub reason: Option<String>,
    /// The title; `None` keeps the present title.
    pub title: Option<String>,
    /// Which model answers; `None` keeps the present model within a session.
    pub model: Option<String>,
    /// How many tokens the context window holds; `None` keeps the present number within a session,
    /// and 0 means unknown.
    pub context_window: Option<u64>,
    /// How many tokens of the context window are used; `None` keeps the present number within a
    /// session.
    pub used: Option<u64>,
    /// The command with which a server from 0.9.2 on restarts the agent.
    pub resume_argv: Option<Vec<String>>,
    /// The agent of the session. Only [`MAIN_AGENT`] counts.
    pub agent_id: EventId,
}

impl SessionStarted {
    /// A session of the main agent. Only its id is known.
    pub fn new(session_id: impl Into<String>) -> Self {
        Self { session_id: session_id.into(), ..Self::default() }
    }
}

/// What an agent waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Prompt {
    /// The kind of answer.
    pub kind: PromptKind,
    /// The question, as a text for people.
    pub label: Option<String>,
}

impl Prompt {
    /// The person is asked to allow something.
    pub fn approval(label: impl Into<String>) -> Self {
        Self { kind: PromptKind::Approval, label: Some(label.into()) }
    }

    /// The person is asked a question.
    pub fn question(label: impl Into<String>) -> Self {
        Self { kind: PromptKind::Question, label: Some(label.into()) }
    }

    /// The person has to sign in.
    pub fn auth(label: impl Into<String>) -> Self {
        Self { kind: PromptKind::Auth, label: Some(label.into()) }
    }

    /// A prompt without a text.
    pub fn of(kind: PromptKind) -> Self {
        Self { kind, label: None }
    }
}

/// The kind of answer that a prompt wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PromptKind {
    /// Yes or no to something that the agent is about to do.
    Approval,
    /// An answer in words or a choice.
    Question,
    /// The person has to sign in.
    Auth,
    /// A kind that this version does not know. The agent is blocked all the same.
    Other,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TurnOutcome {
    /// The task is done.
    Done,
    /// An error ended the turn.
    Error,
    /// A person ended the turn.
    Cancelled,
}
