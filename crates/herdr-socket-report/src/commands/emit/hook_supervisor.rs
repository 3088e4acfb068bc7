//! A supervisor for the agent whose hook this is. Tokens do not end with an agent by
//! themselves, so without a supervisor the tokens of an agent that is killed, or that has no
//! hook at its end, would stay.

use std::ffi::OsStr;
use std::time::Duration;

use herdr_reporter::Config;
use herdr_reporter::sidecar::{Identity, ancestors, identity, is_program};

use super::route::Target;
use crate::control::HERDR_REPORT_SOCKET;
use crate::supervisor::{Watched, supervise};
use crate::wait::blocking;

/// The time limit for asking the server which processes run in the pane.
const LOOK: Duration = Duration::from_millis(200);

/// Starts a supervisor for the agent that runs `program`, and says whether the supervisor
/// accepts reports. The agent has to be an ancestor of this process and has to be proven to run
/// in the pane.
pub(super) fn start_supervisor(program: &str, (pane, lease): &Target<'_>, config: &Config) -> bool {
    if std::env::var_os(HERDR_REPORT_SOCKET).is_some() {
        return false;
    }
    let agent = ancestors(std::process::id()).find(|it| is_program(*it, program));
    let Some(agent) = agent else { return false };
    // A process outside the pane may serve several agents, as the background server of Codex
    // does.
    if blocking(identity(pane, config, Some(agent), LOOK)).flatten() != Some(Identity::Proven) {
        return false;
    }
    let Ok(Ok(Some(watched))) = i32::try_from(agent).map(Watched::open) else { return false };
    let socket = lease.supervisor_socket(agent);
    supervise(&watched, &socket, Vec::new(), OsStr::new(program)).is_ok_and(|heard| heard)
}
