//! The plugins that `init` writes, in a Node process that plays their agents.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::agents::pane_of;
use crate::hosts::{there_is, with_sidecar};
use crate::pane::{Pane, Started};
use crate::support::requests;

/// A plugin in a process that ends with its input.
fn plugin(pane: &Pane, agent: &str, file: &str) -> Started {
    let wrote = pane.outside(&["init", agent, "--write"]).output().unwrap();
    assert_eq!(wrote.status.code(), Some(0));
    // Node recognises the language by the file extension.
    let script = pane.path().join(format!("{agent}.mjs"));
    std::fs::copy(pane.path().join(file), &script).unwrap();
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/plugins.mjs");
    let mut command = Command::new("node");
    Started::of({
        with_sidecar(pane, command.arg(driver).arg(agent).arg(script));
        command
    })
}

fn play(host: &mut Started, event: &str, payload: &Value) {
    host.line(&json!([event, payload]).to_string());
    assert_eq!(host.answer(), "played", "{event}");
}

/// Checks that the state was always Herdr's, and that nothing of the plugin is left.
fn ends(pane: &Pane, mut host: Started, agent: &str) {
    assert!(host.finish().success());
    let seen = pane.wait(|seen| seen.title.is_none() && seen.tokens.is_empty());
    assert_eq!((seen.agent.as_deref(), seen.agent_status.as_str()), (Some(agent), "blocked"));
    assert!(seen.state_labels.is_empty());
    assert_eq!(requests(&pane.herdr, "pane.report_agent").len(), 0);
    assert_eq!(requests(&pane.herdr, "pane.release_agent").len(), 0);
}

#[test]
fn a_turn_of_opencode() {
    if !there_is("node") {
        return;
    }
    let pane = pane_of("opencode");
    let mut host = plugin(&pane, "opencode", ".config/opencode/plugins/herdr-socket-report.js");
    let session = json!({"info": {"id": "s1", "title": "New session - now"}});
    play(&mut host, "session.created", &session);
    let busy = json!({"sessionID": "s1", "status": {"type": "busy"}});
    play(&mut host, "session.status", &busy);
    play(&mut host, "chat.params", &json!({"model": {"id": "m-1", "limit": {"context": 200_000}}}));
    let answer = json!({"info": {"role": "assistant", "sessionID": "s1", "modelID": "m-1",
        "tokens": {"input": 30_000, "output": 1000, "cache": {"read": 3000, "write": 0}}}});
    play(&mut host, "message.updated", &answer);
    let asked = json!({"id": "per_1", "sessionID": "s1", "permission": "bash",
        "patterns": ["npm test"], "always": []});
    play(&mut host, "permission.asked", &asked);
    let seen =
        pane.wait(|seen| seen.state_labels.contains_key("blocked") && seen.tokens.len() == 2);
    assert_eq!(seen.state_labels["blocked"], "bash: npm test");
    assert_eq!((seen.tokens["model"].as_str(), seen.tokens["ctx"].as_str()), ("m-1", "34k/200k"));
    assert_eq!(seen.title, None, "it has none yet");
    let replied = json!({"sessionID": "s1", "requestID": "per_1", "reply": "once"});
    play(&mut host, "permission.replied", &replied);
    play(&mut host, "session.updated", &json!({"info": {"id": "s1", "title": "Fix the login"}}));
    let seen = pane.wait(|seen| seen.state_labels.is_empty() && seen.title.is_some());
    assert_eq!(seen.title.as_deref(), Some("Fix the login"));
    let child = json!({"info": {"id": "s2", "parentID": "s1", "title": "Look"}});
    play(&mut host, "session.created", &child);
    play(&mut host, "session.status", &json!({"sessionID": "s2", "status": {"type": "busy"}}));
    play(&mut host, "session.idle", &json!({"sessionID": "s1"}));
    let asked =
        json!({"id": "que_1", "sessionID": "s2", "questions": [{"question": "Which one?"}]});
    play(&mut host, "question.asked", &asked);
    let seen = pane.wait(|seen| seen.state_labels.contains_key("blocked"));
    assert_eq!(seen.state_labels["blocked"], "Which one?");
    assert_eq!(seen.title.as_deref(), Some("Fix the login"), "not its subagent's");
    play(&mut host, "question.rejected", &json!({"sessionID": "s2", "requestID": "que_1"}));
    pane.wait(|seen| seen.state_labels.is_empty());
    play(&mut host, "session.idle", &json!({"sessionID": "s2"}));
    play(&mut host, "something.new", &json!(null));
    ends(&pane, host, "opencode");
}

#[test]
fn a_turn_of_pi() {
    if !there_is("node") {
        return;
    }
    let pane = pane_of("pi");
    let mut host = plugin(&pane, "pi", ".pi/agent/extensions/herdr-socket-report.ts");
    play(&mut host, "session_start", &json!({"reason": "startup"}));
    play(&mut host, "before_agent_start", &json!({"prompt": "Fix the login\nIt loops."}));
    play(&mut host, "agent_start", &json!({}));
    let tool = json!({"toolCallId": "t1", "toolName": "bash", "args": {}});
    play(&mut host, "tool_execution_start", &tool);
    play(&mut host, "tool_execution_end", &tool);
    play(&mut host, "agent_end", &json!({"messages": []}));
    let seen = pane.wait(|seen| seen.title.is_some() && seen.tokens.len() == 2);
    assert_eq!(seen.title.as_deref(), Some("Fix the login"));
    assert_eq!((seen.tokens["model"].as_str(), seen.tokens["ctx"].as_str()), ("Large", "34k/200k"));
    play(&mut host, "before_agent_start", &json!({"prompt": "And more"}));
    play(&mut host, "session_shutdown", &json!({}));
    assert_eq!(pane.now().title.as_deref(), Some("Fix the login"));
    ends(&pane, host, "pi");
}

/// A machine on which Herdr does not look for agents.
#[test]
fn an_agent_that_herdr_does_not_show_is_reported() {
    let pane = Pane::new();
    let mut run = pane.start(&["run", "--leave-state", "--agent", "pi"]);
    run.line(r#"{"event":"agent_started"}"#);
    let seen = pane.wait(|seen| seen.agent.is_some());
    assert_eq!((seen.agent.as_deref(), seen.agent_status.as_str()), (Some("pi"), "working"));
    assert!(run.finish().success());
    assert_eq!(run.complaints(), "");
    pane.wait_clean();
}
