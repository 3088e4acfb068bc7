//! Hooks as agents call them, in a pane in which Herdr detects the agent itself.

use std::io::Write;
use std::process::{Output, Stdio};

use fake_herdr::Observation;
use serde_json::json;

use crate::pane::{Pane, complaints};
use crate::support::requests;

/// A pane in which Herdr detects this agent.
pub(crate) fn pane_of(agent: &str) -> Pane {
    let pane = Pane::new();
    let (now, id) = (pane.herdr.now(), pane.herdr.pane_id().to_owned());
    assert!(pane.herdr.with_model(|model| model.agent_appears(now, &id, agent, "blocked")));
    pane
}

fn call(pane: &Pane, arguments: &[&str], stdin: &str) -> Output {
    let mut command = pane.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that needs no more input may stop reading.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child.wait_with_output().unwrap()
}

const ASKED: &str = r#"{"hook_event_name": "PermissionRequest", "tool_name": "Bash",
    "tool_input": {"command": "npm test"}}"#;
const TOLD: &str = r#"{"hook_event_name": "UserPromptSubmit", "prompt": "Fix the login"}"#;

#[test]
fn a_pane_that_shows_it_already_is_not_told_again() {
    let pane = pane_of("claude");
    let status = json!({"model": {"display_name": "Opus"}, "session_name": "Login",
        "context_window": {"context_window_size": 200_000, "current_usage": 34_000}});
    for _ in 0..3 {
        let output = call(&pane, &["statusline", "claude"], &status.to_string());
        assert_eq!(String::from_utf8_lossy(&output.stdout), "Opus · 34k/200k\n");
    }
    let seen = pane.now();
    assert_eq!((seen.tokens["ctx"].as_str(), seen.title.as_deref()), ("34k/200k", Some("Login")));
    assert_eq!(requests(&pane.herdr, "pane.report_metadata").len(), 2);
}

#[test]
fn hooks_tell_the_panes_reporter_if_there_is_one() {
    let pane = Pane::new();
    let _owner = pane.start(&["run", "--agent", "my-claude"]);
    pane.client();
    for what in [TOLD, ASKED] {
        call(&pane, &["hook", "claude"], what);
    }
    let seen = pane.wait(|seen| seen.state_labels.contains_key("blocked"));
    assert_eq!((seen.agent.as_deref(), seen.agent_status.as_str()), (Some("my-claude"), "blocked"));
    assert_eq!(seen.title.as_deref(), Some("Fix the login"));
    // The title of the first prompt stays.
    call(&pane, &["hook", "claude"], r#"{"hook_event_name":"UserPromptSubmit","prompt":"More"}"#);
    let seen = pane.wait_status("working");
    assert_eq!(seen.title.as_deref(), Some("Fix the login"));
}

#[test]
fn under_a_supervisor_hooks_tell_it() {
    let pane = pane_of("claude");
    let mut started = pane.start(&["exec", "--agent", "my-claude", "cat"]);
    pane.supervisor();
    for what in [TOLD, ASKED] {
        assert_eq!(complaints(&call(&pane, &["hook", "claude"], what)), "");
    }
    let blocked = |seen: &Observation| {
        seen.agent_status == "blocked" && seen.state_labels.contains_key("blocked")
    };
    let seen = pane.wait(blocked);
    assert_eq!(seen.state_labels["blocked"], "Bash: npm test");
    assert_eq!(seen.agent.as_deref(), Some("my-claude"));
    assert_eq!(seen.title.as_deref(), Some("Fix the login"));
    started.finish();
    pane.wait(|seen| seen.title.is_none());
}

#[test]
fn a_name_of_its_own_has_a_state_of_its_own() {
    let pane = Pane::new();
    call(&pane, &["hook", "claude", "--agent", "my-claude"], ASKED);
    let seen = pane.now();
    assert_eq!((seen.agent.as_deref(), seen.agent_status.as_str()), (Some("my-claude"), "blocked"));
}

#[test]
fn privacy_and_settings_hold_for_hooks() {
    for (settings, label) in [
        (&["--privacy", "fixed"][..], Some("Waiting for approval")),
        (&["--privacy", "tool"], Some("Bash")),
        (&["--message", "none"], None),
    ] {
        let pane = pane_of("claude");
        for what in [TOLD, ASKED] {
            call(&pane, &[&["hook", "claude"], settings].concat(), what);
        }
        let seen = pane.now();
        assert_eq!(seen.state_labels.get("blocked").map(String::as_str), label);
        assert_eq!(seen.title.is_some(), settings[1] != "fixed");
    }
    let may = r#"{"tool_name": "Shell", "tool_input": {"command": "npm test"}}"#;
    for settings in [["--reason-label", "off"], ["--message", "none"], ["--privacy", "fixed"]] {
        let pane = pane_of("cursor");
        call(&pane, &[&["hook", "cursor", "preToolUse"][..], &settings].concat(), may);
        assert!(pane.now().state_labels.is_empty(), "{settings:?}");
    }
}

#[test]
fn a_call_comes_as_the_last_argument_too() {
    let pane = pane_of("codex");
    let asked = ASKED.replace('\n', " ");
    let output = pane.run(&["hook", "codex", &asked]);
    assert_eq!(complaints(&output), "");
    assert_eq!(pane.now().state_labels["blocked"], "Bash: npm test");
    let over = r#"{"type":"agent-turn-complete","last-assistant-message":"secret"}"#;
    let output = pane.run(&["hook", "codex", over]);
    assert_eq!(complaints(&output), "");
    assert!(pane.now().state_labels.is_empty());
}

#[test]
fn a_text_that_is_not_quite_unicode_shows_all_the_same() {
    let pane = pane_of("claude");
    let half = ASKED.replace("npm test", "npm \\ud83d test");
    assert_eq!(complaints(&call(&pane, &["hook", "claude"], &half)), "");
    assert_eq!(pane.now().state_labels["blocked"], "Bash: npm \u{fffd} test");
}

#[test]
fn a_hook_never_fails_its_agent() {
    let pane = Pane::new();
    for (arguments, stdin, told) in [
        (&["hook", "claude"][..], "no JSON", "not a JSON object"),
        (&["hook", "claude"], "", "not a JSON object"),
        (&["hook", "emacs"], "{}", "\"emacs\" is not known here"),
        (&["hook", "pi"], "{}", "expected claude, codex"),
        (&["statusline", "gemini"], "{}", "expected claude or qwen"),
        (&["hook"], "{}", "AGENT"),
        (&["statusline", "claude", "--", "/no/such"], "{}", "cannot be started"),
    ] {
        let output = call(&pane, arguments, stdin);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(complaints(&output).contains(told), "{arguments:?}: {}", complaints(&output));
    }
    let outside = pane.outside(&["hook", "claude", ASKED]).output().unwrap();
    assert_eq!((complaints(&outside).as_str(), outside.status.code()), ("", Some(0)));
}

#[test]
fn a_status_line_is_that_of_its_command() {
    let pane = pane_of("claude");
    let status =
        json!({"model": {"id": "m-1", "display_name": "Opus"}, "extra": "x".repeat(100_000)});
    let draw = "tr -d ' ' | cut -c-9; echo second; exit 7";
    let arguments = ["statusline", "claude", "--", "sh", "-c", draw];
    let output = call(&pane, &arguments, &status.to_string());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "{\"extra\":\nsecond\n");
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(pane.now().tokens["model"], "Opus");
}
