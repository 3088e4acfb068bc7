//! What the sidecar needs beyond what a host does. It promises nothing: any of it
//! may change with any release.

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
pub use crate::source::{SourceNotice, source_for};
use crate::{Builder, Config, Handle};
#[cfg(unix)]
pub use once::{Reported, identity, judge_place, report_once, shown};

/// What a reporter knows by now, for one that comes after it.
pub fn activity(handle: &Handle) -> Activity {
    handle.shared.activity()
}

/// Begins with what is known already, from a reporter that has given the pane
/// back.
pub fn resume(builder: Builder, activity: Activity) -> Builder {
    builder.activity(activity)
}

/// Tells this terminal, whatever it is.
pub fn tell_terminal(builder: Builder, terminal: impl Write + Send + 'static) -> Builder {
    builder.terminal(terminal)
}

/// What a terminal is told once of what is known, for one write; empty if there
/// is nothing to tell. Of subagents and runs nothing is told.
pub fn program_status(activity: &Activity, config: &Config, agent: &str) -> Vec<u8> {
    crate::program_status::once(activity, config, agent)
}

/// Shows the agent as idle with the label `suspended` while its process is
/// stopped, and what its events say afterwards (failure B29). For a reporter that
/// speaks for another process; nothing is claimed by it.
pub fn suspend(handle: &Handle, suspended: bool) {
    handle.shared.suspend(suspended);
}

/// Whether this reporter has the pane's lease, waited for at most `timeout`:
/// false if another process has it, the pane is not ours, or the reporter is
/// inert or has ended; `None` if it is not decided by then. The lease is sought
/// from this call on, also if there is nothing to report. Blocks.
pub fn holds_lease(handle: &Handle, timeout: Duration) -> Option<bool> {
    handle.shared.wait_lease(timeout)
}

/// Waits until this reporter has the pane's lease; false when it ends without,
/// or is inert. The lease is sought from this call on, also if there is nothing
/// to report. Works under any executor.
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
