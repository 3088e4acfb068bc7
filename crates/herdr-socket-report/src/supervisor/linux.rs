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

pub(super) struct Handle {
    /// Readable when the process has ended.
    end: OwnedFd,
}

impl Handle {
    pub(super) fn open(pid: i32) -> io::Result<Option<Self>> {
        let Some(named) = Pid::from_raw(pid) else { return Ok(None) };
        match pidfd_open(named, PidfdFlags::empty()) {
            Ok(end) => Ok(Some(Self { end })),
            Err(Errno::SRCH) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The launcher took hold of the process before we existed, and handed it
    /// over as our standard input.
    pub(super) fn inherited(_: i32, _: Option<String>) -> io::Result<Self> {
        Ok(Self { end: fcntl_dupfd_cloexec(stdin(), 3)? })
    }

    pub(super) fn to_stdin(&self) -> io::Result<Stdio> {
        Ok(self.end.try_clone()?.into())
    }

    #[expect(clippy::unused_self, reason = "elsewhere there is something to say")]
    pub(super) fn since(&self) -> Option<&str> {
        None
    }

    pub(super) fn end(&self) -> Option<BorrowedFd<'_>> {
        Some(self.end.as_fd())
    }

    pub(super) fn wait(&self, signals: PollFd<'_>, limit: Duration) -> Seen {
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
