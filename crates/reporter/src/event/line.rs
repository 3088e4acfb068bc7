use std::time::Duration;

use herdr_proto::{ReportState, StateKey};
use serde_json::Value;
use serde_json::error::Category;

use super::fields::Fields;
use super::near::shown;
use super::{AgentEvent, LineError, LineProblem, Prompt, PromptKind, SessionStarted};

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
    /// use herdr_reporter::EventLine;
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

fn parse(line: &[u8]) -> Result<EventLine, LineProblem> {
    let value: Value = serde_json::from_slice(line).map_err(|error| no_json(line, &error))?;
    let Value::Object(mut map) = value else { return Err(LineProblem::NotAnObject) };
    let Some(Value::String(kind)) = map.remove("event") else { return Err(LineProblem::NoKind) };
    let Some(kind) = KINDS.iter().find(|known| **known == kind) else {
        return Err(LineProblem::UnknownKind(shown(&kind)));
    };
    event(kind, &mut Fields::new(kind, &mut map))
}

/// What exactly keeps a line from being JSON.
fn no_json(line: &[u8], error: &serde_json::Error) -> LineProblem {
    // The reader names it only by its words; a test holds it to them.
    const TOO_DEEP: &str = "recursion limit exceeded";
    let column = error.column();
    match std::str::from_utf8(line) {
        Err(wrong) => LineProblem::NotUtf8(wrong.valid_up_to() + 1),
        Ok(_) if error.to_string().starts_with(TOO_DEEP) => LineProblem::TooDeep(column),
        Ok(_) if error.classify() == Category::Eof => LineProblem::CutOff(column),
        Ok(_) => LineProblem::NotJson(column),
    }
}

/// Every event, as lines name it.
pub(super) const KINDS: [&str; 18] = [
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
        "flush" => {
            let timeout = fields.number("timeout_ms")?.map_or(FLUSH_TIMEOUT, Duration::from_millis);
            return Ok(EventLine::Flush { id: fields.text("id")?, timeout });
        }
        _ => unreachable!("each of the known events is read above"),
    };
    Ok(EventLine::Event(event))
}

fn prompt_kind(fields: &mut Fields<'_>) -> Result<PromptKind, LineProblem> {
    Ok(match fields.word("kind", "approval or question")?.as_str() {
        "approval" => PromptKind::Approval,
        "question" => PromptKind::Question,
        _ => PromptKind::Other,
    })
}

fn state(fields: &mut Fields<'_>) -> Result<ReportState, LineProblem> {
    const EXPECTED: &str = "idle, working or blocked";
    let word = fields.word("state", EXPECTED)?;
    [ReportState::Idle, ReportState::Working, ReportState::Blocked]
        .into_iter()
        .find(|state| state.as_str() == word)
        .ok_or_else(|| fields.problem("state", "is no such state", EXPECTED))
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
            (r#"{"event": "agent_sta"#, "no JSON: it is cut off (column 20)"),
            (r#"{"event": "ToolStart"}"#, "`ToolStart`; did you mean `tool_started`?"),
            (r#"{"event": "state_set"}"#, "`state` is missing; expected idle, working or blocked"),
            (r#"{"event": "state_set", "state": 1}"#, "expected idle, working or blocked"),
            (
                r#"{"event": "tool_finished", "toolId": "t"}"#,
                "tool_finished: `tool_id` is missing, but `toolId` is there; expected a text",
            ),
            (r#"{"event": "tool_started", "tool": "x"}"#, "`tool_id` is missing; expected"),
            (
                r#"{"event": "prompt_opened", "prompt_id": "p", "kind": 1}"#,
                "`kind` is a number; expected approval or question",
            ),
            (
                r#"{"event": "workflow_snapshot", "provider": "p", "ready": true, "running": ["a", 1]}"#,
                "`running` has a number in place 2; expected a list of texts",
            ),
            (
                r#"{"event": "tokens_changed", "tokens": {"a": "x", "b": [1]}}"#,
                "`tokens` has a list under `b`; expected an object of texts and nulls",
            ),
        ] {
            assert!(reason(line).contains(expected), "{line}: {}", reason(line));
        }
    }

    #[test]
    fn what_is_no_text_or_nested_too_deep_is_called_so() {
        let latin = EventLine::parse(b"  {\"event\": \"\xe9\"}").unwrap_err();
        assert_eq!(*latin.problem(), LineProblem::NotUtf8(12));
        let told = latin.to_string();
        assert!(told.starts_with("no JSON: not UTF-8 (column 12); expected"), "{told}");
        let deep = format!(r#"{{"event": "release", "x": {}"#, "[".repeat(10_000));
        assert!(reason(&deep).contains("nested too deep (column 1"), "{}", reason(&deep));
    }

    #[test]
    fn every_event_that_is_known_is_read() {
        for kind in KINDS {
            let line = format!(r#"{{"event": "{kind}"}}"#);
            if let Err(error) = EventLine::parse(line.as_bytes()) {
                let problem = error.problem();
                assert!(matches!(problem, LineProblem::Field { event, .. } if *event == kind));
            }
        }
    }

    #[test]
    fn an_id_that_is_too_long_is_named_with_the_limit() {
        let long = "x".repeat(crate::ID_MAX_BYTES + 1);
        let line = format!(r#"{{"event": "tool_finished", "tool_id": "{long}"}}"#);
        let told = reason(&line);
        assert_eq!(told, "tool_finished: `tool_id` has 1025 bytes; expected up to 1024 bytes");
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
