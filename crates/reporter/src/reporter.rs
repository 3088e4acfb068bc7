use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crate::builder::Builder;
use crate::engine::Shared;
use crate::handle::Handle;
use crate::machine::Ended;

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
/// title and tokens go by their ttl and the row stays. The sidecar's guard is
/// for that.
#[must_use = "dropping the reporter releases the pane"]
pub struct Reporter {
    handle: Handle,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    wait_on_drop: bool,
}

impl Reporter {
    /// Sets a reporter up for an agent of this label.
    pub fn builder(agent: impl Into<String>) -> Builder {
        Builder::new(agent.into())
    }

    pub(crate) fn new(shared: Arc<Shared>, thread: Option<JoinHandle<()>>) -> Self {
        Self { handle: Handle::new(shared.clone()), shared, thread, wait_on_drop: true }
    }

    /// A handle that reports and ends nothing.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Clears what is ours, releases the pane, and says how it went. What is
    /// not sent yet is dropped. Takes `budget` at most, whatever the server
    /// does; half of it is for the clears.
    pub fn close(mut self, budget: Duration) -> Ended {
        self.wait_on_drop = false;
        self.shared.begin_close(budget);
        let ended = self.shared.wait_ended(budget);
        self.join_if_done();
        ended
    }

    /// As [`close`](Self::close), without blocking; works under any executor.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future after its first poll changes nothing about the
    /// release; only the answer is lost.
    pub async fn close_async(mut self, budget: Duration) -> Ended {
        self.wait_on_drop = false;
        self.shared.begin_close(budget);
        self.shared.ended().await
    }

    /// Releases the pane in the background, and does not wait for it.
    pub fn detach(mut self) {
        self.wait_on_drop = false;
        self.shared.begin_close(DROP_BUDGET);
    }

    fn join_if_done(&mut self) {
        if let Some(thread) = self.thread.take_if(|_| !self.shared.is_active()) {
            // The engine has said its last word; only the return is left.
            let _ = thread.join();
        }
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        if self.thread.is_none() {
            return;
        }
        self.shared.begin_close(DROP_BUDGET);
        if self.wait_on_drop {
            self.shared.wait_ended(DROP_BUDGET);
            self.join_if_done();
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
