use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::{Pace, encode};
use crate::clock::FAR;
use crate::engine::{Outlook, Shared};

/// Makes the ids of records differ between the reporters of a process: one may
/// still take its records off when its successor has begun.
static REPORTERS: AtomicU32 = AtomicU32::new(1);

/// What the agent does, as bytes for its terminal, which the host writes itself
/// at a moment that suits it. For hosts that draw: bytes of another writer could
/// end up inside an escape sequence of theirs.
///
/// The bytes are whole reports of the Program Status Protocol (OSC 7501). Only
/// changes come, at most ten times a second, and the last one always. Without a
/// terminal there is nobody to write them for.
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
#[derive(Debug)]
pub struct ProgramStatus {
    shared: Arc<Shared>,
    pace: Pace,
    started: Instant,
    /// The version of what hosts said that was looked at last.
    seen: Option<u64>,
    /// When to look again though nothing is said.
    wake: Option<Instant>,
    over: bool,
}

impl ProgramStatus {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let pace =
            Pace::new(shared.app.clone(), shared.config.settle, REPORTERS.fetch_add(1, Relaxed));
        let over = !shared.tells_terminals();
        Self { shared, pace, started: Instant::now(), seen: None, wake: None, over }
    }

    /// What is to be written now, in one write; empty if there is nothing to
    /// say, or not yet. After the end of the reporter it is what takes the
    /// records off the terminal. Never blocks.
    pub fn take(&mut self) -> Vec<u8> {
        // In a copy of the process another thread may hold the lock for ever.
        self.over |= self.shared.is_forked();
        let asleep = self.wake.is_none_or(|wake| wake > Instant::now());
        let known = self.seen.filter(|_| asleep);
        let Some(outlook) = (!self.over).then(|| self.shared.outlook(known)).flatten() else {
            return Vec::new();
        };
        let Outlook { version, program, end, succeeded } = outlook;
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

    /// As [`take`](Self::take), waiting until there is something to write;
    /// empty if there is nothing within `timeout`, and at once after the last
    /// words. Blocks.
    pub fn wait(&mut self, timeout: Duration) -> Vec<u8> {
        let until = Instant::now() + timeout.min(FAR);
        loop {
            let bytes = self.take();
            let now = Instant::now();
            if !bytes.is_empty() || self.over || now >= until {
                return bytes;
            }
            let wake = self.wake.map_or(until, |wake| wake.min(until));
            self.shared.wait_news(self.seen, wake.saturating_duration_since(now));
        }
    }

    /// Whether the last words were taken.
    pub fn is_over(&self) -> bool {
        self.over
    }
}
