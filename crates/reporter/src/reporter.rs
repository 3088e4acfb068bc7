use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::builder::Builder;
use crate::clock::FAR;
use crate::engine::Shared;
use crate::handle::Handle;
use crate::machine::Ended;
use crate::program_status::Speaker;

/// How long a dropped reporter waits for its release.
pub const DROP_BUDGET: Duration = Duration::from_millis(500);

/// The owner of a pane's claim. Everything a [`Handle`] does, it does too;
/// when it goes, the claim goes.
///
/// Dropping it waits for the release, [`DROP_BUDGET`] at most;
/// [`close`](Self::close) says how it went, [`detach`](Self::detach) does not
/// wait. A release is only sent if something was reported.
///
/// The host's process can end without dropping it (`exit`, a signal); then the
/// title and tokens go by their ttl and the row stays. The sidecar's supervisor
/// is for that.
///
/// A terminal that is told ([`Builder::program_status`]) is left within the same
/// time, with an outcome or nothing.
///
/// A copy of the process that `fork` makes is inert at once: its reporter says
/// so ([`OffReason::Forked`](crate::OffReason::Forked)), waits for nothing and
/// ends nothing. The copy may start a reporter of its own; that one waits for
/// this one's end, as any other process does. If this process is killed, a copy
/// that lives on keeps the pane's lease until it ends or runs another program.
#[must_use = "dropping the reporter releases the pane"]
pub struct Reporter {
    handle: Handle,
    /// The engine's, until somebody has asked it to end; none if inert.
    thread: Option<JoinHandle<()>>,
    /// Who tells the terminal, until somebody has asked it to end.
    speaker: Option<Speaker>,
}

impl Reporter {
    /// Sets a reporter up for an agent of this label.
    pub fn builder(agent: impl Into<String>) -> Builder {
        Builder::new(agent.into())
    }

    pub(crate) fn new(shared: Arc<Shared>, thread: Option<JoinHandle<()>>) -> Self {
        Self { handle: Handle { shared }, thread, speaker: None }
    }

    /// The same with a thread that tells the terminal.
    pub(crate) fn with_speaker(mut self, speaker: Option<Speaker>) -> Self {
        self.speaker = speaker;
        self
    }

    /// A handle that reports and ends nothing.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Clears what is ours, releases the pane, and says how it went. What is
    /// not sent yet is dropped ([`Handle::flush`] before it sends it). Takes
    /// `budget` at most, whatever the server does; half of it is for what is on
    /// its way and the clears. Blocks; an inert reporter ends at once with
    /// [`Ended::NothingToRelease`].
    pub fn close(mut self, budget: Duration) -> Ended {
        self.end_within(budget)
    }

    /// As [`close`](Self::close), without blocking; works under any executor.
    /// The budget counts from the first poll. It is kept by a thread that all
    /// such waits of the process share, whatever holds the reporter up.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future after its first poll changes nothing about the
    /// release; only the answer is lost. Dropping it before is dropping the
    /// reporter, which blocks.
    pub async fn close_async(mut self, budget: Duration) -> Ended {
        self.thread = None;
        let speaker = self.speaker.take();
        let until = Instant::now() + budget.min(FAR);
        self.handle.shared.begin_close(budget);
        let ended = self.handle.shared.ended_within(budget).await;
        if let Some(speaker) = speaker {
            speaker.ended_within(until.saturating_duration_since(Instant::now())).await;
        }
        ended
    }

    /// Releases the pane in the background, within [`DROP_BUDGET`], and does not
    /// wait for it. A process that ends meanwhile takes the release with it.
    pub fn detach(mut self) {
        self.thread = None;
        self.speaker = None;
        self.handle.shared.begin_close(DROP_BUDGET);
    }

    fn end_within(&mut self, budget: Duration) -> Ended {
        let thread = self.thread.take();
        let speaker = self.speaker.take();
        if self.handle.shared.is_forked() {
            // There is no such thread in this process.
            std::mem::forget(thread);
            return Ended::NothingToRelease;
        }
        let until = Instant::now() + budget.min(FAR);
        self.handle.shared.begin_close(budget);
        let ended = self.handle.shared.wait_ended(budget);
        if let Some(thread) = thread.filter(|_| !self.handle.shared.is_active()) {
            // The engine has said its last word; only the return is left. One
            // that hangs is left to itself.
            let _ = thread.join();
        }
        if let Some(speaker) = speaker {
            let left = until.saturating_duration_since(Instant::now());
            pollster::block_on(speaker.ended_within(left));
        }
        ended
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        if self.thread.is_some() || self.speaker.is_some() {
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
