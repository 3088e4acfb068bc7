//! Reading what a host writes to a command that does not use it.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::{Errno, read};
use rustix::stdio::stdin;

/// How long a host may take until it begins to write. Many hosts leave a pipe open that they
/// never write to, and these must not wait long.
const FIRST: Duration = Duration::from_millis(100);
/// How long a host may pause.
const NEXT: Duration = Duration::from_millis(300);
/// The time limit of the whole program, including its work.
const LIMIT: Duration = Duration::from_secs(1);

/// Reads a pipe on stdin to its end, so that the host's write does not fail with `EPIPE`.
/// `began` is when the program was started.
pub(crate) fn drain_stdin(began: Instant) {
    let kind = fstat(stdin()).map(|it| FileType::from_raw_mode(it.st_mode));
    if !matches!(kind, Ok(FileType::Fifo | FileType::Socket)) {
        return;
    }
    let left = |limit: Duration| limit.saturating_sub(began.elapsed());
    let over = Instant::now() + left(LIMIT).max(FIRST);
    let mut patience = left(FIRST);
    let mut chunk = vec![0; 64 * 1024];
    while Instant::now() < over && is_ready_within(patience) {
        match read(stdin(), &mut chunk) {
            Ok(0) => return,
            Ok(_) | Err(Errno::INTR | Errno::AGAIN) => {
                patience = NEXT.min(over.saturating_duration_since(Instant::now()));
            }
            Err(_) => return,
        }
    }
}

fn is_ready_within(time: Duration) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(stdin(), PollFlags::IN)];
    poll(&mut fds, Timespec::try_from(time).ok().as_ref()).is_ok_and(|ready| ready > 0)
}
