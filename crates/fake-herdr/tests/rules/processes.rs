//! Panes in which the detector sees a known agent's process (protocol 5.2 and 5.4).

use serde_json::json;

use crate::support::Herdr;

/// A8: a known label must be that of the detected agent; an unknown label is accepted.
#[test]
fn known_labels_must_match_the_detected_agent() {
    let mut herdr = Herdr::new();
    herdr.model.agent_appears(herdr.now, "w1:p1", "claude", "idle");
    assert_eq!(herdr.row(), "claude idle");
    herdr.report("custom:bot", "codex", "working", Some(1));
    assert_eq!(herdr.row(), "claude idle");
    assert_eq!(herdr.model.mark("w1:p1", "custom:bot"), None);
    herdr.report("custom:bot", "Claude-Code", "working", Some(1));
    assert_eq!(herdr.row(), "claude working");
    herdr.release("custom:bot", "claude", Some(2));
    assert_eq!(herdr.row(), "claude idle", "the process keeps the row");
    herdr.report("custom:bot", "bot", "blocked", Some(3));
    assert_eq!(herdr.row(), "bot blocked");
}

/// A3 and D1: this holds until the detector sees an agent again.
#[test]
fn an_agent_that_just_exited_is_not_reported_back() {
    let mut herdr = Herdr::new();
    herdr.model.agent_appears(herdr.now, "w1:p1", "claude", "working");
    herdr.report("custom:bot", "claude", "working", Some(7));
    let guarded = json!({ "agent": "claude", "title": "T", "seq": 3, "tokens": { "k": "v" } });
    assert_eq!(herdr.metadata("custom:bot", guarded), "ok");
    assert!(herdr.model.agent_exits(herdr.now, "w1:p1"));
    assert_eq!(herdr.row(), "- idle", "until the detector looks again");
    herdr.pass(300);
    herdr.report("custom:bot", "claude", "working", Some(8));
    assert_eq!(herdr.row(), "- unknown");
    assert_eq!(herdr.model.mark("w1:p1", "custom:bot"), None, "V6: the claim's mark goes with it");
    assert_eq!(herdr.model.metadata_mark("w1:p1", "custom:bot"), None, "D8");
    assert_eq!(herdr.see().tokens.len(), 1, "D8: tokens stay");
    herdr.report("custom:bot", "claude", "working", Some(8));
    assert_eq!(herdr.row(), "- unknown");
    assert_eq!(herdr.metadata("custom:bot", json!({ "agent": "claude", "title": "U" })), "ok");
    assert_eq!(herdr.metadata("herdr:claude", json!({ "title": "V" })), "ok");
    assert_eq!(herdr.see().title, None);
    herdr.report("custom:bot", "bot", "working", Some(9));
    assert_eq!(herdr.row(), "bot working", "an unknown label is taken");
    herdr.model.agent_appears(herdr.now, "w1:p1", "claude", "idle");
    herdr.report("custom:bot", "claude", "working", Some(10));
    assert_eq!(herdr.row(), "claude working");
}

/// V1: a prompt on the screen overrides an older report.
#[test]
fn a_prompt_on_the_screen_overrides_an_older_report() {
    let mut herdr = Herdr::new();
    herdr.model.agent_appears(herdr.now, "w1:p1", "claude", "idle");
    herdr.report("custom:bot", "claude", "working", Some(1));
    herdr.model.agent_appears(herdr.now, "w1:p1", "claude", "blocked");
    assert_eq!(herdr.row(), "claude blocked");
    herdr.report("custom:bot", "claude", "working", Some(2));
    assert_eq!(herdr.row(), "claude working", "a newer report counts again");
    herdr.pass(1000);
    assert_eq!(herdr.row(), "claude blocked", "until the detector sees the prompt again");
}

/// A7, A6 and A4 with a process: reports with the anchored session show, and a cleared
/// source stays suppressed until it has another session.
#[test]
fn full_lifecycle_with_its_process() {
    let report = |herdr: &mut Herdr, session: &str, state: &str, seq: u64| {
        let params = json!({
            "pane_id": "w1:p1", "source": "herdr:pi", "agent": "pi", "state": state, "seq": seq,
            "agent_session_path": format!("/tmp/{session}"),
        });
        assert_eq!(herdr.code("pane.report_agent", params), "ok");
    };
    let announce = |herdr: &mut Herdr, session: &str, start: &str, seq: u64| {
        let params = json!({
            "pane_id": "w1:p1", "source": "herdr:pi", "agent": "pi", "seq": seq,
            "agent_session_path": format!("/tmp/{session}"), "session_start_source": start,
        });
        assert_eq!(herdr.code("pane.report_agent_session", params), "ok");
    };
    let mut herdr = Herdr::new();
    announce(&mut herdr, "one", "startup", 1);
    report(&mut herdr, "one", "working", 2);
    assert_eq!(herdr.row(), "- unknown");
    herdr.model.agent_appears(herdr.now, "w1:p1", "pi", "idle");
    assert_eq!(herdr.row(), "pi working", "the pending report is applied");
    let agent = herdr.call("agent.get", json!({ "target": "w1:p1" }));
    assert_eq!(agent["result"]["agent"]["screen_detection_skipped"], true);
    report(&mut herdr, "one", "blocked", 3);
    assert_eq!(herdr.row(), "pi blocked");
    report(&mut herdr, "two", "working", 4);
    assert_eq!(herdr.row(), "pi blocked", "another session waits for its start");
    let clear = json!({ "pane_id": "w1:p1", "source": "herdr:pi", "seq": 5 });
    herdr.call("pane.clear_agent_authority", clear);
    assert_eq!(herdr.row(), "pi unknown", "the screen was not read during the claim");
    herdr.pass(4000);
    assert_eq!(herdr.row(), "pi idle", "the detector's state");
    report(&mut herdr, "one", "working", 6);
    assert_eq!(herdr.row(), "pi idle", "A6");
    report(&mut herdr, "three", "working", 1);
    assert_eq!(herdr.row(), "pi working", "a new session starts its own numbering");
    report(&mut herdr, "one", "blocked", 7);
    assert_eq!(herdr.row(), "pi working", "A4");
}

/// C1: a release by an official source is ignored and uses no number.
#[test]
fn official_releases_are_no_ops() {
    let mut herdr = Herdr::new();
    herdr.session("herdr:claude", "claude", "s-1", None, Some(1));
    herdr.release("herdr:claude", "claude", Some(2));
    assert!(herdr.owner().is_some());
    assert_eq!(herdr.model.mark("w1:p1", "herdr:claude"), Some(1));
}

/// A release of another label also removes the row of the detected process, until that
/// process ends and a new one is seen. A clear shows the process again.
#[test]
fn a_release_removes_the_row_of_the_detected_process() {
    let mut herdr = Herdr::new();
    herdr.model.agent_appears(herdr.now, "w1:p1", "claude", "working");
    herdr.report("custom:bot", "bot", "blocked", Some(1));
    let clear = json!({ "pane_id": "w1:p1", "source": "custom:bot", "seq": 2 });
    assert_eq!(herdr.code("pane.clear_agent_authority", clear), "ok");
    assert_eq!(herdr.row(), "claude working", "a clear ends only the claim");
    herdr.report("custom:bot", "bot", "blocked", Some(3));
    let (_, mut stream) = herdr.subscribe(json!([{ "type": "pane.agent_detected" }]));
    herdr.events(&mut stream);
    herdr.release("custom:bot", "bot", Some(4));
    herdr.pass(60_000);
    assert_eq!(herdr.row(), "- unknown", "the process still runs");
    let events = herdr.events(&mut stream);
    assert_eq!(
        (events.len(), &events[0]["agent"], &events[0]["released"]),
        (1, &json!("bot"), &json!(true))
    );
    assert!(herdr.model.agent_exits(herdr.now, "w1:p1"));
    assert_eq!(herdr.row(), "- idle");
    herdr.pass(300);
    herdr.model.agent_appears(herdr.now, "w1:p1", "claude", "idle");
    assert_eq!(herdr.row(), "claude idle", "a new process");
}

/// The detector notices a program before it reads its screen. The release of a known
/// label starts this again.
#[test]
fn the_detector_has_delays() {
    let mut herdr = Herdr::new();
    let rows = |herdr: &mut Herdr, times: &[(u64, &str)]| {
        let mut passed = 0;
        for (ms, row) in times {
            herdr.pass(ms - passed);
            passed = *ms;
            assert_eq!(herdr.row(), *row, "after {ms} ms");
        }
    };
    assert!(herdr.model.agent_begins(herdr.now, "w1:p1", "claude", "idle"));
    let seen = [(0, "- unknown"), (500, "claude unknown"), (3000, "claude unknown")];
    rows(&mut herdr, &seen);
    rows(&mut herdr, &[(1000, "claude idle")]);
    herdr.report("custom:bot", "claude", "working", Some(1));
    herdr.release("custom:bot", "claude", Some(2));
    rows(&mut herdr, &[(0, "claude idle"), (900, "claude idle"), (1100, "claude unknown")]);
    rows(&mut herdr, &[(4000, "claude idle")]);
    assert!(herdr.model.agent_ends(herdr.now, "w1:p1"));
    rows(&mut herdr, &[(0, "claude idle"), (400, "- idle"), (600, "- unknown")]);
    assert!(!herdr.model.agent_exits(herdr.now, "w1:p1"), "there is no agent");
}

/// A custom claim survives the end of the detected process, which has an event although
/// the shown label stays.
#[test]
fn an_exit_under_a_custom_label_has_an_event() {
    let mut herdr = Herdr::new();
    herdr.model.agent_appears(herdr.now, "w1:p1", "claude", "idle");
    herdr.report("custom:bot", "bot", "working", Some(1));
    let (_, mut stream) = herdr.subscribe(json!([{ "type": "pane.agent_detected" }]));
    herdr.events(&mut stream);
    assert!(herdr.model.agent_exits(herdr.now, "w1:p1"));
    assert_eq!(herdr.row(), "bot working");
    let events = herdr.events(&mut stream);
    assert_eq!(
        (&events[0]["agent"], &events[0]["final_status"]),
        (&json!("bot"), &json!("working"))
    );
    herdr.pass(1000);
    assert_eq!(herdr.row(), "bot working");
}

/// B3: a selection that opencode reports without a number waits for the process. If the
/// process is there, it takes effect at once.
#[test]
fn a_selected_session_needs_the_process_and_no_number() {
    let mut herdr = Herdr::new();
    let select = |herdr: &mut Herdr, id: &str| {
        herdr.session("herdr:opencode", "opencode", id, Some("select"), None);
    };
    let waiting = json!({
        "pane_id": "w1:p1", "source": "herdr:opencode", "agent": "opencode", "state": "working",
        "agent_session_id": "s-1", "seq": 5,
    });
    assert_eq!(herdr.code("pane.report_agent", waiting), "ok");
    select(&mut herdr, "s-1");
    assert_eq!(herdr.owner(), None);
    herdr.model.agent_appears(herdr.now, "w1:p1", "opencode", "idle");
    assert_eq!(herdr.owner().unwrap().1, "s-1");
    assert_eq!(herdr.row(), "opencode idle", "the selection drops the pending report");
    herdr.session("herdr:opencode", "opencode", "s-1", Some("new"), Some(7));
    assert_eq!(herdr.model.mark("w1:p1", "herdr:opencode"), Some(7));
    select(&mut herdr, "s-2");
    assert_eq!(herdr.owner().unwrap().1, "s-2", "also after a number");
    assert_eq!(herdr.model.mark("w1:p1", "herdr:opencode"), Some(7));
    herdr.session("herdr:opencode", "opencode", "s-3", Some("new"), Some(8));
    assert_eq!(herdr.owner().unwrap().1, "s-2", "B8: only a selection changes it");
}

/// 4.3: a prompt is checked in this order.
#[test]
fn prompts_that_are_refused() {
    let mut herdr = Herdr::new();
    let prompt = |herdr: &mut Herdr, text: &str| {
        herdr.code("agent.prompt", json!({ "target": "w1:p1", "text": text }))
    };
    assert_eq!(prompt(&mut herdr, ""), "empty_agent_prompt");
    assert_eq!(prompt(&mut herdr, "hi"), "agent_not_found");
    herdr.report("custom:bot", "bot", "blocked", None);
    assert_eq!(prompt(&mut herdr, "hi"), "agent_blocked");
    herdr.report("custom:bot", "bot", "idle", None);
    assert_eq!(prompt(&mut herdr, "hi"), "agent_not_ready", "not an agent that Herdr knows");
    herdr.report("custom:bot", "claude", "idle", None);
    assert_eq!(prompt(&mut herdr, "hi"), "agent_not_ready", "its process is not there");
    herdr.model.agent_appears(herdr.now, "w1:p1", "claude", "idle");
    assert_eq!(prompt(&mut herdr, " "), "ok", "a blank is a text");
    herdr.pass(300);
    let screen = |herdr: &mut Herdr| {
        herdr.pass(0);
        let read = json!({ "pane_id": "w1:p1", "source": "visible" });
        herdr.call("pane.read", read)["result"]["read"]["text"].as_str().unwrap().to_owned()
    };
    assert_eq!(prompt(&mut herdr, "hello"), "ok");
    assert!(screen(&mut herdr).ends_with("hello\n"), "the text at once");
    herdr.pass(300);
    assert!(screen(&mut herdr).ends_with("hello\n$\n"), "and Enter 300 ms later");
}
