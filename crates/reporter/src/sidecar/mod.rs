//! What the sidecar needs in addition to the API for hosts. This is not stable: any of it may
//! change with any release.

#[cfg(unix)]
mod once;

use std::io::Write;
use std::time::Duration;

pub use crate::activity::{Activity, Presentation, Session, Snapshot, show_context};
pub use crate::event::{EventLine, LineError, repaired};
#[cfg(unix)]
pub use crate::lease::supervised_by;
pub use crate::lease::{LeaseFile, owner_of};
pub use crate::leavings::Leavings;
pub use crate::machine::*;
pub use crate::process::*;
use crate::program_status::Terminal;
pub use crate::program_status::program_status;
pub use crate::source::{SourceNotice, source_for};
use crate::{Builder, Handle};
#[cfg(unix)]
pub use once::{Reported, identity, judge_place, report_once, shown};

/// Everything that a reporter knows, for the reporter that follows it.
pub fn activity(handle: &Handle) -> Activity {
    handle.shared.activity()
}

/// Starts with what an earlier reporter knew, which has given the pane back.
pub fn resume(mut builder: Builder, activity: Activity) -> Builder {
    builder.activity = activity;
    builder
}

/// Writes the program status to `terminal`, even if it is not a terminal.
pub fn tell_terminal(mut builder: Builder, terminal: impl Write + Send + 'static) -> Builder {
    builder.terminal = Some(Terminal::new(terminal));
    builder
}

/// Shows the agent as idle with the label `suspended` while its process is stopped, and afterwards
/// what its events say (failure B29). For a reporter that reports for another process. It does not
/// claim the pane.
pub fn suspend(handle: &Handle, suspended: bool) {
    handle.shared.suspend(suspended);
}

/// Waits until it is decided whether this reporter has the pane's lease, at most `timeout`; `None`
/// if it is not decided by then. False if another process has the lease, if the pane is not ours,
/// or if the reporter is inert or has ended. From this call on the reporter asks for the lease even
/// if there is nothing to report. Blocks.
pub fn holds_lease(handle: &Handle, timeout: Duration) -> Option<bool> {
    handle.shared.wait_lease(timeout)
}

/// Waits until this reporter has the pane's lease; false if the reporter is inert, or ends before
/// that. From this call on the reporter asks for the lease even if there is nothing to report.
/// Works under any executor.
///
/// # Cancel safety
///
/// Dropping the future loses nothing.
pub async fn lease_held(handle: &Handle) -> bool {
    handle.shared.lease_held().await
}

/// Waits until this reporter does not have the pane's lease.
///
/// # Cancel safety
///
/// Dropping the future loses nothing.
pub async fn lease_lost(handle: &Handle) {
    handle.shared.lease_lost().await;
}
