//! The hooks of real agents, in a pane in which Herdr has detected the agent's process and
//! shows its state.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use e2e::stage::{Stage, sidecar};
use serde_json::Value;

use super::detected::{Agent, no_agent};

e2e::bodies! {
    shared:
        a_turn_of_claude_beside_its_process,
        a_turn_of_codex_beside_its_process,
        a_turn_of_gemini_beside_its_process,
        a_turn_of_cursor_beside_its_process,
        a_turn_of_copilot_beside_its_process,
        a_turn_of_qwen_beside_its_process,
        what_hooks_report_before_the_agent_is_detected_shows_afterwards,
        what_hooks_reported_goes_when_the_agent_is_killed;
}

fn a_turn_of_claude_beside_its_process(stage: &Stage) {
    turn(stage, "claude", "claude");
}

fn a_turn_of_codex_beside_its_process(stage: &Stage) {
    turn(stage, "codex", "codex");
}

fn a_turn_of_gemini_beside_its_process(stage: &Stage) {
    turn(stage, "gemini", "gemini");
}

fn a_turn_of_cursor_beside_its_process(stage: &Stage) {
    turn(stage, "cursor", "cursor-agent");
}

fn a_turn_of_copilot_beside_its_process(stage: &Stage) {
    turn(stage, "copilot", "copilot");
}

fn a_turn_of_qwen_beside_its_process(stage: &Stage) {
    turn(stage, "qwen", "qwen");
}

/// One hook call, as the agent makes it.
fn hook(stage: &Stage, agent: &str, event: Option<&str>, call: &str) -> Output {
    let mut child = Command::new(sidecar())
        .args(["hook", agent])
        .args(event)
        .args(["--any-pane", "--pane", stage.pane().as_str(), "--socket"])
        .arg(stage.socket())
        .env_clear()
        .env("HOME", stage.folder())
        .env("XDG_RUNTIME_DIR", stage.folder())
        .current_dir(stage.folder())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(call.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn calls(agent: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/herdr-socket-report");
    let file = folder.join("tests/agents").join(format!("{agent}.json"));
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// A whole turn of an agent. The state stays the detected one; the title, the model and the
/// reason of a block show until the agent ends.
fn turn(stage: &Stage, agent: &str, program: &'static str) {
    let Some(process) = Agent::start(stage, program) else { return };
    let answers = ["gemini", "cursor"].contains(&agent);
    for (number, step) in (1..).zip(calls(agent)) {
        let output = hook(stage, agent, step["event"].as_str(), &step["call"].to_string());
        let what = format!("{agent}, call {number}: {output:?}");
        assert!(output.status.success() && output.stderr.is_empty(), "{what}");
        let answer = serde_json::from_slice::<Value>(&output.stdout);
        assert_eq!(answer.is_ok_and(|answer| answer.is_object()), answers, "{what}");
        let (seen, wanted) = (stage.seen(), &step["shows"]);
        assert!(process.is_shown(&seen), "{what}: {seen:?}");
        let text = |text: Option<&String>| text.cloned().map_or(Value::Null, Value::from);
        if let Some(wanted) = wanted.get("title") {
            assert_eq!(text(seen.title.as_ref()), *wanted, "{what}");
        }
        if let Some(wanted) = wanted.get("model") {
            assert_eq!(text(seen.tokens.get("model")), *wanted, "{what}");
        }
        let label = text(seen.state_labels.get("blocked"));
        if wanted["state"] == "blocked" && wanted.get("reason").is_some() {
            assert_eq!(label, wanted["reason"], "{what}");
        } else if let Some(wanted) = wanted.get("blocked") {
            assert_eq!(label, *wanted, "{what}");
        } else if wanted["state"] == "idle" || wanted["state"] == "working" {
            assert_eq!(label, Value::Null, "{what}");
        }
    }
    let first = calls(agent).into_iter().find(|step| step["shows"]["title"].is_string()).unwrap();
    hook(stage, agent, first["event"].as_str(), &first["call"].to_string());
    assert_eq!(stage.seen().title.map(Value::from).as_ref(), first["shows"].get("title"));
    let requests = stage.requests().unwrap_or_default();
    let claims = |line: &Value| line["method"].as_str().is_some_and(|it| it.ends_with("_agent"));
    assert!(!requests.iter().any(claims), "{requests:?}");
    process.end();
    stage.wait(no_agent);
    let left = stage.seen();
    assert!(left.title.is_none() && left.state_labels.is_empty(), "{left:?}");
}

fn what_hooks_reported_goes_when_the_agent_is_killed(stage: &Stage) {
    let begun = r#"{"hook_event_name": "SessionStart", "session_id": "s1", "model": "opus"}"#;
    let prompted = r#"{"hook_event_name": "UserPromptSubmit", "prompt": "Fix the login"}"#;
    let (folder, hsr) = (stage.folder().display(), sidecar().display());
    fs::write(stage.folder().join("begun"), begun).unwrap();
    fs::write(stage.folder().join("prompted"), prompted).unwrap();
    let hook = |call: &str| format!("{hsr} hook claude <{folder}/{call}");
    let script = format!("{}\n{}\nread end\n", hook("begun"), hook("prompted"));
    fs::write(stage.folder().join("script"), script).unwrap();
    let line = format!("XDG_RUNTIME_DIR='{folder}' HOME='{folder}'");
    let Some(claude) = Agent::start_as(stage, "claude", "sh", &line, "script") else { return };
    stage.wait(|pane| pane.title.is_some() && pane.tokens.contains_key("model"));
    claude.kill();
    stage.wait(|pane| no_agent(pane) && pane.title.is_none() && pane.tokens.is_empty());
}

fn what_hooks_report_before_the_agent_is_detected_shows_afterwards(stage: &Stage) {
    let asked = r#"{"hook_event_name": "PermissionRequest", "tool_name": "Bash",
        "tool_input": {"command": "npm test"}}"#;
    let prompted = r#"{"hook_event_name": "UserPromptSubmit", "prompt": "Fix the login"}"#;
    let answered = r#"{"hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_input": {"command": "npm test"}}"#;
    let forgotten = asked.replace("npm test", "rm old");
    for call in [prompted, &forgotten, answered, asked, answered] {
        let output = hook(stage, "claude", None, call);
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
    let seen = stage.seen();
    assert!(no_agent(&seen) && seen.title.is_none() && seen.state_labels.is_empty(), "{seen:?}");
    let Some(process) = Agent::start(stage, "claude") else { return };
    let seen = stage.seen();
    assert_eq!(seen.title.as_deref(), Some("Fix the login"));
    assert!(seen.state_labels.is_empty(), "an answered prompt is not shown: {seen:?}");
    process.end();
    stage.wait(|pane| no_agent(pane) && pane.title.is_none() && pane.state_labels.is_empty());
}
