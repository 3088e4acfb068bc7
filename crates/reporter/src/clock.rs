//! The caller's own clock: what bounds a wait when nobody else does.

use std::pin::pin;
use std::time::Duration;

use futures_timer::Delay;
use futures_util::FutureExt as _;
use futures_util::future::{Either, select};

/// A clock cannot hold every [`Duration`].
pub(crate) const FAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// What comes of `work`, if it comes within `time`. The time is kept by a thread
/// that all waits of the process share, so it passes under any executor and
/// whatever holds the engine up.
pub(crate) async fn within<T>(time: Duration, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    // No thread for what is there already.
    if let Some(done) = work.as_mut().now_or_never() {
        return Some(done);
    }
    match select(work, Delay::new(time.min(FAR))).await {
        Either::Left((done, _)) => Some(done),
        Either::Right(((), _)) => None,
    }
}
