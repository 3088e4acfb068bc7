//! Signals that end the program, as something to wait for. A further one, a
//! moment later, ends it at once.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::flag;
use signal_hook::low_level::{emulate_default_handler, pipe};
use tokio::net::UnixStream as TokioStream;

/// Hears SIGINT, SIGTERM and SIGHUP, which ask for an end in good order.
pub(crate) struct Signals {
    /// Readable once a signal came.
    heard: UnixStream,
    impatient: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
}

/// Signals that come together are one wish: a terminal that goes sends two, and
/// so does a program that passes on what its child got already.
const TOGETHER: Duration = Duration::from_millis(200);

impl Signals {
    pub(crate) fn hear() -> io::Result<Self> {
        let (heard, write) = UnixStream::pair()?;
        heard.set_nonblocking(true)?;
        let impatient = Arc::new(AtomicBool::new(false));
        // What was ignored at the start was ignored on purpose, as by nohup.
        let ignored = ignored_at_the_start();
        for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|it| !ignores(ignored, *it)) {
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&impatient))?;
            pipe::register(signal, write.try_clone()?)?;
        }
        Ok(Self { heard, impatient, stop: Arc::default() })
    }

    /// From soon on, a further signal ends the program at once.
    pub(crate) fn lose_patience_soon(&self) {
        let impatient = Arc::clone(&self.impatient);
        thread::spawn(move || {
            thread::sleep(TOGETHER);
            impatient.store(true, Ordering::Relaxed);
        });
    }

    /// Waits for a signal; whether one came within this time.
    pub(crate) fn came_within(&self, time: Duration) -> bool {
        let end = Instant::now() + time;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let limit = Timespec::try_from(left).ok();
            let mut heard = [PollFd::new(&self.heard, PollFlags::IN)];
            match poll(&mut heard, limit.as_ref()) {
                // Another signal.
                Err(Errno::INTR) => {}
                Ok(0) | Err(_) => return false,
                Ok(_) => return true,
            }
        }
    }

    /// Waits for a signal, in a runtime with I/O.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no signal.
    pub(crate) async fn came(&self) {
        let heard = self.heard.try_clone().and_then(TokioStream::from_std);
        match heard {
            Ok(heard) => drop(heard.readable().await),
            // A process that cannot even be told to end had better end.
            Err(error) => tracing::warn!(%error, "signals cannot be heard"),
        }
    }

    /// Whether a terminal's Ctrl-Z came since the last time this was asked.
    pub(crate) fn stop_came(&self) -> bool {
        self.stop.swap(false, Ordering::Relaxed)
    }

    /// Hears the terminal's Ctrl-Z as well, which then does nothing by itself.
    pub(crate) fn hear_stop(&self) -> io::Result<()> {
        if !ignores(ignored_at_the_start(), SIGTSTP) {
            flag::register(SIGTSTP, Arc::clone(&self.stop))?;
        }
        Ok(())
    }

    /// Stops as Ctrl-Z does; returns when the shell lets us go on.
    pub(crate) fn stop() {
        let _ = emulate_default_handler(SIGTSTP);
    }
}

/// The signals that this process ignores, one a bit; for the start, before any
/// is heard. Only Linux tells.
pub(crate) fn ignored_at_the_start() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or_default()
}

pub(crate) fn ignores(ignored: u64, signal: i32) -> bool {
    signal > 0 && ignored.checked_shr(signal.unsigned_abs() - 1).unwrap_or_default() & 1 == 1
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.heard.as_fd()
    }
}
