//! Signals that end the program, as something to wait for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::flag;
use signal_hook::low_level::{emulate_default_handler, pipe};

/// Hears SIGINT, SIGTERM and SIGHUP. The first one is to end in good order; a
/// second one ends at once.
pub(crate) struct Signals {
    /// Readable once a signal came.
    heard: UnixStream,
    impatient: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
}

/// When a second signal ends the program at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Second {
    /// As soon as the first one came.
    Counts,
    /// After [`Signals::end_at_once_next_time`].
    CountsLater,
}

impl Signals {
    /// Begins to hear.
    pub(crate) fn hear(second: Second) -> io::Result<Self> {
        let (heard, write) = UnixStream::pair()?;
        let impatient = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // The order matters: the second signal finds what the first one set.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&impatient))?;
            if second == Second::Counts {
                flag::register(signal, Arc::clone(&impatient))?;
            }
            pipe::register(signal, write.try_clone()?)?;
        }
        Ok(Self { heard, impatient, stop: Arc::default() })
    }

    /// Waits for a signal; whether one came within this time.
    pub(crate) fn came_within(&self, time: Duration) -> bool {
        let end = Instant::now() + time;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let limit = Timespec::try_from(left).ok();
            let mut heard = [PollFd::new(&self.heard, PollFlags::IN)];
            match poll(&mut heard, limit.as_ref()) {
                // A signal that is none of ours.
                Err(Errno::INTR) => {}
                Ok(0) | Err(_) => return false,
                Ok(_) => return true,
            }
        }
    }

    /// Whether a terminal's Ctrl-Z came since the last time this was asked.
    pub(crate) fn stop_came(&self) -> bool {
        self.stop.swap(false, Ordering::Relaxed)
    }

    /// Hears the terminal's Ctrl-Z as well, which then does nothing by itself.
    pub(crate) fn hear_stop(&self) -> io::Result<()> {
        flag::register(SIGTSTP, Arc::clone(&self.stop)).map(|_| ())
    }

    /// Stops as Ctrl-Z does; returns when the shell lets us go on.
    pub(crate) fn stop() {
        let _ = emulate_default_handler(SIGTSTP);
    }

    /// The next signal ends the program at once.
    pub(crate) fn end_at_once_next_time(&self) {
        self.impatient.store(true, Ordering::Relaxed);
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.heard.as_fd()
    }
}
