//! Whether the agent runs in the pane, judged from the processes of this machine (failure B34).

use std::path::Path;
use std::time::Duration;

use herdr_proto::ProcessInfo;
use herdr_socket_transport::{Peer, env};

use crate::machine::Identity;
use crate::process::session_of;

/// How long a shell may take from the server's `fork` until it runs its own program.
const MAX_START_TIME: Duration = Duration::from_millis(200);
/// How often a shell that is starting is looked at.
const START_POLL: Duration = Duration::from_millis(2);

/// Waits until the pane's shell has started. A server may name a shell that it has only just
/// forked, and [`judge_identity`] needs the shell's own environment. `server` is the process that
/// answered. Usually takes no time, and at most 200 ms.
///
/// # Cancel safety
///
/// Dropping the future has no effect: it only reads.
pub(crate) async fn await_shell(info: &ProcessInfo, server: Peer) {
    if let Some(shell) = info.shell_pid {
        await_start(|| is_starting(shell, server.pid())).await;
    }
}

async fn await_start(is_starting: impl Fn() -> bool) {
    let started = async {
        while is_starting() {
            tokio::time::sleep(START_POLL).await;
        }
    };
    // A shell that was started without any environment never gets one.
    let _ = tokio::time::timeout(MAX_START_TIME, started).await;
}

/// Judges from the answer to `pane.process_info` whether a process runs in a pane, that is, whether
/// the pane's shell leads the session of the process. `agent` is the process; `None` means this
/// process. `socket` is the socket that was asked, and `server` the process that answered.
///
/// The pane counts as foreign only if its shell can be seen from here. In a container, or with a
/// server on another machine, nothing is proven.
pub(crate) fn judge_identity(
    info: &ProcessInfo,
    agent: Option<u32>,
    socket: &Path,
    server: Peer,
) -> Identity {
    // The kernel gives no pid for a server in another namespace. Its pids and ours cannot be
    // compared.
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

/// Whether a child of the server has not become the shell yet. Between `fork` and `exec` it is a
/// copy of the server, and then, until its first instruction, it has no environment.
#[cfg(target_os = "linux")]
fn is_starting(process: u32, server: Option<u32>) -> bool {
    let program = |process: u32| std::fs::read_link(format!("/proc/{process}/exe")).ok();
    let is_copy = || server.and_then(program).is_some_and(|path| program(process) == Some(path));
    let environment = || std::fs::read(format!("/proc/{process}/environ"));
    is_copy() || environment().is_ok_and(|entries| entries.is_empty())
}

#[cfg(not(target_os = "linux"))]
fn is_starting(_process: u32, _server: Option<u32>) -> bool {
    false
}

/// Whether the process is this user's and was started with this socket in its environment. Only
/// Linux lets us read an environment; on other systems it is enough that the process leads a
/// session.
#[cfg(target_os = "linux")]
fn is_of_this_server(shell: u32, socket: &Path) -> bool {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::MetadataExt;

    use rustix::process::getuid;

    let folder = format!("/proc/{shell}");
    let is_own = std::fs::metadata(&folder).is_ok_and(|data| data.uid() == getuid().as_raw());
    let Ok(environment) = std::fs::read(format!("{folder}/environ")) else { return false };
    let prefix = format!("{}=", env::HERDR_SOCKET_PATH);
    is_own
        && environment.split(|byte| *byte == 0).any(|entry| {
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

        let polls = std::cell::Cell::new(0);
        await_start(|| polls.replace(polls.get() + 1) < 3).await;
        assert_eq!(began.elapsed(), START_POLL * 3);

        await_start(|| true).await;
        assert_eq!(began.elapsed(), START_POLL * 3 + MAX_START_TIME);
    }
}
