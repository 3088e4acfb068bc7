//! The end of another process.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A process whose end is awaited. It cannot be taken for a later one with the
/// same pid.
pub(crate) struct Host {
    /// Readable when the process has ended.
    end: OwnedFd,
}

impl Host {
    /// Takes hold of a running process; `None` if there is none of this pid.
    ///
    /// # Errors
    ///
    /// A sentence about a pid that cannot be watched.
    #[cfg(target_os = "linux")]
    pub(crate) fn watch(pid: i32) -> Result<Option<Self>, String> {
        use rustix::io::Errno;
        use rustix::process::{Pid, PidfdFlags, pidfd_open};

        let named = Pid::from_raw(pid).filter(|_| pid > 0);
        let named = named.ok_or_else(|| format!("--pid {pid} is not a process id"))?;
        match pidfd_open(named, PidfdFlags::empty()) {
            Ok(end) => Ok(Some(Self { end })),
            Err(Errno::SRCH) => Ok(None),
            Err(error) => Err(format!("--pid {pid} cannot be watched: {error}")),
        }
    }

    /// As on Linux, where there is a way to do it.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn watch(_: i32) -> Result<Option<Self>, String> {
        Err("--pid works on Linux only; elsewhere the end of the input ends the report".to_owned())
    }
}

impl AsFd for Host {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }
}
