//! Where the events of control clients go, whoever reports just now.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use herdr_proto::ReportState;
use herdr_reporter::sidecar::{Activity, activity, holds_lease, lease_held, lease_lost};
use herdr_reporter::{
    AgentEvent, Diagnostic, DiagnosticKind, Feed, Flushed, Handle, Receipt, Refused, Status,
};
use tokio::sync::Notify;
use tokio::time::timeout;

/// The way to whoever reports. Clones lead to the same.
#[derive(Clone)]
pub(crate) struct Intake(Arc<Desk>);

struct Desk {
    state: Mutex<State>,
    changed: Notify,
}

struct State {
    to: To,
    /// A state was said at the start, and holds until an event knows better.
    provisional: bool,
    /// Counts who reported.
    turn: u64,
    over: bool,
}

#[derive(Clone)]
enum To {
    /// A reporter that reports all of it.
    Reporter(Handle),
    /// Nothing is reported now, but remembered for later; it is not known yet
    /// who will report, or nobody does for a reason.
    Nobody { activity: Box<Activity>, why: Option<(DiagnosticKind, &'static str)> },
}

/// What there is to hear of whoever reports.
pub(super) enum News {
    Feeds(Feed<Receipt>, Feed<Diagnostic>),
    Silent(DiagnosticKind, &'static str),
    Nothing,
}

impl Intake {
    pub(crate) fn new(handle: Handle) -> Self {
        Self::to(To::Reporter(handle))
    }

    pub(crate) fn to_nobody_yet() -> Self {
        Self::to(To::Nobody { activity: Box::default(), why: None })
    }

    fn to(to: To) -> Self {
        let state = State { to, provisional: false, turn: 0, over: false };
        Self(Arc::new(Desk { state: Mutex::new(state), changed: Notify::new() }))
    }

    /// Says what is true until an event bears on it.
    pub(crate) fn begin_with(&self, state: ReportState) {
        self.record_all(vec![AgentEvent::state_set(state, None)]);
        self.lock().provisional = true;
    }

    /// Events go to this reporter from now on, which begins with what is known.
    pub(crate) fn hand_to(&self, begin: impl FnOnce(Activity) -> Handle) {
        let state = self.lock();
        let handle = begin(state.activity());
        self.pass(state, To::Reporter(handle));
    }

    pub(crate) fn hand_to_nobody(&self, why: DiagnosticKind, detail: &'static str) {
        let state = self.lock();
        let activity = Box::new(state.activity());
        self.pass(state, To::Nobody { activity, why: Some((why, detail)) });
    }

    fn pass(&self, mut state: MutexGuard<'_, State>, to: To) {
        state.to = to;
        state.turn += 1;
        drop(state);
        self.0.changed.notify_waiters();
    }

    pub(crate) fn end(&self) {
        self.lock().over = true;
        self.0.changed.notify_waiters();
    }

    /// Records a batch as one change, as [`Handle::record_all`] does.
    pub(crate) fn record_all(&self, mut events: Vec<AgentEvent>) -> Vec<(usize, Refused)> {
        let mut state = self.lock();
        let first = events.iter().position(bears_on_work);
        let first = first.filter(|_| std::mem::take(&mut state.provisional));
        if let Some(first) = first {
            // What was said at the start is over; the host knows now.
            events.insert(first, AgentEvent::state_set(ReportState::Idle, None));
        }
        let mut refused = match &mut state.to {
            To::Reporter(handle) => handle.record_all(events),
            To::Nobody { activity, .. } => {
                let events = events.into_iter().enumerate();
                events.filter_map(|(place, it)| Some((place, activity.apply(it).err()?))).collect()
            }
        };
        for (place, _) in &mut refused {
            *place -= usize::from(first.is_some_and(|first| *place > first));
        }
        refused
    }

    /// Waits until somebody who reports holds the pane's lease.
    pub(super) async fn lease_held(&self) {
        loop {
            let (to, turn) = self.now();
            let held = match to {
                To::Reporter(handle) => lease_held(&handle).await,
                To::Nobody { .. } => false,
            };
            if held && self.now().1 == turn {
                return;
            }
            self.after(turn).await;
        }
    }

    /// Waits until whoever reports just now does not hold the pane's lease.
    pub(super) async fn lease_lost(&self) {
        if let To::Reporter(handle) = self.now().0 {
            lease_lost(&handle).await;
        }
    }

    /// Whether somebody who reports holds the pane's lease.
    pub(crate) fn holds_lease(&self) -> Option<bool> {
        match self.now().0 {
            To::Reporter(handle) => holds_lease(&handle, Duration::ZERO),
            To::Nobody { .. } => Some(false),
        }
    }

    pub(super) async fn flush(&self, limit: Duration) -> Result<(), &'static str> {
        let end = Instant::now() + limit;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let (to, turn) = self.now();
            let flushed = match to {
                To::Reporter(handle) => handle.flush_async(left).await,
                To::Nobody { why: Some((why, _)), .. } => return Err(why.as_str()),
                To::Nobody { why: None, .. } => match timeout(left, self.after(turn)).await {
                    Ok(true) => continue,
                    Ok(false) => Flushed::NotReporting(Status::Ended),
                    Err(_) => Flushed::TimedOut,
                },
            };
            return match flushed {
                Flushed::Delivered => Ok(()),
                Flushed::NotReporting(why) => Err(why.as_str()),
                _ => Err("timeout"),
            };
        }
    }

    /// What there is to hear, and of which turn.
    pub(super) fn news(&self) -> (News, u64) {
        let (to, turn) = self.now();
        let news = match to {
            To::Reporter(handle) => News::Feeds(handle.receipts(), handle.diagnostics()),
            To::Nobody { why: Some((why, detail)), .. } => News::Silent(why, detail),
            To::Nobody { why: None, .. } => News::Nothing,
        };
        (news, turn)
    }

    /// Waits for the end of a turn; false if it was the last.
    pub(super) async fn after(&self, turn: u64) -> bool {
        loop {
            let mut changed = std::pin::pin!(self.0.changed.notified());
            changed.as_mut().enable();
            let (now, over) = {
                let state = self.lock();
                (state.turn, state.over)
            };
            if over || now != turn {
                return !over;
            }
            changed.await;
        }
    }

    fn now(&self) -> (To, u64) {
        let state = self.lock();
        (state.to.clone(), state.turn)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn activity(&self) -> Activity {
        match &self.to {
            To::Reporter(handle) => activity(handle),
            To::Nobody { activity, .. } => (**activity).clone(),
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
