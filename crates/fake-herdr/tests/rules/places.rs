//! What closing, moving and focusing do to panes, and what is told of it. The
//! recordings speak of panes only, so these are the server's published rules.
use fake_herdr::Answer;
use serde_json::{Value, json};

use crate::support::Herdr;

/// What the ring holds of these kinds, kind by kind.
fn told(herdr: &mut Herdr) -> Vec<(String, Value)> {
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
    let mut told = Vec::new();
    for kind in KINDS {
        let subscriptions = json!([{ "type": kind }]);
        let params = json!({ "subscriptions": subscriptions });
        let line = json!({ "id": "s", "method": "events.subscribe", "params": params });
        let answer = herdr.model.request(herdr.now, line.to_string().as_bytes());
        let Answer::Stream { mut stream, .. } = answer else { panic!("{answer:?}") };
        let mut seen = 0;
        loop {
            let lines = herdr.model.tick(herdr.now, &mut stream);
            let Some(line) = lines.first() else { break };
            let event: Value = serde_json::from_str(line).unwrap();
            told.push((kind.to_owned(), event["data"].clone()));
            seen += 1;
            assert!(seen < 512);
        }
    }
    told
}

/// What is told while `act` runs, kind by kind.
fn told_by(herdr: &mut Herdr, act: impl FnOnce(&mut Herdr)) -> Vec<(String, Value)> {
    let mut before = told(herdr);
    act(herdr);
    let mut after = told(herdr);
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

/// Makes `pane` done: its agent has finished and nobody looked.
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
fn a_focus_that_nobody_moved_sees_nothing() {
    let mut herdr = Herdr::new();
    workspace(&mut herdr);
    finish(&mut herdr, "w2:p1");
    let events = told_by(&mut herdr, |herdr| {
        ok(herdr, "workspace.close", json!({ "workspace_id": "w1" }));
    });
    assert_eq!(status(&herdr, "w2:p1"), "done");
    let expected = ["workspace.closed", "workspace.focused", "tab.focused", "pane.focused"];
    assert_eq!(names(&events), expected, "the focus that moved is told");

    let again = told_by(&mut herdr, |herdr| {
        ok(herdr, "workspace.focus", json!({ "workspace_id": "w2" }));
    });
    assert_eq!(status(&herdr, "w2:p1"), "idle", "the command sees it");
    assert_eq!(names(&again), [""; 0], "and is not told, as the focus was there");
}

#[test]
fn a_workspace_that_is_closed_is_told_as_it_was() {
    let mut herdr = Herdr::new();
    workspace(&mut herdr);
    ok(&mut herdr, "pane.split", json!({ "target_pane_id": "w2:p1", "direction": "right" }));
    ok(&mut herdr, "tab.create", json!({ "workspace_id": "w2" }));
    let events = told_by(&mut herdr, |herdr| {
        ok(herdr, "workspace.close", json!({ "workspace_id": "w2" }));
    });
    assert_eq!(names(&events), ["workspace.closed"]);
    let before = &events[0].1["workspace"];
    assert_eq!((&before["pane_count"], &before["tab_count"]), (&json!(3), &json!(2)));
}

#[test]
fn what_a_pane_takes_along_is_told_only_if_it_was_closed() {
    let mut herdr = Herdr::new();
    workspace(&mut herdr);
    ok(&mut herdr, "tab.create", json!({ "workspace_id": "w2" }));
    let close = |herdr: &mut Herdr, pane: &str| {
        ok(herdr, "pane.close", json!({ "pane_id": pane }));
    };
    let events = told_by(&mut herdr, |herdr| close(herdr, "w2:p2"));
    assert_eq!(names(&events), ["pane.closed"], "its tab went without a word");
    let events = told_by(&mut herdr, |herdr| close(herdr, "w2:p1"));
    assert_eq!(names(&events), ["workspace.closed", "pane.closed"]);

    workspace(&mut herdr);
    let events = told_by(&mut herdr, |herdr| assert!(herdr.model.exit_pane(herdr.now, "w3:p1")));
    assert_eq!(names(&events), ["pane.exited"], "its workspace went without a word");
}

#[test]
fn a_tab_that_is_closed_takes_its_workspace_along() {
    let mut herdr = Herdr::new();
    workspace(&mut herdr);
    ok(&mut herdr, "tab.create", json!({ "workspace_id": "w2" }));
    ok(&mut herdr, "pane.split", json!({ "target_pane_id": "w2:p2", "direction": "down" }));
    let close = |herdr: &mut Herdr, tab: &str| {
        ok(herdr, "tab.close", json!({ "tab_id": tab }));
    };
    assert_eq!(names(&told_by(&mut herdr, |herdr| close(herdr, "w2:t1"))), ["tab.closed"]);
    let left = ok(&mut herdr, "tab.get", json!({ "tab_id": "w2:t2" }));
    assert_eq!(left["tab"]["number"], 2, "a number is for life");
    let events = told_by(&mut herdr, |herdr| close(herdr, "w2:t2"));
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
        let params = json!({ "subscriptions": [{ "type": "pane.agent_detected" }] });
        let line = json!({ "id": "s", "method": "events.subscribe", "params": params });
        herdr.model.exit_pane(herdr.now, pane);
        let answer = herdr.model.request(herdr.now, line.to_string().as_bytes());
        let Answer::Stream { mut stream, .. } = answer else { panic!("{answer:?}") };
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
fn a_first_state_of_a_process_finishes_nothing() {
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
fn a_move_tells_what_it_closed_and_made() {
    let mut herdr = Herdr::new();
    workspace(&mut herdr);
    let events = told_by(&mut herdr, |herdr| {
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
    assert_eq!(events[1].1.get("workspace"), None, "by its id alone");

    ok(&mut herdr, "pane.split", json!({ "target_pane_id": "w1:p1", "direction": "right" }));
    let events = told_by(&mut herdr, |herdr| {
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
fn creation_tells_the_layout_too() {
    let mut herdr = Herdr::new();
    let events = told_by(&mut herdr, |herdr| {
        workspace(herdr);
        ok(herdr, "tab.create", json!({ "workspace_id": "w2" }));
    });
    let layouts = events.iter().filter(|(kind, _)| kind == "layout.updated");
    assert_eq!(layouts.count(), 2);
}

#[test]
fn a_server_that_stops_still_takes_readers_of_the_ring() {
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
