//! Each agent's turn, call by call, through mapping and activity.

use herdr_proto::{PresentationText, StateKey};
use herdr_reporter::sidecar::Activity;
use herdr_reporter::{AgentEvent, Config};
use serde_json::{Value, json};

use super::payload::Payload;
use super::statusline::Status;
use super::translate::translate;
use crate::commands::agents::{AGENTS, Agent};

/// What a pane shows of an agent, as far as its hooks tell.
struct Shown {
    agent: &'static Agent,
    activity: Activity,
    title: Option<String>,
}

impl Shown {
    fn of(agent: &'static Agent) -> Self {
        Self { agent, activity: Activity::default(), title: None }
    }

    fn call(&mut self, event: Option<&str>, call: &Value) {
        let text = call.to_string();
        let payload = Payload::parse(&text).unwrap();
        let translated = translate(self.agent, event, &payload, &Config::default());
        let mut events = translated.events;
        if let Some(title) = translated.first_title.filter(|_| self.title.is_none()) {
            events.push(AgentEvent::title_changed(Some(title)));
        }
        self.tell(events);
    }

    fn tell(&mut self, events: Vec<AgentEvent>) {
        for event in events {
            if let AgentEvent::TitleChanged { title, .. } = &event {
                self.title.clone_from(title);
            }
            self.activity.apply(event).unwrap();
        }
    }

    /// In the words of the files; null for a row that is given back.
    fn now(&self) -> Value {
        let Some(snapshot) = self.activity.snapshot(&Config::default()) else { return Value::Null };
        let text = |text: Option<&PresentationText>| text.map(|text| Value::from(text.as_str()));
        let token = |name: &str| {
            snapshot.tokens.iter().find(|(key, _)| key.as_str() == name).map(|(_, text)| text)
        };
        json!({
            "state": snapshot.state.as_str(),
            "reason": text(snapshot.reason.as_ref()),
            "title": text(snapshot.presentation.title.as_ref()),
            "blocked": text(snapshot.presentation.labels.get(&StateKey::Blocked)),
            "model": text(token("model")),
            "ctx": text(token("ctx")),
        })
    }
}

fn turn(name: &str) {
    let agent = Agent::named(name).unwrap();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents");
    let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
    let steps: Vec<Value> = serde_json::from_str(&text).unwrap();
    let mut shown = Shown::of(agent);
    for (number, step) in steps.iter().enumerate() {
        let before = shown.now();
        shown.call(step["event"].as_str(), &step["call"]);
        let (now, wanted) = (shown.now(), &step["shows"]);
        let what = format!("{name}, call {} {}", number + 1, step["call"]);
        match wanted.as_object() {
            None if step["call"]["hook_event_name"] == "SomethingNew" => assert_eq!(now, before),
            None => assert_eq!(now, Value::Null, "{what}"),
            Some(wanted) => {
                for (field, value) in wanted {
                    assert_eq!(&now[field], value, "{what}: {field}");
                }
                let quiet = !wanted.contains_key("reason") && wanted["state"] != "blocked";
                assert!(!quiet || now["reason"].is_null(), "{what}: {}", now["reason"]);
            }
        }
    }
}

#[test]
fn a_turn_of_claude_shows_as_it_should() {
    turn("claude");
}

#[test]
fn a_turn_of_codex_shows_as_it_should() {
    turn("codex");
}

#[test]
fn a_turn_of_gemini_shows_as_it_should() {
    turn("gemini");
}

#[test]
fn a_turn_of_cursor_shows_as_it_should() {
    turn("cursor");
}

#[test]
fn a_turn_of_copilot_shows_as_it_should() {
    turn("copilot");
}

#[test]
fn a_turn_of_qwen_shows_as_it_should() {
    turn("qwen");
}

#[test]
fn what_is_odd_about_a_call_costs_only_itself() {
    let claude = Agent::named("claude").unwrap();
    let mut shown = Shown::of(claude);
    shown.call(None, &json!({"hook_event_name": "UserPromptSubmit", "prompt": 7}));
    assert_eq!(shown.now()["state"], "working");
    let odd = json!({"hook_event_name": "PermissionRequest", "tool_name": ["x"], "tool_input": 3});
    shown.call(None, &odd);
    assert_eq!(shown.now()["reason"], "Shell");
    for odd in [json!({}), json!({"hook_event_name": 3}), json!({"hook_event_name": "Stopp"})] {
        let before = shown.now();
        shown.call(None, &odd);
        assert_eq!(shown.now(), before);
    }
    assert!(Payload::parse("[1]").is_none());
    assert!(Payload::parse("").is_none());
}

#[test]
fn an_answer_to_another_call_leaves_the_question_open() {
    let mut shown = Shown::of(Agent::named("claude").unwrap());
    let call = |event: &str, command: &str| json!({"hook_event_name": event, "tool_name": "Bash", "tool_input": {"command": command}});
    shown.call(None, &call("PreToolUse", "a"));
    shown.call(None, &call("PermissionRequest", "b"));
    shown.call(None, &call("PostToolUse", "a"));
    assert_eq!(shown.now()["reason"], "Bash: b");
    shown.call(None, &call("PostToolUse", "b"));
    assert_eq!(shown.now()["state"], "idle");
}

#[test]
fn a_long_command_is_cut_and_told_by_its_first_line() {
    let mut shown = Shown::of(Agent::named("codex").unwrap());
    let command = format!("{} ü\nsecond", "x".repeat(5000));
    let call = json!({"hook_event_name": "PermissionRequest", "tool_name": "Bash",
        "tool_input": {"command": command}});
    shown.call(None, &call);
    assert!(shown.now()["reason"].as_str().unwrap().chars().count() <= 80);
    let done = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_input": {"command": command}});
    shown.call(None, &done);
    assert_eq!(shown.now()["state"], "idle");
}

#[test]
fn every_event_that_init_asks_for_is_understood() {
    for agent in &AGENTS {
        for (name, meaning) in agent.shared.iter().chain(agent.events) {
            let (event, kind) = name.split_once(':').map_or((*name, None), |(e, k)| (e, Some(k)));
            assert_eq!(agent.meaning(event, kind), Some(*meaning), "{} {name}", agent.name);
        }
        let mut asked: Vec<_> = agent.asked().collect();
        let count = asked.len();
        asked.sort_unstable();
        asked.dedup();
        assert_eq!(asked.len(), count, "{}", agent.name);
    }
}

#[test]
fn a_status_line_has_model_context_and_title() {
    let status = |call: Value| {
        let text = call.to_string();
        let payload = Payload::parse(&text).unwrap();
        let status = Status::of(&payload);
        let line = status.line();
        let mut shown = Shown::of(&AGENTS[0]);
        shown.tell(vec![AgentEvent::agent_started()]);
        shown.tell(status.events());
        let now = shown.now();
        (line, now["model"].clone(), now["ctx"].clone(), now["title"].clone())
    };
    let claude = json!({"session_id": "abc123", "session_name": "Login redirect",
        "model": {"id": "claude-opus-5", "display_name": "Opus 4.8 (1M context)"},
        "context_window": {"total_input_tokens": 15500, "context_window_size": 200_000,
            "current_usage": {"input_tokens": 8500, "output_tokens": 1200,
                "cache_creation_input_tokens": 5000, "cache_read_input_tokens": 2000}}});
    assert_eq!(
        status(claude),
        (
            "Opus 4.8 · 16k/200k\n".to_owned(),
            "Opus 4.8".into(),
            "16k/200k".into(),
            "Login redirect".into()
        )
    );
    let qwen = json!({"model": {"display_name": "qwen3"},
        "context_window": {"context_window_size": 131_072, "current_usage": 45000}});
    assert_eq!(
        status(qwen),
        ("qwen3 · 45k/131k\n".to_owned(), "qwen3".into(), "45k/131k".into(), Value::Null)
    );
    let early = json!({"model": {"id": "m"}, "context_window": {"current_usage": null}});
    assert_eq!(status(early), ("m\n".to_owned(), "m".into(), Value::Null, Value::Null));
    assert_eq!(status(json!({})), (String::new(), Value::Null, Value::Null, Value::Null));
}
