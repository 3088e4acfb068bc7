use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::{Pace, encode};
use crate::clock::LONGEST_WAIT;
use crate::engine::{ProgramUpdate, Shared};

/// Makes the ids of records differ between the reporters of a process: a reporter may still clear
/// its records after its successor has begun.
static REPORTERS: AtomicU32 = AtomicU32::new(1);

/// What the agent does, as bytes for its terminal. It is for hosts that draw on the terminal and
/// write the bytes themselves: the bytes of another writer could end up inside one of the host's
/// escape sequences.
///
/// The bytes are whole reports of the Program Status Protocol (OSC 7501). They contain only
/// changes, come at most ten times a second, and always include the last change.
///
/// ```
/// use std::time::Duration;
/// use herdr_reporter::Reporter;
///
/// let pane = Reporter::builder("my-agent").environment(|_| None).start();
/// let mut status = pane.program_status();
/// let turn = pane.turn();
/// let working = status.take(); // once a frame, for one write
/// assert_eq!(working, b"\x1b]7501;state=working:app=my-agent\x1b\\");
/// assert_eq!(status.take(), b""); // nothing new
/// drop(turn);
/// pane.close(Duration::from_millis(500));
/// assert_eq!(status.take(), b"\x1b]7501;state=clear\x1b\\");
/// ```
pub struct ProgramStatus {
    shared: Arc<Shared>,
    pace: Pace,
    started: Instant,
    /// The version of the last update.
    seen: Option<u64>,
    /// When to look again even if there is no update.
    wake: Option<Instant>,
    over: bool,
}

impl fmt::Debug for ProgramStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The records hold texts of the host.
        f.debug_struct("ProgramStatus").finish_non_exhaustive()
    }
}

impl ProgramStatus {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let pace =
            Pace::new(shared.app.clone(), shared.config.settle, REPORTERS.fetch_add(1, Relaxed));
        let over = !shared.has_program_status();
        Self { shared, pace, started: Instant::now(), seen: None, wake: None, over }
    }

    /// The bytes to write now, in one write; empty if there is nothing to write yet. After the
    /// reporter has ended, they clear its records. Never blocks.
    pub fn take(&mut self) -> Vec<u8> {
        // In a forked copy of the process the lock may be held forever.
        self.over |= self.shared.is_forked();
        let asleep = self.wake.is_none_or(|wake| wake > Instant::now());
        let known = self.seen.filter(|_| asleep);
        if self.over {
            return Vec::new();
        }
        let Some(update) = self.shared.program_update(known) else { return Vec::new() };
        let ProgramUpdate { version, program, end, succeeded } = update;
        self.seen = Some(version);
        self.over = end;
        let reports = if succeeded {
            self.pace.hand_over()
        } else if end {
            self.pace.end(program.as_ref())
        } else {
            let due = self.pace.step(self.started.elapsed(), program.as_ref());
            self.wake = due.wake.map(|wake| self.started + wake);
            due.reports
        };
        encode(&reports)
    }

    /// As [`take`](Self::take), but waits until there is something to write. Empty if there is
    /// nothing within `timeout`; empty at once if [`is_over`](Self::is_over). Blocks.
    pub fn wait(&mut self, timeout: Duration) -> Vec<u8> {
        let until = Instant::now() + timeout.min(LONGEST_WAIT);
        loop {
            let bytes = self.take();
            let now = Instant::now();
            if !bytes.is_empty() || self.over || now >= until {
                return bytes;
            }
            let wake = self.wake.map_or(until, |wake| wake.min(until));
            self.shared.wait_program_update(self.seen, wake.saturating_duration_since(now));
        }
    }

    /// Whether the last bytes were taken.
    pub fn is_over(&self) -> bool {
        self.over
    }
}
