//! Does the agent run in the pane? Only the processes of this machine can
//! tell (failure B34).

use std::path::Path;
use std::time::Duration;

use herdr_proto::ProcessInfo;
use herdr_socket_transport::{Peer, env};

use crate::machine::Identity;
use crate::process::session_of;

/// How long a shell may take from its birth to its start …
const STARTS_WITHIN: Duration = Duration::from_millis(200);
/// … and how often it is looked at meanwhile.
const STARTING_LOOK: Duration = Duration::from_millis(2);

/// Waits until the pane's shell is started, if it is about to: a server names a
/// shell that it has just born, and one that has not its own environment yet
/// proves nothing to [`judge_identity`]. `server` is who answered. Takes at most
/// 200 ms, and no time as a rule.
///
/// # Cancel safety
///
/// It only looks, so it may be dropped at any moment.
pub(crate) async fn await_shell(info: &ProcessInfo, server: Peer) {
    if let Some(shell) = info.shell_pid {
        await_start(|| is_starting(shell, server.pid())).await;
    }
}

async fn await_start(is_starting: impl Fn() -> bool) {
    let started = async {
        while is_starting() {
            tokio::time::sleep(STARTING_LOOK).await;
        }
    };
    // One that was started with no environment at all never gets one.
    let _ = tokio::time::timeout(STARTS_WITHIN, started).await;
}

/// Judges from what `pane.process_info` says whether a process runs in a pane:
/// whether the pane's shell leads its session. `agent` is the process, `None`
/// this one; `socket` is where the question went and `server` who answered it.
///
/// A foreign pane is only believed where the pane's shell can be seen from
/// here, so a container or another machine proves nothing.
pub(crate) fn judge_identity(
    info: &ProcessInfo,
    agent: Option<u32>,
    socket: &Path,
    server: Peer,
) -> Identity {
    // A server that cannot be seen from here counts its processes in another
    // namespace; equal numbers mean nothing then.
    if cfg!(target_os = "linux") && server.pid().is_none() {
        return Identity::Unprovable;
    }
    let agent = agent.unwrap_or_else(std::process::id);
    let (Some(shell), Some(session)) = (info.shell_pid, session_of(agent)) else {
        return Identity::Unprovable;
    };
    if session == shell {
        Identity::Proven
    } else if session_of(shell) == Some(shell) && is_of_this_server(shell, socket) {
        Identity::Foreign
    } else {
        Identity::Unprovable
    }
}

/// Whether a process of the server's is still about to become the shell. From
/// its birth to the call that starts a program it is a copy of the server, from
/// there to its first instruction it has no environment.
#[cfg(target_os = "linux")]
fn is_starting(process: u32, server: Option<u32>) -> bool {
    let program = |process: u32| std::fs::read_link(format!("/proc/{process}/exe")).ok();
    let is_copy = || server.and_then(program).is_some_and(|it| program(process) == Some(it));
    let environment = || std::fs::read(format!("/proc/{process}/environ"));
    is_copy() || environment().is_ok_and(|entries| entries.is_empty())
}

#[cfg(not(target_os = "linux"))]
fn is_starting(_process: u32, _server: Option<u32>) -> bool {
    false
}

/// Whether the process is ours and was started with this socket. Elsewhere
/// than on Linux an environment cannot be read, and leading a session has to
/// do.
#[cfg(target_os = "linux")]
fn is_of_this_server(shell: u32, socket: &Path) -> bool {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::MetadataExt;

    use rustix::process::getuid;

    let folder = format!("/proc/{shell}");
    let ours = std::fs::metadata(&folder).is_ok_and(|data| data.uid() == getuid().as_raw());
    let Ok(environment) = std::fs::read(format!("{folder}/environ")) else { return false };
    let prefix = format!("{}=", env::HERDR_SOCKET_PATH);
    ours && environment.split(|byte| *byte == 0).any(|entry| {
        let value = entry.strip_prefix(prefix.as_bytes()).map(OsStr::from_bytes);
        value.is_some_and(|value| same_file(Path::new(value), socket))
    })
}

#[cfg(not(target_os = "linux"))]
fn is_of_this_server(shell: u32, _socket: &Path) -> bool {
    let _ = (shell, env::HERDR_SOCKET_PATH);
    true
}

#[cfg(target_os = "linux")]
fn same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    one == other || real(one).is_some_and(|one| real(other) == Some(one))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_shell_that_starts_is_waited_for_but_not_for_long() {
        let began = tokio::time::Instant::now();
        let own = std::process::id();
        await_start(|| is_starting(own, None)).await;
        await_start(|| is_starting(u32::MAX, Some(own))).await;
        assert_eq!(began.elapsed(), Duration::ZERO);
        assert!(is_starting(own, Some(own)), "a copy of the server");

        let looks = std::cell::Cell::new(0);
        await_start(|| looks.replace(looks.get() + 1) < 3).await;
        assert_eq!(began.elapsed(), STARTING_LOOK * 3);

        await_start(|| true).await;
        assert_eq!(began.elapsed(), STARTING_LOOK * 3 + STARTS_WITHIN);
    }
}
