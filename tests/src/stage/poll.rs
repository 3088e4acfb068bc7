//! Waiting for what a server shows. Tests wait nowhere else.

use std::thread;
use std::time::{Duration, Instant};

/// How long anything may take before a body fails. It says nothing about how long it takes.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The interval between two looks. The pane has to be polled, because a real server sends no
/// events about tokens, hidden metadata or expired ttls.
const LOOK: Duration = Duration::from_millis(30);

/// Calls `look` until it returns something, for at most `patience`.
pub fn until<T>(patience: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + patience;
    loop {
        if let Some(seen) = look() {
            return Some(seen);
        }
        if Instant::now() >= end {
            return None;
        }
        thread::sleep(LOOK);
    }
}

/// As [`until`], within a promised bound. The time in which the server does not answer (an
/// error) does not count. Of a late answer or a late turn of this process, only the time counts
/// that it takes on a machine that is not busy.
pub(super) fn until_on_time<T, E>(
    bound: Duration,
    mut look: impl FnMut() -> Result<Option<T>, E>,
) -> Option<T> {
    let end = Instant::now() + bound + PATIENCE;
    let mut counted = Duration::ZERO;
    loop {
        let start = Instant::now();
        let answered = match look() {
            Ok(Some(seen)) => return Some(seen),
            Ok(None) => true,
            Err(_) => false,
        };
        if counted >= bound || Instant::now() >= end {
            return None;
        }
        thread::sleep(LOOK);
        if answered {
            counted += start.elapsed().min(2 * LOOK);
        }
    }
}

/// Calls `turn` `times` times within `span`, evenly spaced. Late turns follow at once.
pub fn pace(times: u32, span: Duration, mut turn: impl FnMut(u32)) {
    let start = Instant::now();
    for number in 0..times {
        let due = start + span * number / times;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        turn(number);
    }
}
