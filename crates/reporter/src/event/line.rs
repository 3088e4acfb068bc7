use std::time::Duration;

use serde_json::error::Category;

use super::fields::{
    ANY_ID, FLAG, Fields, ID, LABELS, NAME, NUMBER, OUTCOME, PERCENT, PROMPT, STATE, TEXT,
    TEXT_MAP, TEXTS,
};
use super::names::shown;
use super::repair::repaired;
use super::value::Value;
use super::{AgentEvent, LineError, Prompt, SessionStarted};

/// One line of the event language.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventLine {
    /// Something happened.
    Event(AgentEvent),
    /// The host asks to be told when everything before this line has been delivered.
    Flush {
        /// The id of the answer: a text, a number or null.
        id: serde_json::Value,
        /// The longest wait.
        timeout: Duration,
    },
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

impl EventLine {
    /// Reads one JSON line. Surrounding whitespace and unknown fields are ignored; a blank line
    /// gives `None`.
    ///
    /// # Errors
    ///
    /// [`LineError`] says what is wrong and what is expected, without repeating values.
    pub fn parse(line: &[u8]) -> Result<Option<Self>, LineError> {
        // Some programs begin a file with this mark, so it is part of the first line.
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii();
        if line.is_empty() {
            return Ok(None);
        }
        parse(line).map(Some)
    }
}

fn parse(line: &[u8]) -> Result<EventLine, LineError> {
    let repaired_line;
    let value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => {
            repaired_line = repaired(line);
            serde_json::from_str(&repaired_line).map_err(|_| not_json(&error))?
        }
    };
    let Value::Object(fields) = value else { return Err(LineError::NotAnObject) };
    let mut fields = Fields::of(fields);
    let Some(Value::Text(event)) = fields.take("event") else { return Err(LineError::NoKind) };
    let Some(event) = EVENTS.into_iter().find(|known| *known == event) else {
        return Err(LineError::UnknownKind(shown(&event)));
    };
    fields.event = event;
    read(event, &mut fields)
}

fn not_json(error: &serde_json::Error) -> LineError {
    // `serde_json` has no other sign of this error than its text. A test checks the text.
    const TOO_DEEP: &str = "recursion limit exceeded";
    let column = error.column();
    if error.to_string().starts_with(TOO_DEEP) {
        LineError::TooDeep(column)
    } else if error.classify() == Category::Eof {
        LineError::CutOff(column)
    } else {
        LineError::NotJson(column)
    }
}

/// The names of all events.
pub(super) const EVENTS: [&str; 19] = [
    "session_started",
    "session_ended",
    "agent_started",
    "agent_settled",
    "tool_started",
    "tool_finished",
    "prompt_opened",
    "prompt_closed",
    "progress_changed",
    "workflow_snapshot",
    "workflow_unavailable",
    "state_set",
    "title_changed",
    "model_changed",
    "usage_changed",
    "tokens_changed",
    "labels_changed",
    "release",
    "flush",
];

fn read(event: &str, fields: &mut Fields<'_>) -> Result<EventLine, LineError> {
    let event = match event {
        "session_started" => AgentEvent::SessionStarted(SessionStarted {
            session_id: fields.required("session_id", ID)?,
            session_path: fields.optional("session_path", TEXT)?,
            reason: fields.optional("reason", TEXT)?,
            title: fields.optional("title", TEXT)?,
            model: fields.optional("model", TEXT)?,
            context_window: fields.optional("context_window", NUMBER)?,
            used: fields.optional("used", NUMBER)?,
            resume_argv: fields.optional("resume_argv", TEXTS)?,
            agent_id: fields.agent()?,
        }),
        "session_ended" => AgentEvent::SessionEnded { agent_id: fields.agent()? },
        "agent_started" => AgentEvent::AgentStarted { agent_id: fields.agent()? },
        "agent_settled" => AgentEvent::AgentSettled {
            agent_id: fields.agent()?,
            outcome: fields.optional("outcome", OUTCOME)?.flatten(),
            message: fields.optional("message", TEXT)?,
        },
        "tool_started" => AgentEvent::ToolStarted {
            tool_id: fields.required("tool_id", ID)?.into(),
            tool: fields.required("tool", NAME)?,
            agent_id: fields.agent()?,
        },
        "tool_finished" => {
            AgentEvent::ToolFinished { tool_id: fields.required("tool_id", ID)?.into() }
        }
        "prompt_opened" => AgentEvent::PromptOpened {
            prompt_id: fields.required("prompt_id", ID)?.into(),
            prompt: Prompt {
                kind: fields.required("kind", PROMPT)?,
                label: fields.optional("label", TEXT)?,
            },
            agent_id: fields.agent_or_none()?,
        },
        "prompt_closed" => {
            AgentEvent::PromptClosed { prompt_id: fields.required("prompt_id", ID)?.into() }
        }
        "progress_changed" => AgentEvent::ProgressChanged {
            percent: fields.nullable("percent", PERCENT)?,
            agent_id: fields.agent()?,
        },
        "workflow_snapshot" => AgentEvent::WorkflowSnapshot {
            provider: fields.required("provider", ID)?,
            ready: fields.required("ready", FLAG)?,
            running: fields.optional("running", TEXTS)?.unwrap_or_default(),
            waiting: fields.optional("waiting", TEXTS)?.unwrap_or_default(),
        },
        "workflow_unavailable" => {
            AgentEvent::WorkflowUnavailable { provider: fields.required("provider", ID)? }
        }
        "state_set" => AgentEvent::StateSet {
            state: fields.required("state", STATE)?,
            label: fields.optional("label", TEXT)?,
            settles: fields.optional("settles", FLAG)?.unwrap_or(false),
        },
        "title_changed" => AgentEvent::TitleChanged {
            title: fields.nullable("title", TEXT)?,
            agent_id: fields.agent()?,
        },
        "model_changed" => AgentEvent::ModelChanged {
            model: fields.nullable("model", TEXT)?,
            context_window: fields.optional("context_window", NUMBER)?,
            agent_id: fields.agent()?,
        },
        "usage_changed" => AgentEvent::UsageChanged {
            used: fields.required("used", NUMBER)?,
            agent_id: fields.agent()?,
        },
        "tokens_changed" => {
            AgentEvent::TokensChanged { tokens: fields.required("tokens", TEXT_MAP)? }
        }
        "labels_changed" => {
            AgentEvent::LabelsChanged { labels: fields.required("labels", LABELS)? }
        }
        "release" => AgentEvent::Release,
        "flush" => {
            let timeout =
                fields.optional("timeout_ms", NUMBER)?.map_or(FLUSH_TIMEOUT, Duration::from_millis);
            let id = fields.optional("id", ANY_ID)?.unwrap_or_default();
            return Ok(EventLine::Flush { id, timeout });
        }
        _ => unreachable!("each of the known events is read above"),
    };
    Ok(EventLine::Event(event))
}
