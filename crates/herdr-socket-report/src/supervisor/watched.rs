//! A process that is watched from outside.

#[cfg(not(target_os = "linux"))]
#[path = "elsewhere.rs"]
mod system;
#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod system;

pub(crate) use system::Watched;

use crate::control::Standing;

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
    /// Takes hold of a running process; `None` if no process has this id.
    pub(crate) fn open(pid: i32) -> Result<Option<Self>, String> {
        Self::take_hold(pid).map_err(|error| format!("process {pid} cannot be watched: {error}"))
    }

    /// How near it is to whoever sits at its terminal.
    pub(super) fn standing(&self) -> Standing {
        if self.is_stopped() {
            return Standing::Stopped;
        }
        u32::try_from(self.pid()).map_or(Standing::InFront, Standing::of)
    }
}
