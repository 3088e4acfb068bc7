use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use herdr_proto::{ReportState, StateKey};

use crate::activity::{Activity, Refused};
use crate::diagnostic::Diagnostic;
use crate::engine::Shared;
use crate::event::{AgentEvent, Prompt};
use crate::feed::Feed;
use crate::guards::{OpenPrompt, Turn};
use crate::machine::Counters;
use crate::receipt::Receipt;

/// Reports what the agent does. Cheap to clone, for any thread; never blocks
/// on the server and ends nothing when it goes.
///
/// A call folds an event into what is known, under a lock that is never held
/// over I/O; the engine sends what results. There is no queue, so nothing
/// grows and nothing is lost: what was replaced before it was sent was
/// superseded.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

/// How a flush ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Flushed {
    /// Everything before it is delivered, or will not be.
    Delivered,
    /// Time ran out first; the engine goes on.
    TimedOut,
    /// The reporter is inert or has ended.
    Inactive,
}

impl Handle {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Whether anything is reported at all: inside Herdr, enabled, not ended.
    pub fn is_active(&self) -> bool {
        self.shared.is_active()
    }

    /// Records one event.
    ///
    /// # Errors
    ///
    /// [`Refused`] names what of the event does not fit and was left out.
    pub fn record(&self, event: AgentEvent) -> Result<(), Refused> {
        self.record_all([event]).into_iter().next().map_or(Ok(()), |(_, refused)| Err(refused))
    }

    /// Records many events as one change: nothing in between is sent. Each
    /// refusal comes with the event's place in the sequence.
    pub fn record_all(
        &self,
        events: impl IntoIterator<Item = AgentEvent>,
    ) -> Vec<(usize, Refused)> {
        self.shared.record(events)
    }

    /// Begins or continues a session.
    pub fn session(&self, id: impl Into<String>) -> &Self {
        self.tell(AgentEvent::session_started(id))
    }

    /// Sets what the session is about; a blank title takes it off.
    pub fn title(&self, title: impl Into<String>) -> &Self {
        self.tell(AgentEvent::title_changed(Some(title.into())))
    }

    /// Sets which model answers, and how many tokens its context holds; `None`
    /// or 0 is unknown. A blank model takes it off.
    pub fn model(&self, model: impl Into<String>, context_window: Option<u64>) -> &Self {
        self.tell(AgentEvent::model_changed(Some(model.into()), context_window))
    }

    /// Sets how many tokens of the context are used.
    pub fn usage(&self, used: u64) -> &Self {
        self.tell(AgentEvent::usage_changed(used))
    }

    /// Sets one of the host's own tokens; `None` or blank takes it off.
    pub fn token(&self, key: impl Into<String>, text: Option<String>) -> &Self {
        self.tell(AgentEvent::tokens_changed([(key.into(), text)]))
    }

    /// Sets the text for a state; `None` or blank falls back to the configured
    /// one.
    pub fn label(&self, state: StateKey, text: Option<String>) -> &Self {
        self.tell(AgentEvent::labels_changed([(state, text)]))
    }

    /// Sets the state, for hosts that know only states. `Unknown` counts as
    /// idle.
    pub fn state(&self, state: ReportState) -> &Self {
        self.tell(AgentEvent::state_set(state, None))
    }

    /// Gives the pane back until the next event.
    pub fn release(&self) -> &Self {
        self.tell(AgentEvent::Release)
    }

    /// Begins a turn of the agent: working until the guard goes. Turns may
    /// overlap.
    pub fn turn(&self) -> Turn {
        Turn::begin(self.clone())
    }

    /// Opens a prompt of no turn: blocked until the guard goes, also when turns
    /// end.
    pub fn prompt(&self, prompt: Prompt) -> OpenPrompt {
        OpenPrompt::open(self.clone(), None, prompt)
    }

    /// Shows the agent as idle with the label `suspended` while its process is
    /// stopped, and what its events say afterwards (failure B29). For a
    /// reporter that speaks for another process; nothing is claimed by it.
    pub fn suspended(&self, suspended: bool) -> &Self {
        self.shared.suspend(suspended);
        self
    }

    /// Whether this reporter has the pane's lease, waited for at most
    /// `timeout`: false if another process has it or the reporter is inert or
    /// has ended, `None` if it is not decided by then. Blocks.
    pub fn holds_lease(&self, timeout: Duration) -> Option<bool> {
        self.shared.wait_lease(timeout)
    }

    /// Waits until this reporter has the pane's lease; false when it ends
    /// without, or is inert. Works under any executor.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    pub async fn lease_held(&self) -> bool {
        self.shared.lease_held().await
    }

    /// Waits until everything before it is delivered, or will not be (refused,
    /// or the pane is not ours); an idle does not settle first. Blocks the
    /// caller, `timeout` at most and a moment (20 ms) for the engine's word.
    pub fn flush(&self, timeout: Duration) -> Flushed {
        let Some(ticket) = Ticket::take(&self.shared, timeout) else { return Flushed::Inactive };
        Flushed::of(self.shared.wait_flush(ticket.number, timeout))
    }

    /// As [`flush`](Self::flush), without blocking; works under any executor.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the answer and nothing else.
    pub async fn flush_async(&self, timeout: Duration) -> Flushed {
        let Some(ticket) = Ticket::take(&self.shared, timeout) else { return Flushed::Inactive };
        Flushed::of(self.shared.flushed(ticket.number).await)
    }

    /// What becomes of reports from now on. Each call makes a feed of its own.
    pub fn receipts(&self) -> Feed<Receipt> {
        self.shared.receipts()
    }

    /// What keeps reports from showing: first what was told before, then what
    /// comes.
    pub fn diagnostics(&self) -> Feed<Diagnostic> {
        self.shared.diagnostics()
    }

    /// How many reports there were, and what became of them.
    pub fn counters(&self) -> Counters {
        self.shared.counters()
    }

    /// What is known by now.
    #[doc(hidden)]
    pub fn activity(&self) -> Activity {
        self.shared.activity()
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// For events that are always taken, or whose refusal is told as a
    /// diagnostic.
    pub(crate) fn tell(&self, event: AgentEvent) -> &Self {
        self.record_all([event]);
        self
    }
}

/// A flush that somebody waits for, until it goes.
struct Ticket<'a> {
    shared: &'a Shared,
    number: u64,
}

impl<'a> Ticket<'a> {
    fn take(shared: &'a Shared, timeout: Duration) -> Option<Self> {
        shared.begin_flush(timeout).map(|number| Self { shared, number })
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.shared.forget_flush(self.number);
    }
}

impl Flushed {
    fn of(delivered: bool) -> Self {
        if delivered { Self::Delivered } else { Self::TimedOut }
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("active", &self.is_active()).finish_non_exhaustive()
    }
}
