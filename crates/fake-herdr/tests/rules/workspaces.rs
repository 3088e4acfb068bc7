//! How closing, moving and focusing change panes, and their events. The recordings
//! cover only panes, so these tests follow the server's published rules.
use serde_json::{Value, json};

use crate::support::Herdr;

/// The events of these kinds in the ring, kind by kind.
fn all_events(herdr: &mut Herdr) -> Vec<(String, Value)> {
    const KINDS: [&str; 11] = [
        "workspace.created",
        "workspace.closed",
        "workspace.focused",
        "tab.created",
        "tab.closed",
        "tab.focused",
        "pane.closed",
        "pane.exited",
        "pane.moved",
        "pane.focused",
        "layout.updated",
    ];
    let mut events = Vec::new();
    for kind in KINDS {
        let (_, mut stream) = herdr.subscribe(json!([{ "type": kind }]));
        let mut seen = 0;
        loop {
            let lines = herdr.model.tick(herdr.now, &mut stream);
            let Some(line) = lines.first() else { break };
            let event: Value = serde_json::from_str(line).unwrap();
            events.push((kind.to_owned(), event["data"].clone()));
            seen += 1;
            assert!(seen < 512);
        }
    }
    events
}

/// The events of `act`, kind by kind.
fn events_of(herdr: &mut Herdr, act: impl FnOnce(&mut Herdr)) -> Vec<(String, Value)> {
    let mut before = all_events(herdr);
    act(herdr);
    let mut after = all_events(herdr);
    after.retain(|event| {
        let known = before.iter().position(|old| old == event);
        known.map(|place| before.remove(place)).is_none()
    });
    after
}

fn names(events: &[(String, Value)]) -> Vec<&str> {
    events.iter().map(|(kind, _)| kind.as_str()).collect()
}

fn ok(herdr: &mut Herdr, method: &str, params: Value) -> Value {
    let mut reply = herdr.call(method, params);
    assert_eq!(reply.get("error"), None, "{method}");
    reply["result"].take()
}

fn workspace(herdr: &mut Herdr) -> String {
    let made = ok(herdr, "workspace.create", json!({ "label": "other" }));
    made["workspace"]["workspace_id"].as_str().unwrap().to_owned()
}

fn status(herdr: &Herdr, pane: &str) -> String {
    herdr.model.observe(herdr.now, pane).unwrap().agent_status
}

/// Makes a pane `done`: its agent finishes while the user looks at another pane.
fn finish(herdr: &mut Herdr, pane: &str) {
    for (seq, state) in [(1, "working"), (2, "idle")] {
        let params = json!({
            "pane_id": pane, "source": "custom:bot", "agent": "bot", "state": state, "seq": seq,
        });
        ok(herdr, "pane.report_agent", params);
    }
    assert_eq!(status(herdr, pane), "done");
}

#[test]
fn a_focus_that_moves_without_a_command_does_not_mark_panes_as_seen() {
    let mut herdr = Herdr::new();
    workspace(&mut herdr);
    finish(&mut herdr, "w2:p1");
    let events = events_of(&mut herdr, |herdr| {
        ok(herdr, "workspace.close", json!({ "workspace_id": "w1" }));
    });
    assert_eq!(status(&herdr, "w2:p1"), "done");
    let expected = ["workspace.closed", "workspace.focused", "tab.focused", "pane.focused"];
    assert_eq!(names(&events), expected, "the moved focus has events");

    let again = events_of(&mut herdr, |herdr| {
        ok(herdr, "workspace.focus", json!({ "workspace_id": "w2" }));
    });
    assert_eq!(status(&herdr, "w2:p1"), "idle", "the command marks it as seen");
    assert_eq!(names(&again), [""; 0], "the focus did not move");
}

#[test]
fn the_event_of_a_closed_workspace_shows_it_as_it_was() {
    let mut herdr = Herdr::new();
    workspace(&mut herdr);
    ok(&mut herdr, "pane.split", json!({ "target_pane_id": "w2:p1", "direction": "right" }));
    ok(&mut herdr, "tab.create", json!({ "workspace_id": "w2" }));
    let events = events_of(&mut herdr, |herdr| {
        ok(herdr, "workspace.close", json!({ "workspace_id": "w2" }));
    });
    assert_eq!(names(&events), ["workspace.closed"]);
    let before = &events[0].1["workspace"];
    assert_eq!((&before["pane_count"], &before["tab_count"]), (&json!(3), &json!(2)));
}

#[test]
fn a_tab_or_workspace_that_goes_with_its_pane_may_have_no_event() {
    let mut herdr = Herdr::new();
    workspace(&mut herdr);
    ok(&mut herdr, "tab.create", json!({ "workspace_id": "w2" }));
    let close = |herdr: &mut Herdr, pane: &str| {
        ok(herdr, "pane.close", json!({ "pane_id": pane }));
    };
    let events = events_of(&mut herdr, |herdr| close(herdr, "w2:p2"));
    assert_eq!(names(&events), ["pane.closed"], "its tab has no event");
    let events = events_of(&mut herdr, |herdr| close(herdr, "w2:p1"));
    assert_eq!(names(&events), ["workspace.closed", "pane.closed"]);

    workspace(&mut herdr);
    let events = events_of(&mut herdr, |herdr| assert!(herdr.model.exit_pane(herdr.now, "w3:p1")));
    assert_eq!(names(&events), ["pane.exited"], "its workspace has no event");
}

#[test]
fn closing_the_last_tab_closes_the_workspace() {
    let mut herdr = Herdr::new();
    workspace(&mut herdr);
    ok(&mut herdr, "tab.create", json!({ "workspace_id": "w2" }));
    ok(&mut herdr, "pane.split", json!({ "target_pane_id": "w2:p2", "direction": "down" }));
    let close = |herdr: &mut Herdr, tab: &str| {
        ok(herdr, "tab.close", json!({ "tab_id": tab }));
    };
    assert_eq!(names(&events_of(&mut herdr, |herdr| close(herdr, "w2:t1"))), ["tab.closed"]);
    let left = ok(&mut herdr, "tab.get", json!({ "tab_id": "w2:t2" }));
    assert_eq!(left["tab"]["number"], 2, "a number does not change");
    let events = events_of(&mut herdr, |herdr| close(herdr, "w2:t2"));
    assert_eq!(names(&events), ["workspace.closed", "tab.closed"]);
    assert_eq!(events[0].1["workspace"]["pane_count"], 2);
}

#[test]
fn a_shell_that_exits_under_a_known_label_ends_idle() {
    for (focused, status) in [(true, "idle"), (false, "done")] {
        let mut herdr = Herdr::new();
        workspace(&mut herdr);
        let pane = if focused { "w1:p1" } else { "w2:p1" };
        let params = json!({
            "pane_id": pane, "source": "custom:host", "agent": "claude", "state": "working",
        });
        ok(&mut herdr, "pane.report_agent", params);
        herdr.model.exit_pane(herdr.now, pane);
        let (_, mut stream) = herdr.subscribe(json!([{ "type": "pane.agent_detected" }]));
        let began = herdr.model.tick(herdr.now, &mut stream);
        let ended = herdr.model.tick(herdr.now, &mut stream);
        assert!(began[0].contains("claude") && !began[0].contains("released"), "{began:?}");
        let event: Value = serde_json::from_str(&ended[0]).unwrap();
        let data = &event["data"];
        assert_eq!((&data["agent"], &data["released"]), (&json!("claude"), &json!(true)));
        assert_eq!(data["final_status"], status, "looked at: {focused}");
    }
}

#[test]
fn the_first_state_of_a_process_does_not_end_work() {
    let mut herdr = Herdr::new();
    workspace(&mut herdr);
    for (state, shown) in [("unknown", "unknown"), ("idle", "idle")] {
        assert!(herdr.model.agent_appears(herdr.now, "w2:p1", "claude", state));
        assert_eq!(status(&herdr, "w2:p1"), shown);
    }
}

fn moved(herdr: &mut Herdr, pane: &str, destination: &Value) -> Value {
    let params = json!({ "pane_id": pane, "destination": destination });
    ok(herdr, "pane.move", params)["move_result"].take()
}

#[test]
fn a_move_within_a_tab_changes_nothing() {
    let mut herdr = Herdr::new();
    ok(&mut herdr, "pane.split", json!({ "target_pane_id": "w1:p1", "direction": "right" }));
    let to = json!({ "type": "tab", "tab_id": "w1:t1", "split": "down" });
    let result = moved(&mut herdr, "w1:p2", &to);
    assert_eq!((&result["changed"], &result["reason"]), (&json!(false), &json!("same_tab")));
    assert_eq!(result["source_layout"], result["target_layout"]);
}

#[test]
fn a_move_has_events_for_what_it_closes_and_makes() {
    let mut herdr = Herdr::new();
    workspace(&mut herdr);
    let events = events_of(&mut herdr, |herdr| {
        moved(herdr, "w2:p1", &json!({ "type": "new_workspace", "label": "x" }));
    });
    let expected = [
        "workspace.created",
        "workspace.closed",
        "tab.created",
        "tab.closed",
        "pane.moved",
        "layout.updated",
    ];
    assert_eq!(names(&events), expected);
    assert_eq!(events[1].1.get("workspace"), None, "only its id");

    ok(&mut herdr, "pane.split", json!({ "target_pane_id": "w1:p1", "direction": "right" }));
    let events = events_of(&mut herdr, |herdr| {
        let to = json!({ "type": "tab", "tab_id": "w3:t1", "split": "right" });
        moved(herdr, "w1:p2", &to);
    });
    assert_eq!(names(&events), ["pane.moved", "layout.updated", "layout.updated"]);
}

#[test]
fn the_only_workspace_has_the_focus() {
    let mut herdr = Herdr::new();
    let result = moved(&mut herdr, "w1:p1", &json!({ "type": "new_workspace" }));
    assert_eq!(result["pane"]["focused"], true);
}

#[test]
fn creation_has_a_layout_event() {
    let mut herdr = Herdr::new();
    let events = events_of(&mut herdr, |herdr| {
        workspace(herdr);
        ok(herdr, "tab.create", json!({ "workspace_id": "w2" }));
    });
    let layouts = events.iter().filter(|(kind, _)| kind == "layout.updated");
    assert_eq!(layouts.count(), 2);
}

#[test]
fn a_stopping_server_still_takes_lifecycle_subscriptions() {
    let mut herdr = Herdr::new();
    ok(&mut herdr, "server.stop", json!({}));
    assert_eq!(herdr.code("pane.list", json!({})), "server_unavailable");
    let subscribe = |herdr: &mut Herdr, entry: Value| {
        let params = json!({ "subscriptions": [entry] });
        let line = json!({ "id": "s", "method": "events.subscribe", "params": params });
        let answer = herdr.model.request(herdr.now, line.to_string().as_bytes());
        serde_json::from_str::<Value>(answer.line().unwrap()).unwrap()
    };
    let started = subscribe(&mut herdr, json!({ "type": "pane.closed" }));
    assert_eq!(started["result"]["type"], "subscription_started");
    let status = json!({ "type": "pane.agent_status_changed", "pane_id": "w1:p1" });
    let refused = subscribe(&mut herdr, status);
    assert_eq!(refused["error"]["code"], "server_unavailable");
    assert_eq!(refused["id"], "s:sub:0:probe");
}
