use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use herdr_proto::{ReportState, StateKey};

use crate::activity::Refused;
use crate::diagnostic::Diagnostic;
use crate::engine::Shared;
use crate::event::{AgentEvent, Prompt};
use crate::feed::Feed;
use crate::machine::Counters;
use crate::program_status::ProgramStatus;
use crate::receipt::Receipt;
use crate::scopes::{OpenPrompt, Turn};
use crate::status::{Flushed, Status};

/// Reports what the agent does. Cheap to clone, for any thread; never blocks
/// on the server and ends nothing when it goes.
///
/// A call folds an event into what is known, under a lock that is never held
/// over I/O; the engine sends what results. There is no queue, so nothing
/// grows and nothing is lost: what was replaced before it was sent was
/// superseded.
#[derive(Clone)]
pub struct Handle {
    pub(crate) shared: Arc<Shared>,
}

impl Handle {
    /// Whether there is an engine: inside Herdr, enabled, not ended. Whether the
    /// pane shows anything says [`status`](Self::status).
    pub fn is_active(&self) -> bool {
        self.shared.is_active()
    }

    /// Whether what the host says is reported, and if not, why.
    pub fn status(&self) -> Status {
        self.shared.status()
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
    pub fn set_session(&self, id: impl Into<String>) -> &Self {
        self.tell(AgentEvent::session_started(id))
    }

    /// Sets what the session is about; a blank title takes it off.
    pub fn set_title(&self, title: impl Into<String>) -> &Self {
        self.tell(AgentEvent::title_changed(Some(title.into())))
    }

    /// Takes the title off.
    pub fn clear_title(&self) -> &Self {
        self.tell(AgentEvent::title_changed(None))
    }

    /// Sets which model answers, and how many tokens its context holds; `None`
    /// or 0 is unknown. A blank model takes it off.
    pub fn set_model(&self, model: impl Into<String>, context_window: Option<u64>) -> &Self {
        self.tell(AgentEvent::model_changed(Some(model.into()), context_window))
    }

    /// Takes the model off, and what is known of its context window.
    pub fn clear_model(&self) -> &Self {
        self.tell(AgentEvent::model_changed(None, None))
    }

    /// Sets how many tokens of the context are used.
    pub fn set_usage(&self, used: u64) -> &Self {
        self.tell(AgentEvent::usage_changed(used))
    }

    /// Sets one of the host's own tokens; a blank text takes it off.
    pub fn set_token(&self, key: impl Into<String>, text: impl Into<String>) -> &Self {
        self.tell(AgentEvent::tokens_changed([(key.into(), Some(text.into()))]))
    }

    /// Takes one of the host's own tokens off.
    pub fn clear_token(&self, key: impl Into<String>) -> &Self {
        self.tell(AgentEvent::tokens_changed([(key.into(), None)]))
    }

    /// Sets the text for a state; a blank one falls back to the configured one.
    pub fn set_label(&self, state: StateKey, text: impl Into<String>) -> &Self {
        self.tell(AgentEvent::labels_changed([(state, Some(text.into()))]))
    }

    /// Falls back to the configured text for a state.
    pub fn clear_label(&self, state: StateKey) -> &Self {
        self.tell(AgentEvent::labels_changed([(state, None)]))
    }

    /// Sets the state, for hosts that know only states. `Unknown` counts as
    /// idle.
    pub fn set_state(&self, state: ReportState) -> &Self {
        self.tell(AgentEvent::state_set(state, None))
    }

    /// Gives the pane back until the next event.
    pub fn release(&self) -> &Self {
        self.tell(AgentEvent::Release)
    }

    /// Begins a turn of the agent: working until the value goes. Turns may
    /// overlap.
    pub fn turn(&self) -> Turn {
        Turn::begin(self.clone())
    }

    /// Opens a prompt of no turn: blocked until the value goes, also when turns
    /// end.
    pub fn prompt(&self, prompt: Prompt) -> OpenPrompt {
        OpenPrompt::open(self.clone(), None, prompt)
    }

    /// Waits until everything before it is delivered, or will not be; an idle
    /// does not settle first. Blocks the caller, `timeout` at most.
    pub fn flush(&self, timeout: Duration) -> Flushed {
        self.shared.flush(timeout)
    }

    /// As [`flush`](Self::flush), without blocking; works under any executor.
    /// The time is kept by a thread that all such waits of the process share, so
    /// it passes whatever holds the reporter up.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the answer and nothing else.
    pub async fn flush_async(&self, timeout: Duration) -> Flushed {
        self.shared.flush_async(timeout).await
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

    /// What the agent does, as bytes for its terminal, for hosts that write them
    /// themselves; [`Builder::program_status`](crate::Builder::program_status)
    /// is for others. One terminal needs one of these.
    pub fn program_status(&self) -> ProgramStatus {
        ProgramStatus::new(self.shared.clone())
    }

    /// How many reports there were, and what became of them.
    pub fn counters(&self) -> Counters {
        self.shared.counters()
    }

    /// For events that are always taken, or whose refusal is told as a
    /// diagnostic.
    pub(crate) fn tell(&self, event: AgentEvent) -> &Self {
        self.record_all([event]);
        self
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("active", &self.is_active()).finish_non_exhaustive()
    }
}
