//! The agents and how they change from one read to the next.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use herdr_proto::{PaneId, Snapshot};

use crate::picture::Agent;

/// The agents, in the server's order (failure B89).
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
    looked: bool,
    /// The panes that have an agent on record and no process of it.
    pub(crate) without_process: HashSet<PaneId>,
}

/// An agent, and since when its present state has been seen.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) agent: Agent,
    since: Instant,
    /// Whether the state began while it was watched, so that its age is exact.
    pub(crate) witnessed: bool,
}

/// A difference from the previous read.
#[derive(Debug)]
pub(crate) struct Change {
    /// `appeared`, `changed` or `gone`.
    pub(crate) change: &'static str,
    pub(crate) row: Row,
}

impl Row {
    pub(crate) fn seen(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.since)
    }
}

impl Table {
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Takes what the server shows now and returns the changes, in the server's order.
    pub(crate) fn take(&mut self, snapshot: &Snapshot, now: Instant) -> Vec<Change> {
        let before = std::mem::take(&mut self.rows).into_iter();
        let mut before: HashMap<String, Row> =
            before.map(|row| (row.agent.key.clone(), row)).collect();
        let mut changes = Vec::new();
        for info in &snapshot.agents {
            let mut agent = Agent::of(info, snapshot);
            if self.without_process.contains(&info.pane_id) {
                agent = agent.without_process();
            }
            let Some(old) = before.remove(&agent.key) else {
                let row = Row { agent, since: now, witnessed: self.looked };
                changes.push(Change { change: "appeared", row: row.clone() });
                self.rows.push(row);
                continue;
            };
            let same = agent == old.agent;
            let row = if agent.goes_on_from(&old.agent) {
                Row { agent, ..old }
            } else {
                Row { agent, since: now, witnessed: true }
            };
            if !same {
                changes.push(Change { change: "changed", row: row.clone() });
            }
            self.rows.push(row);
        }
        let mut gone: Vec<Row> = before.into_values().collect();
        gone.sort_by_key(|row| row.since);
        changes.extend(gone.into_iter().map(|row| Change { change: "gone", row }));
        self.looked = true;
        changes
    }

    /// The server went away. States that begin before it is back begin unseen.
    pub(crate) fn lose_sight(&mut self) {
        self.looked = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(agents: &str) -> Snapshot {
        let text = format!(
            r#"{{"workspaces": [{{"workspace_id": "w1", "label": "demo"}}], "agents": [{agents}]}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    fn agent(pane: &str, status: &str, seq: u64) -> String {
        format!(
            r#"{{"pane_id": "{pane}", "agent": "bot", "agent_status": "{status}",
                "workspace_id": "w1", "state_change_seq": {seq}}}"#
        )
    }

    #[test]
    fn a_state_without_a_process_is_shown_as_such() {
        let start = Instant::now();
        let mut table = Table::default();
        let working = snapshot(&agent("w1:p1", "working", 4));
        table.take(&working, start);
        table.without_process.insert("w1:p1".parse().unwrap());
        let changes = table.take(&working, start + SECOND);
        assert!(matches!(&changes[..], [it] if it.change == "changed" && it.row.witnessed));
        let row = &table.rows()[0];
        assert_eq!(row.agent.state_text(), "no process");
        assert_eq!(row.seen(start + SECOND), Duration::ZERO);
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_time_of_a_state_begins_when_its_number_changes() {
        let start = Instant::now();
        let mut table = Table::default();
        let changes = table.take(&snapshot(&agent("w1:p1", "working", 4)), start);
        assert!(matches!(&changes[..], [it] if it.change == "appeared" && !it.row.witnessed));
        assert!(table.take(&snapshot(&agent("w1:p1", "working", 4)), start + SECOND).is_empty());
        assert_eq!(table.rows()[0].seen(start + SECOND), SECOND);

        // There was another state in between.
        let changes = table.take(&snapshot(&agent("w1:p1", "working", 6)), start + 2 * SECOND);
        assert!(matches!(&changes[..], [it] if it.change == "changed" && it.row.witnessed));
        assert_eq!(table.rows()[0].seen(start + 5 * SECOND), 3 * SECOND);

        // An idle that a person has seen is not a new state (failure B30).
        table.take(&snapshot(&agent("w1:p1", "done", 7)), start + 6 * SECOND);
        let changes = table.take(&snapshot(&agent("w1:p1", "idle", 7)), start + 7 * SECOND);
        assert!(matches!(&changes[..], [it] if it.change == "changed"));
        assert_eq!(table.rows()[0].seen(start + 7 * SECOND), SECOND);

        let changes = table.take(&snapshot(""), start + 8 * SECOND);
        assert!(matches!(&changes[..], [it] if it.change == "gone"));
        assert!(table.rows().is_empty());
    }

    #[test]
    fn b89_the_servers_order_is_kept() {
        let agents =
            ["w1:p10", "w1:p9", "w1:pa", "w1:p1"].map(|pane| agent(pane, "idle", 1)).join(",");
        let mut table = Table::default();
        table.take(&snapshot(&agents), Instant::now());
        let order: Vec<_> = table.rows().iter().map(|row| row.agent.pane_id.as_str()).collect();
        assert_eq!(order, ["w1:p10", "w1:p9", "w1:pa", "w1:p1"]);
    }

    #[test]
    fn what_begins_out_of_sight_was_not_seen_to_begin() {
        let now = Instant::now();
        let mut table = Table::default();
        table.take(&snapshot(""), now);
        table.lose_sight();
        let changes = table.take(&snapshot(&agent("w1:p1", "working", 1)), now);
        assert!(matches!(&changes[..], [it] if it.change == "appeared" && !it.row.witnessed));
    }
}
