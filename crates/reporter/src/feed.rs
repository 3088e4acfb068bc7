//! Streams of receipts and diagnostics: bounded, so that nobody has to read.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// Most items that wait for a reader; then the oldest goes.
const CAPACITY: usize = 1024;
/// A clock cannot hold every [`Duration`].
const FAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// What happened, in order, for one reader. A reader that falls more than
/// 1 024 items behind loses the oldest ([`missed`](Self::missed)).
#[derive(Debug)]
pub struct Feed<T> {
    queue: Arc<Queue<T>>,
}

#[derive(Debug)]
struct Queue<T> {
    state: Mutex<State<T>>,
    blocking: Condvar,
    waiting: Notify,
}

#[derive(Debug)]
struct State<T> {
    items: VecDeque<T>,
    missed: u64,
    over: bool,
}

impl<T> Feed<T> {
    /// The next item if it is there.
    pub fn try_recv(&self) -> Option<T> {
        self.queue.lock().items.pop_front()
    }

    /// The next item; `None` when the reporter has ended and all is read.
    /// Blocks.
    pub fn recv(&self) -> Option<T> {
        let mut state = self.queue.lock();
        loop {
            if let Some(item) = state.items.pop_front() {
                return Some(item);
            }
            if state.over {
                return None;
            }
            state = self.queue.blocking.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next item, waited for at most this long; `None` also when the
    /// reporter has ended and all is read.
    pub fn recv_timeout(&self, timeout: Duration) -> Option<T> {
        let deadline = Instant::now() + timeout.min(FAR);
        let mut state = self.queue.lock();
        loop {
            if let Some(item) = state.items.pop_front() {
                return Some(item);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if state.over || left.is_zero() {
                return None;
            }
            let waited = self.queue.blocking.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The next item; `None` when the reporter has ended and all is read.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: an item is taken only when it is returned.
    pub async fn next(&mut self) -> Option<T> {
        loop {
            let waiting = self.queue.waiting.notified();
            {
                let mut state = self.queue.lock();
                if let Some(item) = state.items.pop_front() {
                    return Some(item);
                }
                if state.over {
                    return None;
                }
            }
            waiting.await;
        }
    }

    /// How many items this reader was too slow for.
    pub fn missed(&self) -> u64 {
        self.queue.lock().missed
    }
}

impl<T> Queue<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        self.blocking.notify_all();
        self.waiting.notify_one();
    }
}

/// The writing end of any number of feeds.
#[derive(Debug)]
pub(crate) struct Feeds<T> {
    open: Mutex<Open<T>>,
}

#[derive(Debug)]
struct Open<T> {
    queues: Vec<Weak<Queue<T>>>,
    over: bool,
}

impl<T> Default for Feeds<T> {
    fn default() -> Self {
        Self { open: Mutex::new(Open { queues: Vec::new(), over: false }) }
    }
}

impl<T: Clone> Feeds<T> {
    pub(crate) fn subscribe(&self, backlog: impl IntoIterator<Item = T>, over: bool) -> Feed<T> {
        // Asked under the lock, an end comes either before this or to it.
        let mut open = self.lock();
        let over = over || open.over;
        let state = State { items: backlog.into_iter().collect(), missed: 0, over };
        let queue =
            Queue { state: Mutex::new(state), blocking: Condvar::new(), waiting: Notify::new() };
        let queue = Arc::new(queue);
        // Those that are gone go also where nothing is ever published.
        open.queues.retain(|queue| queue.strong_count() > 0);
        if !over {
            open.queues.push(Arc::downgrade(&queue));
        }
        Feed { queue }
    }

    pub(crate) fn publish(&self, item: &T) {
        Self::each(&mut self.lock(), |queue| {
            let mut state = queue.lock();
            if state.items.len() == CAPACITY {
                state.items.pop_front();
                state.missed += 1;
            }
            state.items.push_back(item.clone());
        });
    }

    pub(crate) fn end(&self) {
        let mut open = self.lock();
        open.over = true;
        Self::each(&mut open, |queue| queue.lock().over = true);
    }

    fn each(open: &mut Open<T>, act: impl Fn(&Queue<T>)) {
        open.queues.retain(|queue| {
            let Some(queue) = queue.upgrade() else { return false };
            act(&queue);
            queue.wake();
            true
        });
    }

    fn lock(&self) -> MutexGuard<'_, Open<T>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_reader_loses_the_oldest_and_knows_it() {
        let feeds = Feeds::default();
        let feed = feeds.subscribe([0], false);
        for item in 1..=CAPACITY {
            feeds.publish(&item);
        }
        assert_eq!((feed.try_recv(), feed.missed()), (Some(1), 1));
    }

    #[test]
    fn the_end_comes_after_what_was_published() {
        let feeds = Feeds::default();
        let feed = feeds.subscribe([], false);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| (feed.recv(), feed.recv()));
            feeds.publish(&7);
            feeds.end();
            assert_eq!(reader.join().unwrap(), (Some(7), None));
        });
        assert_eq!(feed.recv_timeout(Duration::from_secs(5)), None);
    }
}
