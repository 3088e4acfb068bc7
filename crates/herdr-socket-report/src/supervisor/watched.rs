//! A process that is watched from outside.

use std::os::fd::BorrowedFd;
use std::process::Stdio;
use std::time::Duration;

#[cfg(not(target_os = "linux"))]
#[path = "elsewhere.rs"]
mod system;
#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod system;

use rustix::event::{PollFd, PollFlags};

use crate::control::Standing;
use crate::input::signals::Signals;

/// A process whose end and stops are seen from outside. It is never taken for
/// a later process with the same id.
pub(crate) struct Watched {
    pid: i32,
    system: system::Handle,
}

/// What a wait came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// It ended, however it did.
    End,
    /// We were asked to end.
    Signal,
    /// Nothing of the kind in that time.
    Nothing,
}

impl Watched {
    /// Takes hold of a running process; `None` if there is none of this id.
    ///
    /// # Errors
    ///
    /// A sentence about an id that cannot be watched.
    pub(crate) fn open(pid: i32) -> Result<Option<Self>, String> {
        if pid <= 0 {
            return Err(format!("{pid} is not a process id"));
        }
        let system = system::Handle::open(pid)
            .map_err(|error| format!("process {pid} cannot be watched: {error}"))?;
        Ok(system.map(|system| Self { pid, system }))
    }

    pub(super) fn inherited(pid: i32, since: Option<String>) -> std::io::Result<Self> {
        Ok(Self { pid, system: system::Handle::inherited(pid, since)? })
    }

    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    pub(super) fn to_stdin(&self) -> std::io::Result<Stdio> {
        self.system.to_stdin()
    }

    pub(super) fn since(&self) -> Option<&str> {
        self.system.since()
    }

    /// What is readable once it has ended, where there is such a thing.
    pub(crate) fn end(&self) -> Option<BorrowedFd<'_>> {
        self.system.end()
    }

    /// Waits for its end or a signal to us.
    pub(super) fn wait(&self, signals: &Signals, limit: Duration) -> Seen {
        self.system.wait(PollFd::new(signals, PollFlags::IN), limit)
    }

    /// How near it is to whoever sits at its terminal.
    pub(super) fn standing(&self) -> Standing {
        #[cfg(not(target_os = "linux"))]
        if self.system.is_stopped() {
            return Standing::Stopped;
        }
        u32::try_from(self.pid).map_or(Standing::InFront, Standing::of)
    }
}
