use std::fmt;
use std::time::Duration;

use herdr_proto::{ReportState, StateKey, strip_controls};
use serde_json::Value;

use super::fields::Fields;
use super::{AgentEvent, Prompt, PromptKind, SessionStarted};

/// One line of the event language.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventLine {
    /// Something happened.
    Event(AgentEvent),
    /// The host wants to know when everything before it has been delivered.
    Flush {
        /// What the answer is to carry; `None` answers with null.
        id: Option<String>,
        /// How long to wait at most.
        timeout: Duration,
    },
}

/// How long a flush waits if it does not say.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// Longest unknown name that a message repeats.
const NAME_SHOWN: usize = 40;

impl EventLine {
    /// Reads one JSON line; surrounding blanks do not matter, and a blank line
    /// is `None`. Unknown fields are ignored.
    ///
    /// # Errors
    ///
    /// [`LineError`] says what is wrong and what would be right, without
    /// repeating values.
    ///
    /// ```
    /// use reporter::EventLine;
    /// assert!(EventLine::parse(br#"{"event": "agent_started"}"#).unwrap().is_some());
    /// assert!(EventLine::parse(b"  ").unwrap().is_none());
    /// let error = EventLine::parse(br#"{"event": "usage_changed", "used": "5"}"#).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "usage_changed: `used` is a text; expected a whole number from 0 on",
    /// );
    /// ```
    pub fn parse(line: &[u8]) -> Result<Option<Self>, LineError> {
        let line = line.trim_ascii();
        if line.is_empty() {
            return Ok(None);
        }
        parse(line).map(Some).map_err(LineError)
    }
}

/// Why a line is no event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineError(LineProblem);

impl LineError {
    /// The problem, for a program.
    pub fn problem(&self) -> &LineProblem {
        &self.0
    }
}

/// Why a line is no event, by what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineProblem {
    /// It is no JSON; the column where reading stopped.
    NotJson(usize),
    /// It is JSON, but no object.
    NotAnObject,
    /// It has no `event`, or one that is no text.
    NoKind,
    /// Its `event` is none that this version knows; the name, cleaned and cut.
    UnknownKind(String),
    /// A field is missing or wrong.
    Field {
        /// The event.
        event: &'static str,
        /// The field.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
        /// What would be right.
        expected: &'static str,
    },
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            LineProblem::NotJson(column) => {
                write!(f, "no JSON (column {column}); expected an object such as {EXAMPLE}")
            }
            LineProblem::NotAnObject => {
                write!(f, "JSON, but no object; expected an object such as {EXAMPLE}")
            }
            LineProblem::NoKind => {
                write!(f, "`event` is missing or no text; expected an object such as {EXAMPLE}")
            }
            LineProblem::UnknownKind(kind) => write!(f, "unknown event `{kind}`"),
            LineProblem::Field { event, field, problem, expected } => {
                write!(f, "{event}: `{field}` {problem}; expected {expected}")
            }
        }
    }
}

impl std::error::Error for LineError {}

const EXAMPLE: &str = r#"{"event": "agent_started"}"#;

fn parse(line: &[u8]) -> Result<EventLine, LineProblem> {
    let value: Value =
        serde_json::from_slice(line).map_err(|error| LineProblem::NotJson(error.column()))?;
    let Value::Object(mut map) = value else { return Err(LineProblem::NotAnObject) };
    let Some(Value::String(kind)) = map.remove("event") else { return Err(LineProblem::NoKind) };
    let Some(kind) = KINDS.iter().find(|known| **known == kind) else {
        return Err(LineProblem::UnknownKind(shown(&kind)));
    };
    event(kind, &mut Fields::new(kind, &mut map))
}

/// A name of somebody else's, cleaned and cut.
fn shown(name: &str) -> String {
    strip_controls(name).chars().take(NAME_SHOWN).collect()
}

const KINDS: [&str; 18] = [
    "session_started",
    "session_ended",
    "agent_started",
    "agent_settled",
    "tool_started",
    "tool_finished",
    "prompt_opened",
    "prompt_closed",
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

fn event(kind: &str, fields: &mut Fields<'_>) -> Result<EventLine, LineProblem> {
    let event = match kind {
        "session_started" => AgentEvent::SessionStarted(SessionStarted {
            session_id: fields.id("session_id")?,
            session_path: fields.text("session_path")?,
            reason: fields.text("reason")?,
            title: fields.text("title")?,
            model: fields.text("model")?,
            context_window: fields.number("context_window")?,
            used: fields.number("used")?,
            resume_argv: fields.texts("resume_argv")?,
            agent_id: fields.agent()?,
        }),
        "session_ended" => AgentEvent::SessionEnded { agent_id: fields.agent()? },
        "agent_started" => AgentEvent::AgentStarted { agent_id: fields.agent()? },
        "agent_settled" => AgentEvent::AgentSettled { agent_id: fields.agent()? },
        "tool_started" => AgentEvent::ToolStarted {
            tool_id: fields.id("tool_id")?,
            tool: fields.id("tool")?,
            agent_id: fields.agent()?,
        },
        "tool_finished" => AgentEvent::ToolFinished { tool_id: fields.id("tool_id")? },
        "prompt_opened" => AgentEvent::PromptOpened {
            prompt_id: fields.id("prompt_id")?,
            prompt: Prompt { kind: prompt_kind(fields)?, label: fields.text("label")? },
            agent_id: fields.agent_or_nobody()?,
        },
        "prompt_closed" => AgentEvent::PromptClosed { prompt_id: fields.id("prompt_id")? },
        "workflow_snapshot" => AgentEvent::WorkflowSnapshot {
            provider: fields.id("provider")?,
            ready: fields.flag("ready")?,
            running: fields.texts("running")?.unwrap_or_default(),
            waiting: fields.texts("waiting")?.unwrap_or_default(),
        },
        "workflow_unavailable" => {
            AgentEvent::WorkflowUnavailable { provider: fields.id("provider")? }
        }
        "state_set" => AgentEvent::StateSet { state: state(fields)?, label: fields.text("label")? },
        "title_changed" => AgentEvent::TitleChanged {
            title: fields.nullable_text("title")?,
            agent_id: fields.agent()?,
        },
        "model_changed" => AgentEvent::ModelChanged {
            model: fields.nullable_text("model")?,
            context_window: fields.number("context_window")?,
            agent_id: fields.agent()?,
        },
        "usage_changed" => AgentEvent::UsageChanged {
            used: fields.required_number("used")?,
            agent_id: fields.agent()?,
        },
        "tokens_changed" => AgentEvent::TokensChanged { tokens: fields.text_map("tokens")? },
        "labels_changed" => AgentEvent::LabelsChanged {
            labels: fields
                .text_map("labels")?
                .into_iter()
                .map(|(key, text)| Ok((state_key(fields, &key)?, text)))
                .collect::<Result<_, _>>()?,
        },
        "release" => AgentEvent::Release,
        _ => {
            let timeout = fields.number("timeout_ms")?.map_or(FLUSH_TIMEOUT, Duration::from_millis);
            return Ok(EventLine::Flush { id: fields.text("id")?, timeout });
        }
    };
    Ok(EventLine::Event(event))
}

fn prompt_kind(fields: &mut Fields<'_>) -> Result<PromptKind, LineProblem> {
    Ok(match fields.id("kind")?.as_str() {
        "approval" => PromptKind::Approval,
        "question" => PromptKind::Question,
        _ => PromptKind::Other,
    })
}

fn state(fields: &mut Fields<'_>) -> Result<ReportState, LineProblem> {
    let word = fields.id("state")?;
    [ReportState::Idle, ReportState::Working, ReportState::Blocked]
        .into_iter()
        .find(|state| state.as_str() == word)
        .ok_or_else(|| fields.problem("state", "is no such state", "idle, working or blocked"))
}

fn state_key(fields: &Fields<'_>, word: &str) -> Result<StateKey, LineProblem> {
    StateKey::ALL.into_iter().find(|key| key.as_str() == word).ok_or_else(|| {
        fields.problem(
            "labels",
            format!("has `{}`, which is no state", shown(word)),
            "only idle, working, blocked, done and unknown",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(line: &str) -> String {
        EventLine::parse(line.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn each_mistake_names_what_where_and_what_would_be_right() {
        for (line, expected) in [
            ("{not json", "no JSON (column 2)"),
            ("[1,2]", "JSON, but no object"),
            ("\"text\"", "JSON, but no object"),
            ("{}", "`event` is missing"),
            (r#"{"event": 5}"#, "`event` is missing or no text"),
            (r#"{"event": "nonsense", "x": 1}"#, "unknown event `nonsense`"),
            (r#"{"event": "tool_started", "tool_id": "t"}"#, "tool_started: `tool` is missing"),
            (r#"{"event": "state_set", "state": "done"}"#, "expected idle, working or blocked"),
            (r#"{"event": "usage_changed", "used": -1}"#, "`used` is another number"),
            (r#"{"event": "usage_changed", "used": 1.5}"#, "a whole number"),
            (r#"{"event": "labels_changed", "labels": {"busy": "x"}}"#, "only idle, working"),
            (r#"{"event": "tokens_changed", "tokens": {"a": 1}}"#, "an object of texts and nulls"),
            (r#"{"event": "title_changed"}"#, "`title` is missing; expected a text or null"),
        ] {
            assert!(reason(line).contains(expected), "{line}: {}", reason(line));
        }
    }

    #[test]
    fn values_are_never_repeated() {
        let secret = r#"{"event": "usage_changed", "used": "hunter2"}"#;
        assert!(!reason(secret).contains("hunter2"));
    }

    #[test]
    fn whole_numbers_of_other_writers_are_taken() {
        for used in ["12400", "12400.0", "1.24e4"] {
            let line = format!(r#"{{"event": "usage_changed", "used": {used}}}"#);
            let Some(EventLine::Event(AgentEvent::UsageChanged { used, .. })) =
                EventLine::parse(line.as_bytes()).unwrap()
            else {
                panic!("{line}");
            };
            assert_eq!(used, 12_400);
        }
    }

    #[test]
    fn null_is_nobody_for_a_prompt_and_the_main_agent_elsewhere() {
        let parse = |line: &str| EventLine::parse(line.as_bytes()).unwrap().unwrap();
        let prompt =
            parse(r#"{"event": "prompt_opened", "prompt_id": "p", "kind": "x", "agent_id": null}"#);
        assert!(matches!(
            prompt,
            EventLine::Event(AgentEvent::PromptOpened {
                agent_id: None,
                prompt: Prompt { kind: PromptKind::Other, .. },
                ..
            })
        ));
        assert_eq!(
            parse(r#"{"event": "agent_started", "agent_id": null}"#),
            EventLine::Event(AgentEvent::AgentStarted { agent_id: "main".into() })
        );
        assert_eq!(
            parse(r#"{"event": "flush"}"#),
            EventLine::Flush { id: None, timeout: Duration::from_secs(5) }
        );
    }
}
