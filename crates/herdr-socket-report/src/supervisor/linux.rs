//! On Linux: a descriptor of the process.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Stdio;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::stdio::stdin;

use super::Seen;
use crate::input::signals::Signals;

/// A process whose end is seen from outside. It is never taken for a later one
/// with the same id.
pub(crate) struct Watched {
    pid: i32,
    /// Readable when the process has ended.
    end: OwnedFd,
}

impl Watched {
    pub(super) fn take_hold(pid: i32) -> io::Result<Option<Self>> {
        let Some(named) = Pid::from_raw(pid) else { return Ok(None) };
        match pidfd_open(named, PidfdFlags::empty()) {
            Ok(end) => Ok(Some(Self { pid, end })),
            Err(Errno::SRCH) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The launcher took hold of the process before we existed, and handed it
    /// over as our standard input.
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

    /// What is readable once it has ended.
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere there is nothing of the kind")]
    pub(crate) fn end(&self) -> Option<BorrowedFd<'_>> {
        Some(self.end.as_fd())
    }

    /// Its state tells, see `standing`.
    #[expect(clippy::unused_self, reason = "elsewhere it has to be asked for")]
    pub(super) fn is_stopped(&self) -> bool {
        false
    }

    /// Waits for its end or a signal to us.
    pub(in crate::supervisor) fn wait(&self, signals: &Signals, limit: Duration) -> Seen {
        let signals = PollFd::new(signals, PollFlags::IN);
        let mut fds = [signals, PollFd::from_borrowed_fd(self.end.as_fd(), PollFlags::IN)];
        match poll(&mut fds, Timespec::try_from(limit).ok().as_ref()) {
            Ok(_) if !fds[1].revents().is_empty() => Seen::End,
            Ok(_) if !fds[0].revents().is_empty() => Seen::Signal,
            Ok(_) | Err(Errno::INTR) => Seen::Nothing,
            Err(error) => {
                tracing::warn!(%error, "the process cannot be waited for");
                Seen::End
            }
        }
    }
}
