//! A supervisor for the agent that calls a hook. Tokens have no guard, so without
//! one they would outlive an agent that is killed, or that has no last hook.

use std::ffi::OsStr;
use std::time::Duration;

use herdr_reporter::Config;
use herdr_reporter::sidecar::{Identity, ancestors, identity, is_program};

use super::way::Target;
use crate::control::HERDR_REPORT_SOCKET;
use crate::supervisor::{Watched, supervise};
use crate::wait::blocking;

/// How long the server may take to say who runs in the pane.
const LOOK: Duration = Duration::from_millis(200);

/// Starts a supervisor for the agent that runs this program, in a pane that nobody
/// reports for; whether it hears hooks. The agent has to be among the processes
/// that this one comes from, and proven to run in the pane.
pub(super) fn give_a_supervisor(
    program: &str,
    (pane, lease): &Target<'_>,
    config: &Config,
) -> bool {
    if std::env::var_os(HERDR_REPORT_SOCKET).is_some() {
        return false;
    }
    let agent = ancestors(std::process::id()).find(|it| is_program(*it, program));
    let Some(agent) = agent else { return false };
    // One that is not in the pane may serve others, too, such as Codex's server.
    if blocking(identity(pane, config, Some(agent), LOOK)).flatten() != Some(Identity::Proven) {
        return false;
    }
    let Ok(Ok(Some(watched))) = i32::try_from(agent).map(Watched::open) else { return false };
    let socket = lease.supervisor_socket(agent);
    supervise(&watched, &socket, Vec::new(), OsStr::new(program)).is_ok_and(|heard| heard)
}
