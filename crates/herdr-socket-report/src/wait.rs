//! Waiting: for the server, and for what nothing tells of.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};

/// Between two attempts. A hook is short, so a longer one would be felt.
const AGAIN: Duration = Duration::from_millis(5);

/// Asks until there is an answer, for at most `limit` and at least once.
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

/// A runtime for a command's own thread.
pub(crate) fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// Waits for a task; `None` if there cannot be a runtime.
pub(crate) fn blocking<T>(task: impl Future<Output = T>) -> Option<T> {
    runtime().ok().map(|runtime| runtime.block_on(task))
}
