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

/// Reports what the agent does. A handle is cheap to clone and works on any thread. It never blocks
/// on the server, and dropping it ends nothing.
///
/// A call folds an event into the activity, under a lock that is never held during I/O, and the
/// engine sends the result. There is no queue, so nothing grows and nothing is lost: a state that
/// is replaced before it was sent is superseded.
#[derive(Clone)]
pub struct Handle {
    pub(crate) shared: Arc<Shared>,
}

impl Handle {
    /// Whether there is a running engine: inside Herdr, enabled, not ended.
    /// [`status`](Self::status) says whether the events are reported.
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
    /// [`Refused`] names the part of the event that does not fit and was left out.
    pub fn record(&self, event: AgentEvent) -> Result<(), Refused> {
        self.record_all([event]).into_iter().next().map_or(Ok(()), |(_, refused)| Err(refused))
    }

    /// Records many events as one change: no state in between is sent. Each refusal comes with the
    /// index of its event.
    pub fn record_all(
        &self,
        events: impl IntoIterator<Item = AgentEvent>,
    ) -> Vec<(usize, Refused)> {
        self.shared.record(events)
    }

    /// Begins or continues a session.
    pub fn set_session(&self, id: impl Into<String>) -> &Self {
        self.report(AgentEvent::session_started(id))
    }

    /// Sets the title, which says what the session is about; a blank title clears it.
    pub fn set_title(&self, title: impl Into<String>) -> &Self {
        self.report(AgentEvent::title_changed(Some(title.into())))
    }

    /// Clears the title.
    pub fn clear_title(&self) -> &Self {
        self.report(AgentEvent::title_changed(None))
    }

    /// Sets which model answers, and how many tokens its context window holds; `None` or 0 means
    /// unknown. A blank model clears it.
    pub fn set_model(&self, model: impl Into<String>, context_window: Option<u64>) -> &Self {
        self.report(AgentEvent::model_changed(Some(model.into()), context_window))
    }

    /// Clears the model and its context window.
    pub fn clear_model(&self) -> &Self {
        self.report(AgentEvent::model_changed(None, None))
    }

    /// Sets how many tokens of the context window are used.
    pub fn set_usage(&self, used: u64) -> &Self {
        self.report(AgentEvent::usage_changed(used))
    }

    /// Sets one of the host's own tokens; a blank text clears it.
    pub fn set_token(&self, key: impl Into<String>, text: impl Into<String>) -> &Self {
        self.report(AgentEvent::tokens_changed([(key.into(), Some(text.into()))]))
    }

    /// Clears one of the host's own tokens.
    pub fn clear_token(&self, key: impl Into<String>) -> &Self {
        self.report(AgentEvent::tokens_changed([(key.into(), None)]))
    }

    /// Sets the text for a state; a blank text falls back to the configured one.
    pub fn set_label(&self, state: StateKey, text: impl Into<String>) -> &Self {
        self.report(AgentEvent::labels_changed([(state, Some(text.into()))]))
    }

    /// Falls back to the configured text for a state.
    pub fn clear_label(&self, state: StateKey) -> &Self {
        self.report(AgentEvent::labels_changed([(state, None)]))
    }

    /// Sets the state, for hosts that know only states. `Unknown` counts as idle.
    pub fn set_state(&self, state: ReportState) -> &Self {
        self.report(AgentEvent::state_set(state, None))
    }

    /// Gives the pane back until the next event.
    pub fn release(&self) -> &Self {
        self.report(AgentEvent::Release)
    }

    /// Begins a turn of the agent, which is working until the result is dropped. Turns may overlap.
    pub fn turn(&self) -> Turn {
        Turn::begin(self.clone())
    }

    /// Opens a prompt that belongs to no turn. The agent is blocked until the result is dropped,
    /// even if turns end.
    pub fn prompt(&self, prompt: Prompt) -> OpenPrompt {
        OpenPrompt::open(self.clone(), None, prompt)
    }

    /// Waits until everything that was recorded before has been delivered or will not be delivered.
    /// Idle is not held back in the meantime. Blocks the caller for at most `timeout`.
    pub fn flush(&self, timeout: Duration) -> Flushed {
        self.shared.flush(timeout)
    }

    /// As [`flush`](Self::flush), without blocking; works under any executor. A timer thread that
    /// all such waits of the process share ends the wait, even if the reporter hangs.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future only loses the answer.
    pub async fn flush_async(&self, timeout: Duration) -> Flushed {
        self.shared.flush_async(timeout).await
    }

    /// What becomes of reports from now on. Each call makes a new feed.
    pub fn receipts(&self) -> Feed<Receipt> {
        if self.shared.is_forked() { Feed::ended() } else { self.shared.receipts.subscribe() }
    }

    /// What keeps reports from showing: first the earlier diagnostics, then the new ones.
    pub fn diagnostics(&self) -> Feed<Diagnostic> {
        if self.shared.is_forked() { Feed::ended() } else { self.shared.diagnostics.subscribe() }
    }

    /// What the agent does, as bytes for its terminal, for hosts that write to the terminal
    /// themselves. Other hosts use [`Builder::program_status`](crate::Builder::program_status).
    /// Make one value for each terminal.
    pub fn program_status(&self) -> ProgramStatus {
        ProgramStatus::new(self.shared.clone())
    }

    /// How many reports there were, and what became of them.
    pub fn counters(&self) -> Counters {
        self.shared.counters()
    }

    /// Records an event that cannot be refused, or whose refusal the diagnostic shows well enough.
    pub(crate) fn report(&self, event: AgentEvent) -> &Self {
        self.record_all([event]);
        self
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("active", &self.is_active()).finish_non_exhaustive()
    }
}
