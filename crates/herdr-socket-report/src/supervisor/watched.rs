//! A process that is watched without being its parent.

#[cfg(not(target_os = "linux"))]
#[path = "other_unix.rs"]
mod system;
#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod system;

pub(crate) use system::Watched;

use crate::control::JobState;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitOutcome {
    /// The watched process ended.
    Ended,
    /// This process received a signal to end.
    Signalled,
    /// The time limit passed and neither had happened.
    TimedOut,
}

impl Watched {
    /// Starts to watch a running process; `None` if no process has this id.
    pub(crate) fn open(pid: i32) -> Result<Option<Self>, String> {
        Self::open_pid(pid).map_err(|error| format!("process {pid} cannot be watched: {error}"))
    }

    /// Whether the process is in the foreground, in the background or stopped.
    pub(super) fn job_state(&self) -> JobState {
        if self.is_stopped() {
            return JobState::Stopped;
        }
        u32::try_from(self.pid()).map_or(JobState::Foreground, JobState::of)
    }
}
