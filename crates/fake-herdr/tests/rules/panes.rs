//! The ids, moves and ends of panes (protocol 2.3 and 7.6).

use serde_json::json;

use crate::support::Herdr;

/// The old ids of a moved pane stay valid through any number of moves, until a handoff.
#[test]
fn moved_panes_keep_their_old_ids() {
    let mut herdr = Herdr::new();
    herdr.report("custom:bot", "bot", "working", Some(1));
    let second = herdr.model.move_pane(herdr.now, "w1:p1").unwrap();
    let third = herdr.model.move_pane(herdr.now, "w1:p1").unwrap();
    assert_eq!((second.as_str(), third.as_str()), ("w2:p1", "w3:p1"));
    for id in ["w1:p1", "w2:p1", "w3:p1", "p_1", "1-1", "w3-1", "w_1:p1", "p_w3_1"] {
        let reply = herdr.call("pane.get", json!({ "pane_id": id }));
        assert_eq!(reply["result"]["pane"]["pane_id"], "w3:p1", "{id}");
    }
    // The agent methods take only the current id.
    assert_eq!(herdr.code("agent.get", json!({ "target": "w1:p1" })), "agent_not_found");
    assert_eq!(herdr.code("agent.get", json!({ "target": "w3:p1" })), "ok");
    herdr.model.live_handoff(herdr.now);
    assert!(herdr.model.observe(herdr.now, "w1:p1").is_none());
    let seen = herdr.model.observe(herdr.now, "w3:p1").unwrap();
    assert_eq!(seen.agent, None);
}

/// The numbers of panes are never used twice.
#[test]
fn numbers_are_not_reused() {
    let mut herdr = Herdr::new();
    assert_eq!(herdr.model.split_pane(herdr.now, "w1:p1").as_deref(), Some("w1:p2"));
    assert_eq!(herdr.model.move_pane(herdr.now, "w1:p2").as_deref(), Some("w2:p1"));
    assert_eq!(herdr.model.split_pane(herdr.now, "w1:p1").as_deref(), Some("w1:p3"));
    assert!(herdr.model.close_pane(herdr.now, "w1:p3"));
    assert_eq!(herdr.model.split_pane(herdr.now, "w1:p1").as_deref(), Some("w1:p4"));
    assert!(!herdr.model.close_pane(herdr.now, "w1:p3"));
}

/// 7.6: official sessions survive a handoff and a restart; claims, metadata and marks do
/// not.
#[test]
fn handoffs_and_restarts_keep_official_sessions() {
    for restart in [false, true] {
        let mut herdr = Herdr::new();
        herdr.metadata("custom:bot", json!({ "title": "T", "tokens": { "k": "v" }, "seq": 9 }));
        herdr.report("custom:bot", "bot", "working", Some(9));
        herdr.session("herdr:claude", "claude", "s-1", None, Some(9));
        if restart {
            herdr.model.restart(herdr.now);
        } else {
            herdr.model.live_handoff(herdr.now);
        }
        let seen = herdr.see();
        assert_eq!((herdr.row().as_str(), seen.title, seen.tokens.len()), ("- unknown", None, 0));
        assert_eq!(herdr.owner().unwrap().1, "s-1", "official sessions come back");
        assert_eq!(herdr.model.mark("w1:p1", "herdr:claude"), None);
        assert_eq!(herdr.model.metadata_mark("w1:p1", "custom:bot"), None);
        assert_eq!(herdr.model.authority("w1:p1"), None);
    }
}

/// 2.3: only a pane that leaves its workspace gets another id. A pane that moves to a new
/// tab of its workspace keeps the workspace, even if it was alone there.
#[test]
fn a_move_within_the_workspace_keeps_the_id() {
    let mut herdr = Herdr::new();
    let destination = json!({ "type": "new_tab", "label": "own" });
    let params = json!({ "pane_id": "w1:p1", "destination": destination, "focus": false });
    let moved = herdr.call("pane.move", params)["result"]["move_result"].clone();
    assert_eq!(
        (&moved["pane"]["pane_id"], &moved["pane"]["tab_id"]),
        (&"w1:p1".into(), &"w1:t2".into())
    );
    assert_eq!(
        (&moved["closed_tab_id"], moved.get("closed_workspace_id")),
        (&"w1:t1".into(), None)
    );
    assert!(moved.get("created_workspace").is_none());
    assert_eq!(herdr.call("pane.current", json!({}))["result"]["pane"]["pane_id"], "w1:p1");
    let stay = json!({
        "pane_id": "w1:p1", "destination": { "type": "tab", "split": "right", "tab_id": "w1:t2", "target_pane_id": "x" },
    });
    let stays = herdr.call("pane.move", stay)["result"]["move_result"].clone();
    assert_eq!((&stays["changed"], &stays["reason"]), (&json!(false), &json!("same_tab")));
}

/// Destinations are resolved before anything moves, and afterwards some pane has the
/// focus.
#[test]
fn moves_out_of_a_workspace_that_closes() {
    let mut herdr = Herdr::new();
    let to = |pane: &str, destination: serde_json::Value| json!({ "pane_id": pane, "destination": destination, "focus": false });
    let id = |reply: &serde_json::Value| reply["result"]["move_result"]["pane"]["pane_id"].clone();
    let kinds =
        ["tab.closed", "workspace.closed", "pane.moved"].map(|kind| json!({ "type": kind }));
    let (_, mut stream) = herdr.subscribe(json!(kinds));
    let alone = herdr.call("pane.move", to("w1:p1", json!({ "type": "new_workspace" })));
    let events = herdr.events(&mut stream);
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["tab_closed", "workspace_closed", "pane_moved"]);
    assert_eq!(
        (&events[0]["tab_id"], &events[1]["workspace_id"]),
        (&json!("w1:t1"), &json!("w1")),
        "the closed tab and workspace have events"
    );
    assert_eq!(id(&alone), "w2:p1");
    assert_eq!(alone["result"]["move_result"]["closed_workspace_id"], "w1");
    assert_eq!(herdr.call("pane.current", json!({}))["result"]["pane"]["pane_id"], "w2:p1");
    herdr.call("workspace.create", json!({ "focus": true }));
    // The destination is second in the list, and becomes first when the other closes.
    let second =
        herdr.call("pane.move", to("w2:p1", json!({ "type": "new_tab", "workspace_id": "2" })));
    assert_eq!(id(&second), "w3:p2");
    herdr.call("workspace.create", json!({}));
    for (destination, code) in [
        (json!({ "type": "tab", "split": "right", "tab_id": "w9:t1" }), "tab_not_found"),
        (
            json!({ "type": "tab", "split": "right", "tab_id": "w4:t1", "target_pane_id": "w3:p1" }),
            "target_pane_not_found",
        ),
        (
            json!({ "type": "tab", "split": "right", "tab_id": "w4:t1", "target_pane_id": "x" }),
            "target_pane_not_found",
        ),
        (json!({ "type": "new_tab", "workspace_id": "w9" }), "workspace_not_found"),
    ] {
        assert_eq!(herdr.code("pane.move", to("w3:p2", destination)), code);
    }
    let beside = herdr.call(
        "pane.move",
        to("w3:p2", json!({ "type": "tab", "split": "right", "tab_id": "w4:t1" })),
    );
    assert_eq!(id(&beside), "w4:p2");
    assert_eq!(
        beside["result"]["move_result"]["focused_pane_id"], "w4:p1",
        "the focus of the destination tab"
    );
}

/// 7.5: a closed workspace or tab has a single event, which shows it as it was.
#[test]
fn closed_workspaces_and_tabs_are_one_event() {
    let mut herdr = Herdr::new();
    herdr.call("tab.create", json!({ "focus": true }));
    herdr.model.split_pane(herdr.now, "w1:p2").unwrap();
    herdr.call("workspace.create", json!({ "focus": false }));
    let kinds = ["pane.closed", "tab.closed", "workspace.closed", "layout.updated"];
    let (_, mut stream) = herdr.subscribe(json!(kinds.map(|kind| json!({ "type": kind }))));
    herdr.events(&mut stream);
    assert_eq!(herdr.code("tab.close", json!({ "tab_id": "w1:t2" })), "ok");
    let events = herdr.events(&mut stream);
    assert_eq!(events, [json!({ "type": "tab_closed", "tab_id": "w1:t2", "workspace_id": "w1" })]);
    for pane in ["w1:p2", "w1:p3"] {
        assert_eq!(herdr.code("pane.get", json!({ "pane_id": pane })), "pane_not_found");
    }
    herdr.model.split_pane(herdr.now, "w1:p1").unwrap();
    herdr.events(&mut stream);
    assert_eq!(herdr.code("workspace.close", json!({ "workspace_id": "w1" })), "ok");
    let events = herdr.events(&mut stream);
    assert_eq!((events.len(), &events[0]["type"]), (1, &json!("workspace_closed")));
    assert_eq!(events[0]["workspace"]["pane_count"], 2);
    assert_eq!(herdr.call("pane.current", json!({}))["result"]["pane"]["pane_id"], "w2:p1");
    assert_eq!(herdr.code("tab.close", json!({ "tab_id": "w2:t1" })), "ok");
    assert!(herdr.model.pane_ids().is_empty(), "closing the last tab closes the workspace");
    assert_eq!(herdr.code("pane.current", json!({})), "pane_not_found");
}
