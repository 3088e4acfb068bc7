//! Following the status of many panes with one request a second.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use herdr_proto::{AgentStatus, PaneId, SessionSnapshot, Snapshot};
use serde::Serialize;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::control::PaneControl;
use crate::error::{Error, ErrorKind};
use crate::target::Target;

/// The interval between two snapshots.
const PERIOD: Duration = Duration::from_secs(1);
/// How long after a restart of the server its statuses may still change by themselves.
const SETTLING: Duration = Duration::from_secs(5);

/// What happened to a pane between two snapshots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// The present id of the pane, or the last id of a pane that is gone.
    pub pane_id: PaneId,
    /// The terminal, which stays when the id changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal_id: Option<String>,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
    /// Whether the server has just restarted. It detects agents again then, so a status may
    /// change although nothing has happened.
    pub settling: bool,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
#[non_exhaustive]
pub enum What {
    /// The status. This includes the first one that is seen, and one that changed and changed
    /// back between two snapshots.
    Status {
        /// The agent; absent if the pane has none now.
        #[serde(skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// The status in the server's words: `done` is an idle that no person has seen.
        status: AgentStatus,
        /// The sequence number of the change.
        #[serde(skip_serializing_if = "Option::is_none")]
        state_change_seq: Option<u64>,
    },
    /// The pane has another id.
    Moved {
        /// The previous id.
        from: PaneId,
    },
    /// The pane is gone.
    Gone,
}

/// The panes as they were last seen. Pure: it takes snapshots and returns changes.
#[derive(Debug, Default)]
struct Picture {
    /// The panes that are followed; empty means all.
    targets: Vec<Target>,
    panes: HashMap<String, Entry>,
    /// In the server's order.
    order: Vec<String>,
    settled_at: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    pane: PaneId,
    terminal: Option<String>,
    agent: Option<String>,
    status: AgentStatus,
    seq: Option<u64>,
}

impl Picture {
    fn update(&mut self, now: Duration, snapshot: &Snapshot) -> VecDeque<Change> {
        let (order, panes) = self.read(snapshot);
        let restarted = !self.panes.is_empty()
            && !order.is_empty()
            && order.iter().all(|key| !self.panes.contains_key(key));
        if restarted {
            self.settled_at = now + SETTLING;
        }
        let settling = now < self.settled_at;
        let change = |entry: &Entry, what| Change {
            pane_id: entry.pane.clone(),
            terminal_id: entry.terminal.clone(),
            what,
            settling,
        };
        let mut changes = VecDeque::new();
        for key in self.order.iter().filter(|key| !panes.contains_key(*key)) {
            changes.push_back(change(&self.panes[key], What::Gone));
        }
        for entry in order.iter().map(|key| (&panes[key], self.panes.get(key))) {
            let (new, old) = entry;
            if let Some(old) = old.filter(|old| old.pane != new.pane) {
                changes.push_back(change(new, What::Moved { from: old.pane.clone() }));
            }
            let status = |entry: &Entry| (entry.agent.clone(), entry.status.clone(), entry.seq);
            if old.map(status) != Some(status(new)) {
                let (agent, status, state_change_seq) = status(new);
                changes.push_back(change(new, What::Status { agent, status, state_change_seq }));
            }
        }
        (self.order, self.panes) = (order, panes);
        changes
    }

    fn read(&mut self, snapshot: &Snapshot) -> (Vec<String>, HashMap<String, Entry>) {
        let (mut order, mut panes) = (Vec::new(), HashMap::new());
        for pane in &snapshot.panes {
            let key = pane.terminal_id.clone().unwrap_or_else(|| pane.pane_id.as_str().to_owned());
            if !self.wants(&pane.pane_id, pane.terminal_id.as_deref()) {
                continue;
            }
            let agent = snapshot.agents.iter().find(|agent| agent.pane_id == pane.pane_id);
            let entry = Entry {
                pane: pane.pane_id.clone(),
                terminal: pane.terminal_id.clone(),
                agent: pane.agent.clone(),
                status: pane.agent_status.clone(),
                seq: agent.map(|agent| agent.state_change_seq),
            };
            order.push(key.clone());
            panes.insert(key, entry);
        }
        (order, panes)
    }

    /// Whether the pane is followed. A target learns its terminal here.
    fn wants(&mut self, pane: &PaneId, terminal: Option<&str>) -> bool {
        if self.targets.is_empty() {
            return true;
        }
        let target = self.targets.iter_mut().find(|target| match target.terminal() {
            Some(known) => Some(known) == terminal,
            None => target.pane == *pane,
        });
        if let Some(target) = target {
            target.terminal = terminal.map(str::to_owned);
            return true;
        }
        false
    }
}

/// The changes of many panes, from [`PaneControl::changes`].
#[derive(Debug)]
pub struct Changes {
    control: PaneControl,
    picture: Picture,
    ready: VecDeque<Change>,
    ticks: tokio::time::Interval,
    began: Instant,
    looked: bool,
}

impl PaneControl {
    /// Follows the status of many panes with one request a second in total. Without targets it
    /// follows all panes, including later ones.
    pub fn changes(&self, targets: impl IntoIterator<Item = Target>) -> Changes {
        let picture = Picture { targets: targets.into_iter().collect(), ..Picture::default() };
        let mut ticks = interval(PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Changes {
            control: self.clone(),
            picture,
            ready: VecDeque::new(),
            ticks,
            began: Instant::now(),
            looked: false,
        }
    }
}

impl Changes {
    /// Waits for the next change. The first ones are the present statuses.
    ///
    /// # Errors
    ///
    /// If the server does not answer; the next call tries again.
    /// [`ErrorKind::PaneGone`] once every named pane is gone.
    ///
    /// # Cancel safety
    ///
    /// No change is lost: a change that was not returned comes with the next call.
    pub async fn next(&mut self) -> Result<Change, Error> {
        loop {
            if let Some(change) = self.ready.pop_front() {
                return Ok(change);
            }
            if self.looked && self.picture.order.is_empty() && !self.picture.targets.is_empty() {
                return Err(Error::new(ErrorKind::PaneGone, "none of the named panes exists"));
            }
            self.ticks.tick().await;
            let snapshot = self.control.client().call(&SessionSnapshot::default()).await?.snapshot;
            self.looked = true;
            self.ready = self.picture.update(self.began.elapsed(), &snapshot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Panes as `id terminal status seq`.
    fn snapshot(panes: &[(&str, &str, &str, u64)]) -> Snapshot {
        let pane = |(id, terminal, status, seq): &(&str, &str, &str, u64)| {
            serde_json::json!({
                "pane_id": id, "terminal_id": terminal, "agent": "bot",
                "agent_status": status, "state_change_seq": seq,
            })
        };
        let panes: Vec<_> = panes.iter().map(pane).collect();
        serde_json::from_value(serde_json::json!({ "panes": panes, "agents": panes })).unwrap()
    }

    fn told(picture: &mut Picture, secs: u64, panes: &[(&str, &str, &str, u64)]) -> Vec<String> {
        let changes = picture.update(Duration::from_secs(secs), &snapshot(panes));
        let told = changes.iter().map(|change| {
            let settling = if change.settling { " settling" } else { "" };
            let what = match &change.what {
                What::Status { status, .. } => status.as_str().to_owned(),
                What::Moved { from } => format!("from {}", from.as_str()),
                What::Gone => "gone".to_owned(),
            };
            format!("{} {what}{settling}", change.pane_id.as_str())
        });
        told.collect()
    }

    #[test]
    fn only_what_changed_is_told_in_the_servers_order() {
        let mut picture = Picture::default();
        let first = [("w1:p10", "a", "idle", 1), ("w1:p2", "b", "working", 2)];
        assert_eq!(told(&mut picture, 0, &first), ["w1:p10 idle", "w1:p2 working"]);
        assert!(told(&mut picture, 1, &first).is_empty());
        // It worked and was idle again between two snapshots.
        let again = [("w1:p10", "a", "idle", 4), ("w2:p1", "b", "working", 2)];
        assert_eq!(told(&mut picture, 2, &again), ["w1:p10 idle", "w2:p1 from w1:p2"]);
        assert_eq!(told(&mut picture, 3, &again[1..]), ["w1:p10 gone"]);
    }

    #[test]
    fn named_panes_are_followed_by_their_terminals() {
        let target = |pane: &str| pane.parse().unwrap();
        let mut picture = Picture { targets: vec![target("w1:p1")], ..Picture::default() };
        let first = [("w1:p1", "a", "idle", 1), ("w1:p2", "b", "idle", 1)];
        assert_eq!(told(&mut picture, 0, &first), ["w1:p1 idle"]);
        let moved = [("w1:p1", "c", "idle", 9), ("w2:p1", "a", "idle", 1)];
        assert_eq!(told(&mut picture, 1, &moved), ["w2:p1 from w1:p1"]);
    }

    #[test]
    fn b76_after_a_restart_the_truth_settles() {
        let mut picture = Picture::default();
        told(&mut picture, 0, &[("w1:p1", "a", "working", 1)]);
        let restarted = [("w1:p1", "x", "unknown", 0)];
        let said = told(&mut picture, 9, &restarted);
        assert_eq!(said, ["w1:p1 gone settling", "w1:p1 unknown settling"]);
        assert_eq!(told(&mut picture, 12, &[("w1:p1", "x", "idle", 1)]), ["w1:p1 idle settling"]);
        assert_eq!(told(&mut picture, 15, &[("w1:p1", "x", "working", 2)]), ["w1:p1 working"]);
    }
}
