//! Where the events of control clients go. The reporter behind it may change.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use herdr_proto::ReportState;
use herdr_reporter::sidecar::{Activity, activity, holds_lease, lease_held, lease_lost};
use herdr_reporter::{
    AgentEvent, Diagnostic, DiagnosticKind, Feed, Flushed, Handle, Receipt, Refused, Status,
};
use tokio::sync::Notify;
use tokio::time::timeout;

/// Takes events and passes them to the present reporter. Clones share it.
#[derive(Clone)]
pub(crate) struct Intake(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: Notify,
}

struct State {
    recipient: Recipient,
    /// The state was set by `--state` and holds until an event tells what the agent does.
    provisional: bool,
    /// Counts the reporters, so that a change can be noticed.
    generation: u64,
    ended: bool,
}

#[derive(Clone)]
enum Recipient {
    /// A reporter that takes all events.
    Reporter(Handle),
    /// There is no reporter. The events are kept for the next one. `why` is the reason why
    /// nothing is reported, or `None` while that is not decided.
    None { activity: Box<Activity>, why: Option<(DiagnosticKind, &'static str)> },
}

/// What a client can be told about what became of its events.
pub(super) enum Output {
    Feeds(Feed<Receipt>, Feed<Diagnostic>),
    Silent(DiagnosticKind, &'static str),
    Nothing,
}

impl Intake {
    pub(crate) fn new(handle: Handle) -> Self {
        Self::with(Recipient::Reporter(handle))
    }

    pub(crate) fn without_reporter() -> Self {
        Self::with(Recipient::None { activity: Box::default(), why: None })
    }

    fn with(recipient: Recipient) -> Self {
        let state = State { recipient, provisional: false, generation: 0, ended: false };
        Self(Arc::new(Shared { state: Mutex::new(state), changed: Notify::new() }))
    }

    /// Sets a state that holds until an event tells what the agent does.
    pub(crate) fn begin_with(&self, state: ReportState) {
        self.record_all(vec![AgentEvent::state_set(state, None)]);
        self.lock().provisional = true;
    }

    /// Sends events to another reporter from now on. `begin` starts it with what is known so
    /// far.
    pub(crate) fn connect_to(&self, begin: impl FnOnce(Activity) -> Handle) {
        let state = self.lock();
        let handle = begin(state.activity());
        self.replace(state, Recipient::Reporter(handle));
    }

    pub(crate) fn disconnect(&self, why: DiagnosticKind, detail: &'static str) {
        let state = self.lock();
        let activity = Box::new(state.activity());
        self.replace(state, Recipient::None { activity, why: Some((why, detail)) });
    }

    fn replace(&self, mut state: MutexGuard<'_, State>, recipient: Recipient) {
        state.recipient = recipient;
        state.generation += 1;
        drop(state);
        self.0.changed.notify_waiters();
    }

    pub(crate) fn end(&self) {
        self.lock().ended = true;
        self.0.changed.notify_waiters();
    }

    /// Records a batch of events as one change, as [`Handle::record_all`] does.
    pub(crate) fn record_all(&self, mut events: Vec<AgentEvent>) -> Vec<(usize, Refused)> {
        let mut state = self.lock();
        let first = events.iter().position(tells_activity);
        let first = first.filter(|_| std::mem::take(&mut state.provisional));
        if let Some(first) = first {
            // The provisional state ends with the first event about what the agent does.
            events.insert(first, AgentEvent::state_set(ReportState::Idle, None));
        }
        let mut refused = match &mut state.recipient {
            Recipient::Reporter(handle) => handle.record_all(events),
            Recipient::None { activity, .. } => {
                let events = events.into_iter().enumerate();
                events.filter_map(|(place, it)| Some((place, activity.apply(it).err()?))).collect()
            }
        };
        for (place, _) in &mut refused {
            *place -= usize::from(first.is_some_and(|first| *place > first));
        }
        refused
    }

    /// Waits until the present reporter holds the pane's lease.
    pub(super) async fn lease_held(&self) {
        loop {
            let (recipient, generation) = self.current();
            let held = match recipient {
                Recipient::Reporter(handle) => lease_held(&handle).await,
                Recipient::None { .. } => false,
            };
            if held && self.current().1 == generation {
                return;
            }
            self.replaced(generation).await;
        }
    }

    /// Waits until the present reporter does not hold the pane's lease.
    pub(super) async fn lease_lost(&self) {
        if let Recipient::Reporter(handle) = self.current().0 {
            lease_lost(&handle).await;
        }
    }

    /// Whether the present reporter holds the pane's lease; `None` if it does not know yet.
    pub(crate) fn holds_lease(&self) -> Option<bool> {
        match self.current().0 {
            Recipient::Reporter(handle) => holds_lease(&handle, Duration::ZERO),
            Recipient::None { .. } => Some(false),
        }
    }

    pub(super) async fn flush(&self, limit: Duration) -> Result<(), &'static str> {
        let end = Instant::now() + limit;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let (recipient, generation) = self.current();
            let flushed = match recipient {
                Recipient::Reporter(handle) => handle.flush_async(left).await,
                Recipient::None { why: Some((why, _)), .. } => return Err(why.as_str()),
                Recipient::None { why: None, .. } => {
                    match timeout(left, self.replaced(generation)).await {
                        Ok(true) => continue,
                        Ok(false) => Flushed::NotReporting(Status::Ended),
                        Err(_) => Flushed::TimedOut,
                    }
                }
            };
            return match flushed {
                Flushed::Delivered => Ok(()),
                Flushed::NotReporting(why) => Err(why.as_str()),
                _ => Err("timeout"),
            };
        }
    }

    /// What a client can be told, and the number of the present reporter.
    pub(super) fn output(&self) -> (Output, u64) {
        let (recipient, generation) = self.current();
        let output = match recipient {
            Recipient::Reporter(handle) => Output::Feeds(handle.receipts(), handle.diagnostics()),
            Recipient::None { why: Some((why, detail)), .. } => Output::Silent(why, detail),
            Recipient::None { why: None, .. } => Output::Nothing,
        };
        (output, generation)
    }

    /// Waits until another reporter takes ended; false if there is none.
    pub(super) async fn replaced(&self, generation: u64) -> bool {
        loop {
            let mut changed = std::pin::pin!(self.0.changed.notified());
            changed.as_mut().enable();
            let (now, ended) = {
                let state = self.lock();
                (state.generation, state.ended)
            };
            if ended || now != generation {
                return !ended;
            }
            changed.await;
        }
    }

    fn current(&self) -> (Recipient, u64) {
        let state = self.lock();
        (state.recipient.clone(), state.generation)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn activity(&self) -> Activity {
        match &self.recipient {
            Recipient::Reporter(handle) => activity(handle),
            Recipient::None { activity, .. } => (**activity).clone(),
        }
    }
}

/// Whether an event tells what the agent does, so that the provisional state is out of date.
fn tells_activity(event: &AgentEvent) -> bool {
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
