//! One odd pane among others costs no reply.

use herdr_proto::{PaneListReply, SnapshotReply, decode};
use serde_json::{Value, json};

fn panes(odd: &str) -> Value {
    json!([
        {"pane_id": odd, "label": odd, "agent": odd, "agent_status": odd, "title": odd,
         "state_labels": {odd: odd}, "tokens": {odd: odd}},
        {"pane_id": "w1:p2", "agent": "bot", "agent_status": "working"},
    ])
}

#[test]
fn f55_an_odd_pane_is_kept_as_text_and_the_rest_is_used() {
    for odd in ["", " ", "a b", "x\u{1b}[2J\ny", &"é".repeat(5_000)] {
        let line = json!({"id": "1", "result": {"type": "pane_list", "panes": panes(odd)}});
        let list: PaneListReply = decode(line.to_string().as_bytes()).unwrap().unwrap();
        assert_eq!(list.panes[0].pane_id.as_str(), odd);
        assert_eq!(list.panes[0].agent.as_deref(), Some(odd));
        assert_eq!(list.panes[1].pane_id.as_str(), "w1:p2");

        let snapshot = json!({"panes": panes(odd), "agents": panes(odd)});
        let line = json!({"id": "1", "result": {"type": "session_snapshot", "snapshot": snapshot}});
        let reply: SnapshotReply = decode(line.to_string().as_bytes()).unwrap().unwrap();
        assert_eq!(reply.snapshot.agents[0].pane_id.as_str(), odd);
        assert_eq!(reply.snapshot.panes[1].agent_status.as_str(), "working");
        assert_eq!(reply.snapshot.agents.len(), 2);
    }
}
