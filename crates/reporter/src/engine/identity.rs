//! Does the agent run in the pane? Only the processes of this machine can
//! tell (failure B34).

use std::path::Path;

use herdr_proto::ProcessInfo;
use rustix::process::{Pid, getsid, getuid};
use socket_transport::{Peer, env};

use crate::machine::Identity;

/// Judges from what `pane.process_info` says whether a process runs in a pane:
/// whether the pane's shell leads its session. `agent` is the process, `None`
/// this one; `socket` is where the question went and `server` who answered it.
///
/// A foreign pane is only believed where the pane's shell can be seen from
/// here, so a container or another machine proves nothing.
pub fn judge_identity(
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
    let (Some(shell), Ok(session)) = (info.shell_pid.and_then(pid), session_of(agent)) else {
        return Identity::Unprovable;
    };
    if session == shell {
        Identity::Proven
    } else if leads_its_session(shell) && is_of_this_server(shell, socket) {
        Identity::Foreign
    } else {
        Identity::Unprovable
    }
}

fn pid(raw: u32) -> Option<Pid> {
    i32::try_from(raw).ok().and_then(Pid::from_raw)
}

fn session_of(agent: Option<u32>) -> rustix::io::Result<Pid> {
    match agent {
        None => getsid(None),
        Some(raw) => getsid(Some(pid(raw).ok_or(rustix::io::Errno::SRCH)?)),
    }
}

fn leads_its_session(shell: Pid) -> bool {
    getsid(Some(shell)).is_ok_and(|session| session == shell)
}

/// Whether the process is ours and was started with this socket. Elsewhere
/// than on Linux an environment cannot be read, and leading a session has to
/// do.
#[cfg(target_os = "linux")]
fn is_of_this_server(shell: Pid, socket: &Path) -> bool {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::MetadataExt;

    let folder = format!("/proc/{}", shell.as_raw_nonzero());
    let ours = std::fs::metadata(&folder).is_ok_and(|data| data.uid() == getuid().as_raw());
    let Ok(environment) = std::fs::read(format!("{folder}/environ")) else { return false };
    let prefix = format!("{}=", env::HERDR_SOCKET_PATH);
    ours && environment.split(|byte| *byte == 0).any(|entry| {
        let value = entry.strip_prefix(prefix.as_bytes()).map(OsStr::from_bytes);
        value.is_some_and(|value| same_file(Path::new(value), socket))
    })
}

#[cfg(not(target_os = "linux"))]
fn is_of_this_server(shell: Pid, _socket: &Path) -> bool {
    let _ = (shell, getuid(), env::HERDR_SOCKET_PATH);
    true
}

#[cfg(target_os = "linux")]
fn same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    one == other || real(one).is_some_and(|one| real(other) == Some(one))
}
