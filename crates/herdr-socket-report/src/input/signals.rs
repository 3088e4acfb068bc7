//! Signals that end the program in good order. A second signal a moment later ends it at once.

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

/// Waits for SIGINT, SIGTERM and SIGHUP.
pub(crate) struct Signals {
    /// Becomes readable when a signal arrives.
    received: UnixStream,
    at_once: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
}

/// Signals within this time count as one. A closing terminal sends two, and so does a program
/// that passes on a signal that its child already has.
const TOGETHER: Duration = Duration::from_millis(200);

impl Signals {
    pub(crate) fn catch() -> io::Result<Self> {
        let (received, write) = UnixStream::pair()?;
        received.set_nonblocking(true)?;
        let at_once = Arc::new(AtomicBool::new(false));
        // A signal that was ignored at the start was ignored on purpose, as by `nohup`.
        let ignored = ignored_at_the_start();
        for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|it| !ignores(ignored, *it)) {
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&at_once))?;
            pipe::register(signal, write.try_clone()?)?;
        }
        Ok(Self { received, at_once, stop: Arc::default() })
    }

    /// After a moment, a further signal ends the program at once.
    pub(crate) fn end_at_once_soon(&self) {
        let at_once = Arc::clone(&self.at_once);
        thread::spawn(move || {
            thread::sleep(TOGETHER);
            at_once.store(true, Ordering::Relaxed);
        });
    }

    /// Waits for a signal and says whether one arrived within `time`.
    pub(crate) fn arrived_within(&self, time: Duration) -> bool {
        let end = Instant::now() + time;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let limit = Timespec::try_from(left).ok();
            let mut received = [PollFd::new(&self.received, PollFlags::IN)];
            match poll(&mut received, limit.as_ref()) {
                // Another signal interrupted the wait.
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
    pub(crate) async fn arrived(&self) {
        let received = self.received.try_clone().and_then(TokioStream::from_std);
        match received {
            Ok(received) => drop(received.readable().await),
            // A process that cannot receive signals could not be ended, so it ends now.
            Err(error) => tracing::warn!(%error, "signals cannot be caught"),
        }
    }

    /// Whether the terminal's Ctrl-Z arrived since the last call.
    pub(crate) fn stop_arrived(&self) -> bool {
        self.stop.swap(false, Ordering::Relaxed)
    }

    /// Also catches the terminal's Ctrl-Z, which then does not stop the process by itself.
    pub(crate) fn catch_stop(&self) -> io::Result<()> {
        if !ignores(ignored_at_the_start(), SIGTSTP) {
            flag::register(SIGTSTP, Arc::clone(&self.stop))?;
        }
        Ok(())
    }

    /// Stops the process as Ctrl-Z does. Returns when the shell continues it.
    pub(crate) fn stop() {
        let _ = emulate_default_handler(SIGTSTP);
    }
}

/// The signals that this process ignores, as a bit set. It has to be read before any signal is
/// caught. Only Linux tells; elsewhere the set is empty.
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
        self.received.as_fd()
    }
}
