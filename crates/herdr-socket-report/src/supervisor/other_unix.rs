//! Watching a process on systems without process descriptors. A process is known by its id and
//! its start time, and both are polled.

use std::cell::Cell;
use std::io;
use std::os::fd::BorrowedFd;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::WaitOutcome;
use crate::input::signals::Signals;

/// How often the process is checked for its end.
const CHECK: Duration = Duration::from_millis(500);
/// How often `ps` is run for the start time and the state of the process.
const PS_EVERY: Duration = Duration::from_millis(1500);

/// A watched process. The start time tells it from a later process with the same id.
pub(crate) struct Watched {
    pid: Pid,
    since: String,
    ps_ran: Cell<Option<Instant>>,
    stopped: Cell<bool>,
    ended: Cell<bool>,
}

impl Watched {
    pub(super) fn open_pid(pid: i32) -> io::Result<Option<Self>> {
        let Some(pid) = Pid::from_raw(pid) else { return Ok(None) };
        Ok(ps(pid)?.map(|(_, since)| Self::new(pid, since)))
    }

    pub(in crate::supervisor) fn inherited(pid: i32, since: Option<String>) -> io::Result<Self> {
        let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Self::new(pid, since.ok_or(io::ErrorKind::InvalidInput)?))
    }

    fn new(pid: Pid, since: String) -> Self {
        Self {
            pid,
            since,
            ps_ran: Cell::default(),
            stopped: Cell::default(),
            ended: Cell::default(),
        }
    }

    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "on Linux there is something to hand over"
    )]
    pub(in crate::supervisor) fn to_stdin(&self) -> io::Result<Stdio> {
        Ok(Stdio::null())
    }

    #[expect(clippy::unnecessary_wraps, reason = "on Linux there is nothing to say")]
    pub(in crate::supervisor) fn since(&self) -> Option<&str> {
        Some(&self.since)
    }

    #[expect(clippy::unused_self, reason = "on Linux there is one")]
    pub(crate) fn end(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    pub(crate) fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Waits until the process ends, this process receives a signal, or `limit` has passed.
    pub(in crate::supervisor) fn wait(&self, signals: &Signals, limit: Duration) -> WaitOutcome {
        let over = Instant::now() + limit;
        let mut fds = [PollFd::new(signals, PollFlags::IN)];
        loop {
            if self.has_ended() {
                return WaitOutcome::Ended;
            }
            let left = over.saturating_duration_since(Instant::now());
            let step = Timespec::try_from(left.min(CHECK)).ok();
            match poll(&mut fds, step.as_ref()) {
                Ok(0) | Err(Errno::INTR) if left.is_zero() => return WaitOutcome::TimedOut,
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return WaitOutcome::Signalled,
                Err(error) => {
                    tracing::warn!(%error, "the process cannot be waited for");
                    return WaitOutcome::Ended;
                }
            }
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.get()
    }

    fn has_ended(&self) -> bool {
        if self.ended.get() || test_kill_process(self.pid) == Err(Errno::SRCH) {
            return true;
        }
        if self.ps_ran.get().is_none_or(|then| then.elapsed() >= PS_EVERY) {
            self.ps_ran.set(Some(Instant::now()));
            // If `ps` fails, the process counts as running.
            match ps(self.pid) {
                Ok(Some((state, since))) if since == self.since && !state.starts_with('Z') => {
                    self.stopped.set(state.starts_with('T'));
                }
                Ok(_) => self.ended.set(true),
                Err(_) => {}
            }
        }
        self.ended.get()
    }
}

/// The state and the start time of a process; `None` if it has ended.
fn ps(pid: Pid) -> io::Result<Option<(String, String)>> {
    let output = Command::new("/bin/ps")
        .args(["-o", "state=,lstart=", "-p", &pid.as_raw_nonzero().to_string()])
        .env("LC_ALL", "C")
        .env("TZ", "UTC")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let parts = text.trim().split_once(char::is_whitespace);
    Ok(parts.map(|(state, since)| (state.to_owned(), since.trim().to_owned())))
}
