//! Waiting for what a server shows: the one place where a test waits.

use std::thread;
use std::time::{Duration, Instant};

/// How long anything may take before a body fails. Never how long it takes.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Between two looks. A pane can only be asked for: nothing on a real server
/// tells of tokens, of a guard that hides, or of a time to live that is over.
const LOOK: Duration = Duration::from_millis(30);

/// Looks again and again until there is something, `patience` at most.
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

/// As [`until`], where a bound was promised: the time that a server does not
/// answer (an error) does not count, and of a late answer or a late turn of this
/// process only what it would have taken on a machine that is not busy.
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

/// Does something `times` times in `span`, evenly, as a host would; late turns
/// follow at once.
pub fn pace(times: u32, span: Duration, mut turn: impl FnMut(u32)) {
    let start = Instant::now();
    for number in 0..times {
        let due = start + span * number / times;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        turn(number);
    }
}
