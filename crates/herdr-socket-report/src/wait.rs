//! Waiting for the server, and polling.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};

/// The interval of polling. Hooks are short, so a longer one would be noticed.
const AGAIN: Duration = Duration::from_millis(5);

/// Calls `ask` until it returns something, at least once and for at most `limit`.
pub(crate) fn wait_for<T>(limit: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let over = Instant::now() + limit;
    loop {
        let answer = ask();
        if answer.is_some() || Instant::now() >= over {
            return answer;
        }
        thread::sleep(AGAIN);
    }
}

/// A runtime for the current thread.
pub(crate) fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// Runs a future to its end; `None` if there cannot be a runtime.
pub(crate) fn blocking<T>(task: impl Future<Output = T>) -> Option<T> {
    runtime().ok().map(|runtime| runtime.block_on(task))
}
