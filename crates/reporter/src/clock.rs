//! The clocks for the machine, and a timeout for waits that nothing else bounds.

use std::pin::pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_timer::Delay;
use futures_util::FutureExt as _;
use futures_util::future::{Either, select};

use crate::machine::Now;

/// Both clocks; `elapsed` is the time since the engine was started.
pub(crate) fn now(elapsed: Duration) -> Now {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Now::new(elapsed, u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}

/// Long enough for every wait. A clock cannot add every [`Duration`].
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The result of `work`, or `None` if it takes longer than `time`. A timer thread that all waits of
/// the process share ends the wait, so this works under any executor, and even if the engine hangs.
pub(crate) async fn within<T>(time: Duration, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    // A result that is there already does not need the thread.
    if let Some(done) = work.as_mut().now_or_never() {
        return Some(done);
    }
    match select(work, Delay::new(time.min(LONGEST_WAIT))).await {
        Either::Left((done, _)) => Some(done),
        Either::Right(((), _)) => None,
    }
}
