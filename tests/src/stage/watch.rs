//! A stream of a pane's states.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use herdr_proto::{AgentStatus, PaneId};
use serde_json::{Value, json};

/// How long the next event may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The states of a pane in the order of the server's events. A server checks the pane every 100
/// ms and may skip states in between.
#[must_use = "it tells only what is asked for"]
#[derive(Debug)]
pub struct Watch {
    lines: Lines<BufReader<UnixStream>>,
}

impl Watch {
    pub(super) fn start(socket: &Path, pane: &PaneId) -> Self {
        let mut stream = UnixStream::connect(socket).expect("the server takes connections");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time that is not zero");
        let wanted = json!([{ "type": "pane.agent_status_changed", "pane_id": pane }]);
        let request = json!({
            "id": "stage", "method": "events.subscribe", "params": { "subscriptions": wanted },
        });
        stream.write_all(format!("{request}\n").as_bytes()).expect("the server reads");
        let mut watch = Self { lines: BufReader::new(stream).lines() };
        let started = watch.next().expect("an answer");
        assert_eq!(started["result"]["type"], "subscription_started", "{started}");
        watch
    }

    /// The states up to this one.
    ///
    /// # Panics
    ///
    /// If it does not come.
    pub fn until(&mut self, last: &AgentStatus) -> Vec<AgentStatus> {
        let mut seen: Vec<AgentStatus> = Vec::new();
        loop {
            let event = self.next();
            let event = event.unwrap_or_else(|| panic!("{last} did not come after {seen:?}"));
            let Some(status) = event["data"]["agent_status"].as_str() else { continue };
            let status = AgentStatus::from(status);
            // The same event also reports titles and labels.
            if seen.last() != Some(&status) {
                seen.push(status.clone());
            }
            if status.same_as(last) {
                return seen;
            }
        }
    }

    fn next(&mut self) -> Option<Value> {
        serde_json::from_str(&self.lines.next()?.ok()?).ok()
    }
}
