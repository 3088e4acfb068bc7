use std::time::Duration;

use herdr_proto::{ReportState, StateKey};
use serde_json::Value;
use serde_json::error::Category;

use super::fields::Fields;
use super::near::shown;
use super::repair::repaired;
use super::{AgentEvent, LineError, LineProblem, Prompt, PromptKind, SessionStarted, TurnOutcome};

/// One line of the event language.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventLine {
    /// Something happened.
    Event(AgentEvent),
    /// The host wants to know when everything before it has been delivered.
    Flush {
        /// What the answer is to carry: a text, a number or null.
        id: Value,
        /// How long to wait at most.
        timeout: Duration,
    },
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
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
    /// use herdr_reporter::sidecar::EventLine;
    /// assert!(EventLine::parse(br#"{"event": "agent_started"}"#).unwrap().is_some());
    /// assert!(EventLine::parse(b"  ").unwrap().is_none());
    /// let error = EventLine::parse(br#"{"event": "usage_changed", "used": "5"}"#).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "usage_changed: `used` is a text; expected a whole number from 0 on",
    /// );
    /// ```
    pub fn parse(line: &[u8]) -> Result<Option<Self>, LineError> {
        // Some programs begin a file, and so the first line, with a mark.
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii();
        if line.is_empty() {
            return Ok(None);
        }
        parse(line).map(Some).map_err(LineError)
    }
}

fn parse(line: &[u8]) -> Result<EventLine, LineProblem> {
    let value = serde_json::from_slice(line)
        .or_else(|error| serde_json::from_str(&repaired(line)).map_err(|_| error))
        .map_err(|error| not_json(&error))?;
    let Value::Object(mut map) = value else { return Err(LineProblem::NotAnObject) };
    let Some(Value::String(kind)) = map.remove("event") else { return Err(LineProblem::NoKind) };
    let Some(kind) = KINDS.iter().find(|known| **known == kind) else {
        return Err(LineProblem::UnknownKind(shown(&kind)));
    };
    event(kind, &mut Fields::new(kind, &mut map))
}

/// What exactly keeps a line from being JSON.
fn not_json(error: &serde_json::Error) -> LineProblem {
    // The reader names it only by its words; a test holds it to them.
    const TOO_DEEP: &str = "recursion limit exceeded";
    let column = error.column();
    if error.to_string().starts_with(TOO_DEEP) {
        LineProblem::TooDeep(column)
    } else if error.classify() == Category::Eof {
        LineProblem::CutOff(column)
    } else {
        LineProblem::NotJson(column)
    }
}

/// Every event, as lines name it.
pub(super) const KINDS: [&str; 19] = [
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

fn event(kind: &str, fields: &mut Fields<'_>) -> Result<EventLine, LineProblem> {
    let event = match kind {
        "session_started" => AgentEvent::SessionStarted(SessionStarted {
            session_id: fields.id_text("session_id")?,
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
        "agent_settled" => AgentEvent::AgentSettled {
            agent_id: fields.agent()?,
            outcome: fields.text("outcome")?.as_deref().and_then(outcome),
            message: fields.text("message")?,
        },
        "tool_started" => AgentEvent::ToolStarted {
            tool_id: fields.id("tool_id")?,
            tool: fields.name("tool")?,
            agent_id: fields.agent()?,
        },
        "tool_finished" => AgentEvent::ToolFinished { tool_id: fields.id("tool_id")? },
        "prompt_opened" => AgentEvent::PromptOpened {
            prompt_id: fields.id("prompt_id")?,
            prompt: Prompt { kind: prompt_kind(fields)?, label: fields.text("label")? },
            agent_id: fields.agent_or_nobody()?,
        },
        "prompt_closed" => AgentEvent::PromptClosed { prompt_id: fields.id("prompt_id")? },
        "progress_changed" => {
            AgentEvent::ProgressChanged { percent: percent(fields)?, agent_id: fields.agent()? }
        }
        "workflow_snapshot" => AgentEvent::WorkflowSnapshot {
            provider: fields.id_text("provider")?,
            ready: fields.required_flag("ready")?,
            running: fields.texts("running")?.unwrap_or_default(),
            waiting: fields.texts("waiting")?.unwrap_or_default(),
        },
        "workflow_unavailable" => {
            AgentEvent::WorkflowUnavailable { provider: fields.id_text("provider")? }
        }
        "state_set" => AgentEvent::StateSet {
            state: state(fields)?,
            label: fields.text("label")?,
            settles: fields.flag("settles")?.unwrap_or(false),
        },
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
            return Ok(EventLine::Flush { id: fields.any_id("id")?, timeout });
        }
        _ => unreachable!("each of the known events is read above"),
    };
    Ok(EventLine::Event(event))
}

fn prompt_kind(fields: &mut Fields<'_>) -> Result<PromptKind, LineProblem> {
    Ok(match fields.word("kind", "approval, question or auth")?.as_str() {
        "approval" => PromptKind::Approval,
        "question" => PromptKind::Question,
        "auth" => PromptKind::Auth,
        _ => PromptKind::Other,
    })
}

/// How a turn ended; a word of a later version is as good as none.
fn outcome(word: &str) -> Option<TurnOutcome> {
    match word {
        "done" => Some(TurnOutcome::Done),
        "error" => Some(TurnOutcome::Error),
        "cancelled" => Some(TurnOutcome::Cancelled),
        _ => None,
    }
}

fn percent(fields: &mut Fields<'_>) -> Result<Option<u8>, LineProblem> {
    const EXPECTED: &str = "a whole number from 0 to 100, or null";
    let Some(number) = fields.nullable_number("percent", EXPECTED)? else { return Ok(None) };
    match u8::try_from(number) {
        Ok(percent @ 0..=100) => Ok(Some(percent)),
        _ => Err(fields.problem("percent", "is over 100", EXPECTED)),
    }
}

fn state(fields: &mut Fields<'_>) -> Result<ReportState, LineProblem> {
    const EXPECTED: &str = "idle, working or blocked";
    let word = fields.word("state", EXPECTED)?;
    [ReportState::Idle, ReportState::Working, ReportState::Blocked]
        .into_iter()
        .find(|state| state.as_str() == word)
        .ok_or_else(|| fields.problem("state", "is not a state", EXPECTED))
}

fn state_key(fields: &Fields<'_>, word: &str) -> Result<StateKey, LineProblem> {
    StateKey::ALL.into_iter().find(|key| key.as_str() == word).ok_or_else(|| {
        fields.problem(
            "labels",
            format!("has `{}`, which is not a state", shown(word)),
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
            ("{not json", "not JSON (column 2)"),
            ("[1,2]", "JSON, but not an object"),
            ("\"text\"", "JSON, but not an object"),
            ("{}", "`event` is missing"),
            (r#"{"event": 5}"#, "`event` is missing or not a text"),
            (r#"{"event": "nonsense", "x": 1}"#, "unknown event `nonsense`"),
            (r#"{"event": "tool_started", "tool_id": "t"}"#, "tool_started: `tool` is missing"),
            (r#"{"event": "state_set", "state": "done"}"#, "expected idle, working or blocked"),
            (r#"{"event": "usage_changed", "used": -1}"#, "`used` is another number"),
            (r#"{"event": "usage_changed", "used": 1.5}"#, "a whole number"),
            (r#"{"event": "labels_changed", "labels": {"busy": "x"}}"#, "only idle, working"),
            (r#"{"event": "tokens_changed", "tokens": {"a": []}}"#, "an object of texts and nulls"),
            (r#"{"event": "title_changed"}"#, "`title` is missing; expected a text or null"),
            (r#"{"event": "agent_sta"#, "not JSON: it is cut off (column 20)"),
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
                "`kind` is a number; expected approval, question or auth",
            ),
            (
                r#"{"event": "workflow_snapshot", "provider": "p", "ready": true, "running": ["a", 1, []]}"#,
                "`running` has a list in place 3; expected a list of texts",
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
    fn what_is_nested_too_deep_is_called_so() {
        let deep = format!(r#"{{"event": "release", "x": {}"#, "[".repeat(10_000));
        assert!(reason(&deep).contains("nested too deep (column 1"), "{}", reason(&deep));
    }

    fn read(line: &[u8]) -> AgentEvent {
        match EventLine::parse(line).unwrap() {
            Some(EventLine::Event(event)) => event,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_event_that_is_written_is_read_as_the_same() {
        let texts = |key: &str| [(key.to_owned(), Some("\"x\"".to_owned())), ("y".into(), None)];
        let session = SessionStarted {
            title: Some("T".into()),
            resume_argv: Some(vec!["a".into()]),
            ..SessionStarted::new("s")
        };
        for event in [
            AgentEvent::SessionStarted(session),
            AgentEvent::session_ended(),
            AgentEvent::agent_started().of_agent(Some("helper".into())),
            AgentEvent::agent_settled().with_outcome(TurnOutcome::Error, Some("why".into())),
            AgentEvent::tool_started(7, "grep"),
            AgentEvent::tool_finished(7),
            AgentEvent::prompt_opened("p", Prompt::approval("Run\nit?")),
            AgentEvent::prompt_opened("p", Prompt::of(PromptKind::Auth)).of_agent(None),
            AgentEvent::prompt_closed("p"),
            AgentEvent::progress_changed(Some(5)),
            AgentEvent::progress_changed(None),
            AgentEvent::workflow_snapshot("p", vec!["a".into()], vec![]),
            AgentEvent::workflow_unavailable("p"),
            AgentEvent::state_settled(ReportState::Blocked, Some("why".into())),
            AgentEvent::title_changed(None),
            AgentEvent::model_changed(Some("m".into()), Some(1000)),
            AgentEvent::usage_changed(1),
            AgentEvent::tokens_changed(texts("x")),
            AgentEvent::labels_changed([(StateKey::Done, Some("look".into()))]),
            AgentEvent::Release,
        ] {
            assert_eq!(read(&serde_json::to_vec(&event).unwrap()), event);
        }
    }

    #[test]
    fn f34_f35_a_text_that_is_not_quite_unicode_costs_nothing() {
        for line in [
            &br#"{"event":"prompt_opened","prompt_id":"1","kind":"approval","label":"rm \ud83d"}"#[..],
            b"{\"event\":\"prompt_opened\",\"prompt_id\":\"1\",\"kind\":\"approval\",\"label\":\"rm \xe9\"}",
        ] {
            let expected = AgentEvent::prompt_opened("1", Prompt::approval("rm \u{fffd}"));
            assert_eq!(read(line), expected);
        }
    }

    #[test]
    fn f36_a_byte_order_mark_is_skipped() {
        assert_eq!(
            read(b"\xef\xbb\xbf {\"event\":\"agent_started\"}"),
            AgentEvent::agent_started()
        );
    }

    #[test]
    fn f37_a_long_name_is_cut_and_its_event_counts() {
        let line =
            format!(r#"{{"event":"tool_started","tool_id":"t","tool":"{}"}}"#, "é".repeat(4_000));
        let AgentEvent::ToolStarted { tool, .. } = read(line.as_bytes()) else { panic!() };
        assert_eq!(tool, "é".repeat(crate::ID_MAX_BYTES / 2));
    }

    #[test]
    fn f37_a_long_kind_of_prompt_blocks_as_any_that_is_not_known() {
        let kind = "k".repeat(4_000);
        let line = format!(r#"{{"event":"prompt_opened","prompt_id":"p","kind":"{kind}"}}"#);
        let expected = AgentEvent::prompt_opened("p", Prompt::of(PromptKind::Other));
        assert_eq!(read(line.as_bytes()), expected);
    }

    #[test]
    fn numbers_are_taken_as_texts_of_tokens() {
        let line = br#"{"event":"tokens_changed","tokens":{"n":3,"t":"x"}}"#;
        let token = |key: &str, text: &str| (key.to_owned(), Some(text.to_owned()));
        assert_eq!(read(line), AgentEvent::tokens_changed([token("n", "3"), token("t", "x")]));
    }

    #[test]
    fn f38_numbers_are_ids_too() {
        assert_eq!(
            read(br#"{"event":"prompt_closed","prompt_id":1}"#),
            AgentEvent::prompt_closed("1")
        );
        assert_eq!(
            read(br#"{"event":"agent_started","agent_id":12}"#),
            AgentEvent::agent_started().of_agent(Some(12.into()))
        );
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
            EventLine::Event(AgentEvent::agent_started())
        );
        assert_eq!(
            parse(r#"{"event": "flush"}"#),
            EventLine::Flush { id: Value::Null, timeout: Duration::from_secs(5) }
        );
        assert_eq!(
            parse(r#"{"event": "flush", "id": 7, "timeout_ms": 0}"#),
            EventLine::Flush { id: 7.into(), timeout: Duration::ZERO }
        );
    }
}
