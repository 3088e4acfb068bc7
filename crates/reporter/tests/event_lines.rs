//! The lines of the event language: which are accepted, and the errors for those that are not.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::time::Duration;

use herdr_proto::{ReportState, StateKey};
use herdr_reporter::sidecar::EventLine;
use herdr_reporter::{AgentEvent, ID_MAX_BYTES, Prompt, PromptKind, SessionStarted, TurnOutcome};
use serde_json::Value;

fn reason(line: &str) -> String {
    EventLine::parse(line.as_bytes()).unwrap_err().to_string()
}

#[test]
fn each_error_names_the_place_the_problem_and_what_is_expected() {
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
        (
            r#"{"event": "usage_changed", "used": "5"}"#,
            "usage_changed: `used` is a text; expected a whole number from 0 on",
        ),
        (r#"{"event": "labels_changed", "labels": {"busy": "x"}}"#, "only idle, working"),
        (r#"{"event": "tokens_changed", "tokens": {"a": []}}"#, "an object of texts and nulls"),
        (r#"{"event": "title_changed"}"#, "`title` is missing; expected a text or null"),
        (r#"{"event": "agent_sta"#, "not JSON: it is cut off (column 20)"),
        (r#"{"event": "ToolStart"}"#, "`ToolStart`; did you mean `tool_started`?"),
        (r#"{"event": "tool-started"}"#, "did you mean `tool_started`?"),
        (r#"{"event": "tool_finnished"}"#, "did you mean `tool_finished`?"),
        (r#"{"event": "set_state"}"#, "did you mean `state_set`?"),
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
fn json_that_is_nested_too_deeply_has_its_own_error() {
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
fn a_serialized_event_is_read_as_the_same_event() {
    let texts = |key: &str| [(key.to_owned(), Some("\"x\"".to_owned())), ("y".into(), None)];
    let mut session = SessionStarted::new("s");
    session.title = Some("T".into());
    session.resume_argv = Some(vec!["a".into()]);
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
fn f34_f35_a_text_that_is_not_quite_unicode_does_not_cost_an_event() {
    for (label, shown) in [
        (&br"rm \ud83d"[..], "rm \u{fffd}"),
        (br"\ude00\ud83d", "\u{fffd}\u{fffd}"),
        (br"\ud83d\ude00 \ud83d", "\u{1f600} \u{fffd}"),
        (br"\ud83d\ud83d\ude00", "\u{fffd}\u{1f600}"),
        (br"\\ud83d \ud83d", "\\ud83d \u{fffd}"),
        (b"caf\xe9\xff", "caf\u{fffd}\u{fffd}"),
    ] {
        let head = br#"{"event":"prompt_opened","prompt_id":"1","kind":"approval","label":""#;
        let line = [&head[..], label, b"\"}"].concat();
        assert_eq!(read(&line), AgentEvent::prompt_opened("1", Prompt::approval(shown)));
    }
    assert!(reason(r#"{"event":"agent_started","agent_id":"\ud83"#).contains("cut off"));
}

#[test]
fn f36_a_byte_order_mark_is_skipped() {
    assert_eq!(read(b"\xef\xbb\xbf {\"event\":\"agent_started\"}"), AgentEvent::agent_started());
}

#[test]
fn f37_a_long_name_is_cut_and_its_event_counts() {
    let line =
        format!(r#"{{"event":"tool_started","tool_id":"t","tool":"{}"}}"#, "é".repeat(4_000));
    let AgentEvent::ToolStarted { tool, .. } = read(line.as_bytes()) else { panic!() };
    assert_eq!(tool, "é".repeat(ID_MAX_BYTES / 2));
}

#[test]
fn f37_a_long_kind_of_prompt_blocks_as_any_that_is_not_known() {
    let kind = "k".repeat(4_000);
    let line = format!(r#"{{"event":"prompt_opened","prompt_id":"p","kind":"{kind}"}}"#);
    let expected = AgentEvent::prompt_opened("p", Prompt::of(PromptKind::Other));
    assert_eq!(read(line.as_bytes()), expected);
}

#[test]
fn numbers_are_accepted_as_texts_of_tokens() {
    let line = br#"{"event":"tokens_changed","tokens":{"n":3,"t":"x"}}"#;
    let token = |key: &str, text: &str| (key.to_owned(), Some(text.to_owned()));
    assert_eq!(read(line), AgentEvent::tokens_changed([token("n", "3"), token("t", "x")]));
}

#[test]
fn f38_numbers_are_ids_too() {
    assert_eq!(read(br#"{"event":"prompt_closed","prompt_id":1}"#), AgentEvent::prompt_closed("1"));
    assert_eq!(
        read(br#"{"event":"agent_started","agent_id":12}"#),
        AgentEvent::agent_started().of_agent(Some(12.into()))
    );
}

#[test]
fn an_id_that_is_too_long_is_named_with_the_limit() {
    let long = "x".repeat(ID_MAX_BYTES + 1);
    let line = format!(r#"{{"event": "tool_finished", "tool_id": "{long}"}}"#);
    let message = reason(&line);
    assert_eq!(message, "tool_finished: `tool_id` has 1025 bytes; expected up to 1024 bytes");
}

#[test]
fn values_are_never_repeated() {
    let secret = r#"{"event": "usage_changed", "used": "hunter2"}"#;
    assert!(!reason(secret).contains("hunter2"));
}

#[test]
fn whole_numbers_in_other_notations_are_accepted() {
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
fn a_null_agent_is_no_agent_for_a_prompt_and_otherwise_the_main_agent() {
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
