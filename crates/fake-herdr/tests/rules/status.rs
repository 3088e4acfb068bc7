//! The status `done` and the count of state changes (protocol 2.3).

use serde_json::json;

use crate::support::Herdr;

/// A pane is `done` when its work ends while the user looks elsewhere, until a command
/// focuses it.
#[test]
fn done_until_the_pane_is_focused() {
    let mut herdr = Herdr::new();
    let create = json!({ "label": "elsewhere", "focus": true });
    herdr.call("workspace.create", create);
    herdr.report("custom:a", "bot", "idle", None);
    assert_eq!(herdr.row(), "bot idle", "the first idle does not end work");
    herdr.report("custom:a", "bot", "blocked", None);
    herdr.report("custom:a", "bot", "idle", None);
    assert_eq!(herdr.row(), "bot done");
    herdr.report("custom:b", "other", "idle", None);
    assert_eq!(herdr.row(), "other done", "another label does not make it seen");
    herdr.call("workspace.focus", json!({ "workspace_id": "w1" }));
    assert_eq!(herdr.row(), "other idle");
    herdr.call("workspace.focus", json!({ "workspace_id": "w2" }));
    herdr.report("custom:c", "third", "unknown", None);
    herdr.report("custom:d", "fourth", "idle", None);
    assert_eq!(herdr.row(), "fourth idle", "unknown to idle ends work only of the same agent");
    herdr.report("custom:d", "fourth", "unknown", None);
    herdr.report("custom:d", "fourth", "idle", None);
    assert_eq!(herdr.row(), "fourth done");
}

/// `state_change_seq` is a single counter, which only state changes raise.
#[test]
fn state_changes_are_counted_for_the_whole_server() {
    let mut herdr = Herdr::new();
    let seq = |herdr: &mut Herdr| {
        herdr.call("agent.get", json!({ "target": "w1:p1" }))["result"]["agent"]["state_change_seq"]
            .clone()
    };
    herdr.report("custom:a", "bot", "unknown", None);
    assert_eq!(seq(&mut herdr), 0, "present without a change");
    herdr.report("custom:a", "bot", "working", None);
    herdr.report("custom:a", "bot", "working", None);
    herdr.report("custom:b", "other", "working", None);
    assert_eq!(seq(&mut herdr), 1);
    let second = herdr.model.split_pane(herdr.now, "w1:p1").unwrap();
    let params = json!({ "pane_id": second, "source": "custom:a", "agent": "x", "state": "idle" });
    herdr.call("pane.report_agent", params);
    herdr.report("custom:b", "other", "idle", None);
    assert_eq!(seq(&mut herdr), 3);
}

/// A pane is seen when a command focuses its tab, and not when the focus moves there
/// because something else was closed.
#[test]
fn only_commands_mark_panes_as_seen() {
    let mut herdr = Herdr::new();
    let finish = |herdr: &mut Herdr, pane: &str| {
        for state in ["working", "idle"] {
            let params = json!({ "pane_id": pane, "source": "s", "agent": "bot", "state": state });
            herdr.call("pane.report_agent", params);
        }
    };
    let status =
        |herdr: &Herdr, pane: &str| herdr.model.observe(herdr.now, pane).unwrap().agent_status;
    herdr.call("workspace.create", json!({}));
    finish(&mut herdr, "w2:p1");
    assert_eq!(status(&herdr, "w2:p1"), "done");
    // The focused workspace closes, and the next one has the focus in between.
    let destination = json!({ "type": "new_workspace" });
    let params = json!({ "pane_id": "w1:p1", "destination": destination, "focus": true });
    herdr.call("pane.move", params);
    assert_eq!(status(&herdr, "w2:p1"), "done");
    let destination = json!({ "type": "tab", "split": "right", "tab_id": "w3:t1" });
    herdr.call("pane.move", json!({ "pane_id": "w2:p1", "destination": destination }));
    assert_eq!(status(&herdr, "w3:p2"), "done", "it is visible, but no command has focused it");
    herdr.call("workspace.focus", json!({ "workspace_id": "w3" }));
    assert_eq!(status(&herdr, "w3:p2"), "idle");
    // A close that uncovers a pane does not mark it as seen either.
    herdr.call("tab.create", json!({ "focus": true }));
    finish(&mut herdr, "w3:p2");
    assert_eq!(status(&herdr, "w3:p2"), "done");
    assert!(herdr.model.close_pane(herdr.now, "w3:p3"));
    assert_eq!(status(&herdr, "w3:p2"), "done");
    herdr.call("pane.focus", json!({ "pane_id": "w3:p1" }));
    assert_eq!(status(&herdr, "w3:p2"), "idle", "a command marks the whole tab as seen");
}
