//! Reading stdin in batches: each wake-up takes everything that is ready.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::stdio::stdin;
use rustix::termios::isatty;

use super::signals::Signals;
use super::{Item, LineReader};
use crate::supervisor::Watched;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Input,
    Signal,
    Host,
}

/// Reads stdin until the input, a signal or the host's end ends it.
pub(crate) struct Stdin {
    lines: LineReader,
    chunk: Vec<u8>,
    signals: Signals,
    host: Option<Watched>,
}

/// A batch ends at this many lines.
const BATCH_ITEMS: usize = 4096;
/// A batch ends after this time.
const BATCH_TIME: Duration = Duration::from_millis(20);
/// The size of a pipe on Linux.
const CHUNK: usize = 64 * 1024;

impl Stdin {
    /// Reads until the end of the input, a signal, or the end of the process `host`.
    pub(crate) fn new(signals: Signals, host: Option<Watched>) -> Self {
        Self { lines: LineReader::new(), chunk: vec![0; CHUNK], signals, host }
    }

    pub(crate) fn signals(&self) -> &Signals {
        &self.signals
    }

    /// Waits for input and takes all that is ready. Lines count also if the end comes with
    /// them.
    pub(crate) fn next(&mut self) -> (Vec<Item>, Option<End>) {
        let mut items = Vec::new();
        let mut ready = self.wait(None);
        let began = Instant::now();
        loop {
            match ready {
                Err(end) => return (items, Some(end)),
                Ok(false) => return (items, None),
                Ok(true) if self.read(&mut items) => {}
                Ok(true) => {
                    self.lines.finish(&mut items);
                    return (items, Some(End::Input));
                }
            }
            if items.len() >= BATCH_ITEMS || began.elapsed() >= BATCH_TIME {
                return (items, None);
            }
            ready = self.wait(Some(Duration::ZERO));
        }
    }

    /// Reads once; false at the end of the input.
    fn read(&mut self, items: &mut Vec<Item>) -> bool {
        match rustix::io::read(stdin(), &mut self.chunk) {
            Ok(0) => false,
            Ok(count) => {
                self.lines.push(&self.chunk[..count], items);
                true
            }
            Err(Errno::INTR | Errno::AGAIN) => true,
            Err(error) => {
                tracing::warn!(%error, "stdin cannot be read");
                false
            }
        }
    }

    /// Whether there is input within `limit`, or why reading ends.
    fn wait(&self, limit: Option<Duration>) -> Result<bool, End> {
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        let poll_in = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
        let mut fds = vec![poll_in(self.signals.as_fd()), poll_in(stdin())];
        fds.extend(self.host.as_ref().and_then(Watched::end).map(poll_in));
        loop {
            match poll(&mut fds, limit.as_ref()) {
                Ok(_) => break,
                // The signal has already made its descriptor readable, if it is one that ends
                // the program.
                Err(Errno::INTR) => {}
                Err(error) => {
                    tracing::warn!(%error, "stdin cannot be waited for");
                    return Err(End::Input);
                }
            }
        }
        let ready = |place: usize| fds.get(place).is_some_and(|fd| !fd.revents().is_empty());
        if ready(0) {
            Err(End::Signal)
        } else if ready(2) {
            Err(End::Host)
        } else {
            Ok(ready(1))
        }
    }
}

/// Moves to a process group of its own if a host feeds this process, so that the terminal's
/// Ctrl-C and Ctrl-Z reach only the host. This process ends when the host does.
pub(crate) fn leave_the_hosts_group() {
    if !isatty(stdin()) {
        // A session leader cannot move and does not need to.
        let _ = rustix::process::setpgid(None, None);
    }
}
