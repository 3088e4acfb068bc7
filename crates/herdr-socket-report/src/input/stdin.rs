//! Stdin, in batches: everything that is ready, once for each wake-up.

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

/// Reads stdin until something ends it.
pub(crate) struct Stdin {
    lines: LineReader,
    chunk: Vec<u8>,
    signals: Signals,
    host: Option<Watched>,
}

/// A batch is handed on when it has this many items,
const BATCH_ITEMS: usize = 4096;
/// or when it has been gathered for this long.
const BATCH_TIME: Duration = Duration::from_millis(20);
/// As much as a pipe holds on Linux.
const CHUNK: usize = 64 * 1024;

impl Stdin {
    /// Reads until the end of the input, a signal, or the end of `host`.
    pub(crate) fn new(signals: Signals, host: Option<Watched>) -> Self {
        Self { lines: LineReader::new(), chunk: vec![0; CHUNK], signals, host }
    }

    pub(crate) fn signals(&self) -> &Signals {
        &self.signals
    }

    /// Waits for input and takes all that is ready. The items count also when
    /// an end comes with them.
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

    /// Whether there is input within this time, or why there will be no more.
    fn wait(&self, limit: Option<Duration>) -> Result<bool, End> {
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        let poll_in = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
        let mut fds = vec![poll_in(self.signals.as_fd()), poll_in(stdin())];
        fds.extend(self.host.as_ref().and_then(Watched::end).map(poll_in));
        loop {
            match poll(&mut fds, limit.as_ref()) {
                Ok(_) => break,
                // A signal that ends us has made its end readable by now.
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

/// Moves to a process group of our own when a host feeds us, so that the
/// terminal's Ctrl-C and Ctrl-Z reach the host alone. We end when it does.
pub(crate) fn leave_the_hosts_group() {
    if !isatty(stdin()) {
        // A session leader cannot move, and need not.
        let _ = rustix::process::setpgid(None, None);
    }
}
