//! Watching a process on Linux, through a descriptor of the process.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Stdio;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::stdio::stdin;

use super::WaitOutcome;
use crate::input::signals::Signals;

/// A watched process. Its descriptor never stands for a later process with the same id.
pub(crate) struct Watched {
    pid: i32,
    /// Becomes readable when the process ends.
    end: OwnedFd,
}

impl Watched {
    pub(super) fn open_pid(pid: i32) -> io::Result<Option<Self>> {
        let Some(named) = Pid::from_raw(pid) else { return Ok(None) };
        match pidfd_open(named, PidfdFlags::empty()) {
            Ok(end) => Ok(Some(Self { pid, end })),
            Err(Errno::SRCH) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes the descriptor over from the launcher, which opened it and passed it as standard
    /// input.
    pub(in crate::supervisor) fn inherited(pid: i32, _: Option<String>) -> io::Result<Self> {
        Ok(Self { pid, end: fcntl_dupfd_cloexec(stdin(), 3)? })
    }

    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    pub(in crate::supervisor) fn to_stdin(&self) -> io::Result<Stdio> {
        Ok(self.end.try_clone()?.into())
    }

    #[expect(clippy::unused_self, reason = "elsewhere there is something to say")]
    pub(in crate::supervisor) fn since(&self) -> Option<&str> {
        None
    }

    /// A descriptor that becomes readable when the process ends.
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere there is nothing of the kind")]
    pub(crate) fn end(&self) -> Option<BorrowedFd<'_>> {
        Some(self.end.as_fd())
    }

    /// Always false: on Linux [`JobState`](crate::control::JobState) reads the state of the
    /// process.
    #[expect(clippy::unused_self, reason = "elsewhere it has to be asked for")]
    pub(super) fn is_stopped(&self) -> bool {
        false
    }

    /// Waits until the process ends, this process receives a signal, or `limit` has passed.
    pub(in crate::supervisor) fn wait(&self, signals: &Signals, limit: Duration) -> WaitOutcome {
        let signals = PollFd::new(signals, PollFlags::IN);
        let mut fds = [signals, PollFd::from_borrowed_fd(self.end.as_fd(), PollFlags::IN)];
        match poll(&mut fds, Timespec::try_from(limit).ok().as_ref()) {
            Ok(_) if !fds[1].revents().is_empty() => WaitOutcome::Ended,
            Ok(_) if !fds[0].revents().is_empty() => WaitOutcome::Signalled,
            Ok(_) | Err(Errno::INTR) => WaitOutcome::TimedOut,
            Err(error) => {
                tracing::warn!(%error, "the process cannot be waited for");
                WaitOutcome::Ended
            }
        }
    }
}
