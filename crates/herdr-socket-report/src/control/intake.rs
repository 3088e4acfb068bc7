//! Where the events of control clients go.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use herdr_proto::ReportState;
use herdr_reporter::{AgentEvent, Diagnostic, Feed, Flushed, Handle, Receipt, Refused};

use crate::supervisor::Bystander;

/// The way to a pane's owner. Clones lead to the same.
#[derive(Clone)]
pub(crate) enum Intake {
    /// A reporter that reports all of it.
    Reporter {
        /// Its handle.
        handle: Handle,
        /// A state was said at the start, and holds until an event knows better.
        provisional: Arc<AtomicBool>,
    },
    /// A guard that leaves the state to Herdr.
    StandBy(Bystander),
}

impl Intake {
    /// The way to this reporter.
    pub(crate) fn new(handle: Handle) -> Self {
        Self::Reporter { handle, provisional: Arc::default() }
    }

    /// The way to a guard that leaves the state to Herdr.
    pub(crate) fn standing_by(bystander: Bystander) -> Self {
        Self::StandBy(bystander)
    }

    /// Says what is true until an event bears on it.
    pub(crate) fn begin_with(&self, state: ReportState) {
        if let Self::Reporter { handle, provisional } = self {
            provisional.store(true, Ordering::Relaxed);
            handle.state(state);
        }
    }

    /// Records a batch as one change, as [`Handle::record_all`] does.
    pub(crate) fn record_all(&self, mut events: Vec<AgentEvent>) -> Vec<(usize, Refused)> {
        let (handle, provisional) = match self {
            Self::Reporter { handle, provisional } => (handle, provisional),
            Self::StandBy(bystander) => return bystander.record_all(events),
        };
        let first = events.iter().position(bears_on_work);
        let Some(first) = first.filter(|_| provisional.swap(false, Ordering::Relaxed)) else {
            return handle.record_all(events);
        };
        // What was said at the start is over; the host knows now.
        events.insert(first, AgentEvent::StateSet { state: ReportState::Idle, label: None });
        let mut refused = handle.record_all(events);
        for (place, _) in &mut refused {
            *place -= usize::from(*place > first);
        }
        refused
    }

    /// Waits until the owner holds the pane's lease; false if it ends without.
    pub(crate) async fn lease_held(&self) -> bool {
        match self {
            Self::Reporter { handle, .. } => handle.lease_held().await,
            Self::StandBy(_) => true,
        }
    }

    /// As [`Handle::flush_async`].
    pub(crate) async fn flush(&self, timeout: Duration) -> Flushed {
        match self {
            Self::Reporter { handle, .. } => handle.flush_async(timeout).await,
            Self::StandBy(bystander) => bystander.flush(timeout).await,
        }
    }

    /// What becomes of reports, and what keeps them from showing, also what
    /// did before. A guard that stands by has nothing to say.
    pub(crate) fn feeds(&self) -> Option<(Feed<Receipt>, Feed<Diagnostic>)> {
        match self {
            Self::Reporter { handle, .. } => Some((handle.receipts(), handle.diagnostics())),
            Self::StandBy(_) => None,
        }
    }

    /// Waits for the end of a guard that stands by; a reporter's feeds end with
    /// it.
    pub(crate) async fn over(&self) {
        if let Self::StandBy(bystander) = self {
            bystander.over().await;
        }
    }
}

/// Whether an event says what runs or waits, so that a state said before is
/// out of date.
fn bears_on_work(event: &AgentEvent) -> bool {
    matches!(
        event,
        AgentEvent::StateSet { .. }
            | AgentEvent::SessionEnded { .. }
            | AgentEvent::AgentStarted { .. }
            | AgentEvent::AgentSettled { .. }
            | AgentEvent::ToolStarted { .. }
            | AgentEvent::ToolFinished { .. }
            | AgentEvent::PromptOpened { .. }
            | AgentEvent::PromptClosed { .. }
            | AgentEvent::WorkflowSnapshot { .. }
    )
}
