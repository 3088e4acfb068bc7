use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::builder::Builder;
use crate::clock::LONGEST_WAIT;
use crate::engine::Shared;
use crate::handle::Handle;
use crate::machine::Ended;
use crate::program_status::StatusWriter;

/// How long a dropped reporter waits for its release.
pub const DROP_BUDGET: Duration = Duration::from_millis(500);

/// The owner of a pane's claim. It can do everything that a [`Handle`] can; when it is dropped, the
/// claim ends.
///
/// Dropping it waits for the release, at most [`DROP_BUDGET`]. [`close`](Self::close) returns how
/// the release went, and [`detach`](Self::detach) does not wait. A release is sent only if
/// something was reported.
///
/// If the host's process ends without dropping it (`exit`, a signal), the title and the tokens stay
/// until their ttl ends, and the row stays. The sidecar's supervisor prevents that.
///
/// A terminal that was given to [`Builder::program_status`] then shows the outcome of the last turn
/// or nothing. That write is waited for within the same time.
///
/// In a copy of the process that `fork` makes, the reporter is inert: its status is
/// [`OffReason::Forked`](crate::OffReason::Forked), and it waits for nothing and ends nothing. The
/// copy may start its own reporter, which waits until this one has ended, as in any other process.
/// If this process is killed, a copy that is still running keeps the pane's lease until it ends or
/// runs another program.
#[must_use = "dropping the reporter releases the pane"]
pub struct Reporter {
    handle: Handle,
    /// The engine's thread. `None` if the reporter is inert, or has been asked to end.
    thread: Option<JoinHandle<()>>,
    /// The thread that writes to the terminal. `None` without a terminal, or after the reporter has
    /// been asked to end.
    status_writer: Option<StatusWriter>,
}

impl Reporter {
    /// Sets up a reporter for an agent with this label.
    pub fn builder(agent: impl Into<String>) -> Builder {
        Builder::new(agent.into())
    }

    pub(crate) fn new(
        shared: Arc<Shared>,
        thread: Option<JoinHandle<()>>,
        status_writer: Option<StatusWriter>,
    ) -> Self {
        Self { handle: Handle { shared }, thread, status_writer }
    }

    /// A handle that reports. Dropping it ends nothing.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Clears what this reporter has set, releases the pane, and returns how that went. What was
    /// not sent yet is dropped; call [`Handle::flush`] first to send it. Takes at most `budget`,
    /// whatever the server does; half of it is for the request in flight and the clears. Blocks. An
    /// inert reporter ends at once with [`Ended::NothingToRelease`].
    pub fn close(mut self, budget: Duration) -> Ended {
        self.end_within(budget)
    }

    /// As [`close`](Self::close), without blocking; works under any executor. The budget starts
    /// with the first poll. A timer thread that all such waits of the process share ends the wait,
    /// even if the reporter hangs.
    ///
    /// # Cancel safety
    ///
    /// After the first poll, dropping the future only loses the answer. Before the first poll, it
    /// drops the reporter, which blocks.
    pub async fn close_async(mut self, budget: Duration) -> Ended {
        self.thread = None;
        let status_writer = self.status_writer.take();
        let until = Instant::now() + budget.min(LONGEST_WAIT);
        self.handle.shared.begin_close(budget);
        let ended = self.handle.shared.ended_within(budget).await;
        if let Some(writer) = status_writer {
            writer.ended_within(until.saturating_duration_since(Instant::now())).await;
        }
        ended
    }

    /// Releases the pane in the background, within [`DROP_BUDGET`], and does not wait for it. If
    /// the process ends before that, the pane may not be released.
    pub fn detach(mut self) {
        self.thread = None;
        self.status_writer = None;
        self.handle.shared.begin_close(DROP_BUDGET);
    }

    fn end_within(&mut self, budget: Duration) -> Ended {
        let thread = self.thread.take();
        let status_writer = self.status_writer.take();
        if self.handle.shared.is_forked() {
            // A forked copy does not have this thread, so it must not be joined or detached.
            std::mem::forget(thread);
            return Ended::NothingToRelease;
        }
        let until = Instant::now() + budget.min(LONGEST_WAIT);
        self.handle.shared.begin_close(budget);
        let ended = self.handle.shared.wait_ended(budget);
        if let Some(thread) = thread.filter(|_| !self.handle.shared.is_active()) {
            // The engine has ended, and its thread only has to return. A thread whose engine hangs
            // is not joined.
            let _ = thread.join();
        }
        if let Some(writer) = status_writer {
            let left = until.saturating_duration_since(Instant::now());
            pollster::block_on(writer.ended_within(left));
        }
        ended
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        if self.thread.is_some() || self.status_writer.is_some() {
            self.end_within(DROP_BUDGET);
        }
    }
}

impl Deref for Reporter {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.handle
    }
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reporter").field("active", &self.is_active()).finish_non_exhaustive()
    }
}
