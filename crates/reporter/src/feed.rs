//! Receipts and diagnostics as streams. They are bounded, so a host need not read them.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::{FutureExt as _, Stream, StreamExt as _};
use tokio::sync::broadcast::Sender;
use tokio::task::unconstrained;
use tokio_stream::wrappers::BroadcastStream;
use tokio_stream::wrappers::errors::BroadcastStreamRecvError::Lagged;

use crate::clock::within;

const CAPACITY: usize = 1024;

/// The receipts or diagnostics of a reporter, in order, for one reader: a [`Stream`] for async
/// hosts, an iterator ([`iter`](Self::iter)) for others. It ends when the reporter has ended and
/// everything is read.
///
/// A reader that falls more than 1 024 items behind loses the oldest ones; [`missed`](Self::missed)
/// counts them.
#[derive(Debug)]
pub struct Feed<T> {
    /// The items from before the reader subscribed.
    earlier: VecDeque<T>,
    /// The number of the first item that is not one of `earlier`.
    next: u64,
    later: Option<BroadcastStream<(u64, T)>>,
    missed: u64,
}

impl<T: Clone + Send + 'static> Feed<T> {
    pub(crate) fn ended() -> Self {
        Self { earlier: VecDeque::new(), next: 0, later: None, missed: 0 }
    }

    /// Waits for the next item; `None` when the reporter has ended and everything is read. Works
    /// under any executor.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: an item is taken only when it is returned.
    pub async fn recv(&mut self) -> Option<T> {
        self.next().await
    }

    /// The next item, if there is one now.
    pub fn try_recv(&mut self) -> Option<T> {
        unconstrained(self.next()).now_or_never().flatten()
    }

    /// Waits for the next item, at most `timeout`; `None` also when the reporter has ended and
    /// everything is read. Blocks.
    pub fn recv_timeout(&mut self, timeout: Duration) -> Option<T> {
        self.try_recv().or_else(|| pollster::block_on(within(timeout, self.next())).flatten())
    }

    /// All items until the reporter ends. Blocks while there is no item.
    pub fn iter(&mut self) -> impl Iterator<Item = T> {
        std::iter::from_fn(|| pollster::block_on(unconstrained(self.next())))
    }

    /// How many items were lost because this reader was too slow.
    pub fn missed(&self) -> u64 {
        self.missed
    }
}

impl<T> Unpin for Feed<T> {}

impl<T: Clone + Send + 'static> Stream for Feed<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        if let Some(item) = self.earlier.pop_front() {
            return Poll::Ready(Some(item));
        }
        loop {
            let Some(later) = &mut self.later else { return Poll::Ready(None) };
            match ready!(later.poll_next_unpin(context)) {
                Some(Ok((number, item))) if number >= self.next => return Poll::Ready(Some(item)),
                // The item is one of `earlier`.
                Some(Ok(_)) => {}
                Some(Err(Lagged(count))) => self.missed += count,
                None => self.later = None,
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct Publisher<T> {
    /// How many items are kept for later readers.
    keep: usize,
    state: Mutex<State<T>>,
}

#[derive(Debug)]
struct State<T> {
    kept: VecDeque<T>,
    count: u64,
    /// `None` while there is no reader.
    sender: Option<Sender<(u64, T)>>,
    ended: bool,
}

impl<T: Clone + Send + 'static> Publisher<T> {
    pub(crate) fn new(keep: usize) -> Self {
        let state = State { kept: VecDeque::new(), count: 0, sender: None, ended: false };
        Self { keep, state: Mutex::new(state) }
    }

    pub(crate) fn subscribe(&self) -> Feed<T> {
        let mut state = self.lock();
        let later = (!state.ended).then(|| {
            let sender = state.sender.get_or_insert_with(|| Sender::new(CAPACITY));
            BroadcastStream::new(sender.subscribe())
        });
        Feed { earlier: state.kept.clone(), next: state.count, later, missed: 0 }
    }

    pub(crate) fn publish(&self, item: T) {
        self.publish_unless(item, |_| false);
    }

    /// Publishes an item unless `like` is true for an item that is kept. Returns whether the item
    /// was published. Waking a reader runs code of the host, so it is done after the lock is
    /// released.
    pub(crate) fn publish_unless(&self, item: T, like: impl Fn(&T) -> bool) -> bool {
        let mut state = self.lock();
        if state.kept.iter().any(like) {
            return false;
        }
        let number = state.count;
        state.count += 1;
        state.kept.push_back(item.clone());
        if state.kept.len() > self.keep {
            state.kept.pop_front();
        }
        // The last reader has been dropped.
        let unread = state.sender.take_if(|sender| sender.receiver_count() == 0);
        let sender = state.sender.clone();
        drop(state);
        drop(unread);
        if let Some(sender) = sender {
            let _ = sender.send((number, item));
        }
        true
    }

    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.ended = true;
        let sender = state.sender.take();
        drop(state);
        drop(sender);
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_reader_loses_the_oldest_and_knows_it() {
        let publisher = Publisher::new(0);
        let mut feed = publisher.subscribe();
        for item in 0..=CAPACITY {
            publisher.publish(item);
        }
        assert_eq!((feed.try_recv(), feed.missed()), (Some(1), 1));
    }
}
