//! A supervisor for the agent that calls a hook. Tokens have no guard, so without
//! one they would outlive an agent that is killed, or that has no last hook.

use std::ffi::OsStr;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use herdr_reporter::sidecar::{Identity, LeaseFile, ancestors, identity, is_program};
use herdr_reporter::{Config, Role};

use crate::commands::agents::Agent;
use crate::control::HERDR_REPORT_SOCKET;
use crate::place::{PaneFlags, Place};
use crate::supervisor::{Watched, supervise};
use crate::wait::blocking;

/// How long the server may take to say who runs in the pane.
const LOOK: Duration = Duration::from_millis(200);

/// Starts a supervisor for the agent, unless it has one or something else reports
/// for the pane. The agent has to be among the processes that this one comes from,
/// and proven to run in the pane.
pub(super) fn give_a_supervisor(agent: &Agent, config: &Config) {
    let Ok(Place::Pane(pane)) = PaneFlags::default().find() else { return };
    let reports = config.enabled && config.role == Role::Interactive && config.leave_state;
    if !reports || std::env::var_os(HERDR_REPORT_SOCKET).is_some() {
        return;
    }
    let (lease, own) = (LeaseFile::of_pane(config, &pane), std::process::id());
    let is_reported = || UnixStream::connect(lease.control_socket()).is_ok();
    if lease.supervisor_above(own).is_some() || is_reported() {
        return;
    }
    let Some(process) = ancestors(own).find(|it| is_program(*it, agent.program)) else { return };
    // One that is not in the pane may serve others, too, such as Codex's server.
    let proven = blocking(identity(&pane, config, Some(process), LOOK)).flatten();
    if proven != Some(Identity::Proven) {
        return;
    }
    if let Ok(Ok(Some(watched))) = i32::try_from(process).map(Watched::open) {
        // Without one the agent goes on all the same, and what its hooks say goes
        // straight to Herdr.
        let socket = lease.supervisor_socket(process);
        let _ = supervise(&watched, &socket, Vec::new(), OsStr::new(agent.program));
    }
}
