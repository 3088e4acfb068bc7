//! What is written to a command that does not read it.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read};
use rustix::stdio::stdin;

/// How long a pipe on which nothing comes is waited for,
const FIRST: Duration = Duration::from_millis(2);
/// one on which something came,
const MORE: Duration = Duration::from_millis(50);
/// and the whole.
const WHOLE: Duration = Duration::from_millis(500);
/// Most that is taken, in bytes.
const MOST: usize = 16 * 1024 * 1024;

/// Takes what comes on a stdin that is a pipe, so that an agent that writes the
/// facts of a hook there does not fail for it (`EPIPE`).
pub(crate) fn drain_stdin() {
    if !is_pipe() || is_shared() {
        return;
    }
    let end = Instant::now() + WHOLE;
    let mut chunk = vec![0; 64 * 1024];
    let (mut taken, mut patience) = (0, FIRST);
    while taken < MOST {
        let limit = patience.min(end.saturating_duration_since(Instant::now()));
        let limit = Timespec::try_from(limit).ok();
        match poll(&mut [PollFd::from_borrowed_fd(stdin(), PollFlags::IN)], limit.as_ref()) {
            Ok(1..) => {}
            Err(Errno::INTR) => continue,
            _ => return,
        }
        match read(stdin(), &mut chunk) {
            Ok(count @ 1..) => taken += count,
            _ => return,
        }
        patience = MORE;
    }
}

/// Whether stdin is a pipe, or the socket that some hosts make instead of one.
fn is_pipe() -> bool {
    let stdin = stdin().as_fd().try_clone_to_owned().map(File::from);
    let kind = stdin.and_then(|stdin| stdin.metadata()).map(|found| found.file_type());
    kind.is_ok_and(|kind| kind.is_fifo() || kind.is_socket())
}

/// Whether the parent has the same stdin, as in a script that reads lines in a
/// loop: what comes there is for the script.
#[cfg(target_os = "linux")]
fn is_shared() -> bool {
    let pipe = |process: &str| std::fs::read_link(format!("/proc/{process}/fd/0")).ok();
    let parent = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().to_string());
    pipe("self").is_some_and(|own| parent.and_then(|parent| pipe(&parent)) == Some(own))
}

/// Elsewhere there is no way to tell.
#[cfg(not(target_os = "linux"))]
fn is_shared() -> bool {
    false
}
