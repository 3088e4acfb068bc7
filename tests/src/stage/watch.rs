//! A stream of what a pane's state does.

use std::time::Duration;

use herdr_proto::{AgentStatus, EventData};
use herdr_socket_transport::EventStream;
use tokio::runtime::Runtime;
use tokio::time::timeout;

/// How long the next event may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The states of a pane as the server tells them, in order. A server looks at
/// the pane every 100 ms and need not tell what was there in between.
#[must_use = "it tells only what is asked for"]
pub struct Watch<'a> {
    stream: EventStream,
    runtime: &'a Runtime,
}

impl<'a> Watch<'a> {
    pub(super) fn new(stream: EventStream, runtime: &'a Runtime) -> Self {
        Self { stream, runtime }
    }

    /// The states until this one has come, with it.
    ///
    /// # Panics
    ///
    /// If it does not come.
    pub fn until(&mut self, last: &AgentStatus) -> Vec<AgentStatus> {
        let mut seen: Vec<AgentStatus> = Vec::new();
        loop {
            let next = self.runtime.block_on(async { timeout(PATIENCE, self.stream.next()).await });
            let event = match next {
                Ok(Ok(Some(event))) => event,
                other => panic!("{last} did not come after {seen:?}: {other:?}"),
            };
            let EventData::StatusChanged(change) = event.data else { continue };
            // Titles and labels are told by the same event.
            if seen.last() != Some(&change.agent_status) {
                seen.push(change.agent_status.clone());
            }
            if change.agent_status.same_as(last) {
                return seen;
            }
        }
    }
}

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}
