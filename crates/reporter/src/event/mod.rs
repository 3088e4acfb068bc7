//! The event language: what a host says of its agent.

mod fields;
mod id;
mod line;
mod make;
mod near;
mod problem;
mod repair;
mod value;

use std::collections::BTreeMap;

use herdr_proto::{ReportState, StateKey};
use serde::Serialize;

pub use id::{EventId, ID_MAX_BYTES};
pub use line::EventLine;
pub use problem::LineError;
pub use repair::repaired;

/// The agent of a host that has only one. Facts about the pane's session, title, model and usage
/// count only from it.
pub const MAIN_AGENT: &str = "main";

/// One thing that happened to an agent.
///
/// Ids are the host's own. Ends without a beginning and repeated ends change nothing. As JSON,
/// `event` names the kind in snake case and the fields have the names below ([`EventLine::parse`]
/// reads it). Variants may get more fields, so they are made by functions:
/// [`AgentEvent::agent_started`] and its like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentEvent {
    /// A session began or goes on. It makes the state and the presentation go out again. Another
    /// session than before forgets the model, window and usage that it does not give, and ends what
    /// the main agent left open, unless its reason is `compact`.
    SessionStarted(SessionStarted),
    /// The session is over: everything that runs or waits has ended. The pane stays claimed, as
    /// idle.
    #[non_exhaustive]
    SessionEnded {
        /// Whose session; of another than [`MAIN_AGENT`] it changes nothing.
        agent_id: EventId,
    },
    /// An agent began a turn.
    #[non_exhaustive]
    AgentStarted {
        /// Which one.
        agent_id: EventId,
    },
    /// An agent is done and waits for its next task. It ends the tools and prompts which that agent
    /// left open. This, not the end of a message, is the boundary of idle.
    #[non_exhaustive]
    AgentSettled {
        /// Which one.
        agent_id: EventId,
        /// How its turn ended, if the host says so.
        outcome: Option<TurnOutcome>,
        /// What there is to say about the end, such as an error's text.
        message: Option<String>,
    },
    /// A tool runs, after approval. Started again under its id, it has the new name.
    #[non_exhaustive]
    ToolStarted {
        /// The call's id.
        tool_id: EventId,
        /// The tool's name.
        tool: String,
        /// Who called it.
        agent_id: EventId,
    },
    /// A tool has ended.
    #[non_exhaustive]
    ToolFinished {
        /// The call's id.
        tool_id: EventId,
    },
    /// The agent waits for a person. Opened again under its id, the prompt has the new text.
    #[non_exhaustive]
    PromptOpened {
        /// The prompt's id.
        prompt_id: EventId,
        /// What is asked.
        #[serde(flatten)]
        prompt: Prompt,
        /// Who asks. `None` is a prompt of no turn: no `AgentSettled` ends it.
        agent_id: Option<EventId>,
    },
    /// The person answered, or nobody waits any more.
    #[non_exhaustive]
    PromptClosed {
        /// The prompt's id.
        prompt_id: EventId,
    },
    /// How far an agent's turn has got. Herdr shows it nowhere.
    #[non_exhaustive]
    ProgressChanged {
        /// 0 to 100; `None` is unknown.
        percent: Option<u8>,
        /// Whose turn.
        agent_id: EventId,
    },
    /// What a workflow provider's runs do, as a whole.
    #[non_exhaustive]
    WorkflowSnapshot {
        /// The provider's name.
        provider: String,
        /// Whether the provider knows. While it does not, its last contribution stays; while it
        /// never did, idle is not reported.
        ready: bool,
        /// Runs that execute.
        running: Vec<String>,
        /// Runs that wait for a person.
        waiting: Vec<String>,
    },
    /// A workflow provider cannot say; as a snapshot that is not ready.
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
        /// Whether this is a last word: agents, tools and prompts that are open end first.
        settles: bool,
    },
    /// What the session is about; `None` or blank takes the title off.
    #[non_exhaustive]
    TitleChanged {
        /// The title.
        title: Option<String>,
        /// Whose; of another than [`MAIN_AGENT`] it changes nothing.
        agent_id: EventId,
    },
    /// Which model answers.
    #[non_exhaustive]
    ModelChanged {
        /// Its name; `None` or blank takes it off.
        model: Option<String>,
        /// How many tokens fit; `None` or 0 is unknown.
        context_window: Option<u64>,
        /// Whose; of another than [`MAIN_AGENT`] it changes nothing.
        agent_id: EventId,
    },
    /// How many tokens of the context are used.
    #[non_exhaustive]
    UsageChanged {
        /// The tokens.
        used: u64,
        /// Whose; of another than [`MAIN_AGENT`] it changes nothing.
        agent_id: EventId,
    },
    /// The host's own tokens; `None` takes one off. `model` and `ctx` stand for the derived ones,
    /// and `None` hides those.
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
    /// The pane is given back, and everything said so far is forgotten. The next beginning claims
    /// it again.
    Release,
}

/// A session began or goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SessionStarted {
    /// The session's id.
    pub session_id: String,
    /// Its file, absolute.
    pub session_path: Option<String>,
    /// Why it began: `startup`, `resume`, `clear`, `new`, `fork`, `compact`. With `compact` the
    /// main agent's work goes on in a session of another id.
    pub reason: Option<String>,
    /// What it is about; `None` keeps the present title.
    pub title: Option<String>,
    /// Which model answers; `None` keeps the present one within a session.
    pub model: Option<String>,
    /// How many tokens fit; `None` keeps the present number within a session, 0 is unknown.
    pub context_window: Option<u64>,
    /// How many tokens are used; `None` keeps the present number within a session.
    pub used: Option<u64>,
    /// How a server from 0.9.2 on restarts the agent.
    pub resume_argv: Option<Vec<String>>,
    /// Whose session; of another than [`MAIN_AGENT`] it changes nothing.
    pub agent_id: EventId,
}

impl SessionStarted {
    /// A session of the main agent of which only the id is known.
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

    /// Somebody has to sign in.
    pub fn auth(label: impl Into<String>) -> Self {
        Self { kind: PromptKind::Auth, label: Some(label.into()) }
    }

    /// A prompt without a text of its own.
    pub fn of(kind: PromptKind) -> Self {
        Self { kind, label: None }
    }
}

/// The kind of answer that a prompt wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PromptKind {
    /// Yes or no to something the agent is about to do.
    Approval,
    /// An answer in words or by choice.
    Question,
    /// Somebody has to sign in.
    Auth,
    /// A kind that this version does not know. It blocks all the same.
    Other,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TurnOutcome {
    /// The task is done.
    Done,
    /// It went wrong.
    Error,
    /// A person ended it.
    Cancelled,
}
