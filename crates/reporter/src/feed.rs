//! What hosts are told, as streams: bounded, so that nobody has to read.

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

/// How far a reader may fall behind before it loses the oldest items.
const CAPACITY: usize = 1024;

/// What a reporter tells, in order, for one reader: a [`Stream`] for async
/// hosts, an iterator ([`iter`](Self::iter)) for others. It ends when the
/// reporter has ended and everything is read.
///
/// A reader that falls 1 024 items behind loses the oldest ones, which
/// [`missed`](Self::missed) counts.
#[derive(Debug)]
pub struct Feed<T> {
    /// What was told before this reader came.
    earlier: VecDeque<T>,
    /// The number of the first item that comes after them.
    next: u64,
    later: Option<BroadcastStream<(u64, T)>>,
    missed: u64,
}

impl<T: Clone + Send + 'static> Feed<T> {
    /// One that has ended before it began.
    pub(crate) fn over() -> Self {
        Self { earlier: VecDeque::new(), next: 0, later: None, missed: 0 }
    }

    /// The next item; `None` when the reporter has ended and all is read. Works
    /// under any executor.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: an item is taken only when it is returned.
    pub async fn recv(&mut self) -> Option<T> {
        self.next().await
    }

    /// The next item if it is there.
    pub fn try_recv(&mut self) -> Option<T> {
        unconstrained(self.next()).now_or_never().flatten()
    }

    /// The next item, waited for at most this long; `None` also when the
    /// reporter has ended and all is read. Blocks.
    pub fn recv_timeout(&mut self, timeout: Duration) -> Option<T> {
        self.try_recv().or_else(|| pollster::block_on(within(timeout, self.next())).flatten())
    }

    /// All items to the end of the reporter. Blocks while there is none yet.
    pub fn iter(&mut self) -> impl Iterator<Item = T> {
        std::iter::from_fn(|| pollster::block_on(unconstrained(self.next())))
    }

    /// How many items this reader was too slow for.
    pub fn missed(&self) -> u64 {
        self.missed
    }
}

/// No item is ever pinned.
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
                // It is among the earlier ones.
                Some(Ok(_)) => {}
                Some(Err(Lagged(count))) => self.missed += count,
                None => self.later = None,
            }
        }
    }
}

/// The writing end of any number of feeds.
#[derive(Debug)]
pub(crate) struct Publisher<T> {
    /// How many items are kept for readers that come later.
    keep: usize,
    told: Mutex<Told<T>>,
}

#[derive(Debug)]
struct Told<T> {
    kept: VecDeque<T>,
    count: u64,
    /// Made for the first reader.
    sender: Option<Sender<(u64, T)>>,
    ended: bool,
}

impl<T: Clone + Send + 'static> Publisher<T> {
    pub(crate) fn new(keep: usize) -> Self {
        let told = Told { kept: VecDeque::new(), count: 0, sender: None, ended: false };
        Self { keep, told: Mutex::new(told) }
    }

    pub(crate) fn subscribe(&self) -> Feed<T> {
        let mut told = self.lock();
        let later = (!told.ended).then(|| {
            let sender = told.sender.get_or_insert_with(|| Sender::new(CAPACITY));
            BroadcastStream::new(sender.subscribe())
        });
        Feed { earlier: told.kept.clone(), next: told.count, later, missed: 0 }
    }

    pub(crate) fn publish(&self, item: T) {
        self.publish_unless(item, |_| false);
    }

    /// Publishes it unless one of those that are kept is like it; whether it
    /// did. Readers are woken, which is code of the host's, after the lock is
    /// gone.
    pub(crate) fn publish_unless(&self, item: T, like: impl Fn(&T) -> bool) -> bool {
        let mut told = self.lock();
        if told.kept.iter().any(like) {
            return false;
        }
        let number = told.count;
        told.count += 1;
        told.kept.push_back(item.clone());
        if told.kept.len() > self.keep {
            told.kept.pop_front();
        }
        // Nobody reads any more.
        let unread = told.sender.take_if(|sender| sender.receiver_count() == 0);
        let sender = told.sender.clone();
        drop(told);
        drop(unread);
        if let Some(sender) = sender {
            let _ = sender.send((number, item));
        }
        true
    }

    pub(crate) fn end(&self) {
        let mut told = self.lock();
        told.ended = true;
        let sender = told.sender.take();
        drop(told);
        drop(sender);
    }

    fn lock(&self) -> MutexGuard<'_, Told<T>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
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

    #[test]
    fn a_late_reader_gets_what_is_kept_once_and_then_what_comes() {
        let publisher = Publisher::new(2);
        for item in 0..3 {
            publisher.publish(item);
        }
        let mut feed = publisher.subscribe();
        publisher.publish(3);
        publisher.end();
        assert_eq!(feed.iter().collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(publisher.subscribe().iter().collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn the_end_comes_after_what_was_published() {
        let publisher = Publisher::new(0);
        let mut feed = publisher.subscribe();
        std::thread::scope(|scope| {
            let reader = scope.spawn(move || feed.iter().collect::<Vec<_>>());
            publisher.publish(7);
            publisher.end();
            assert_eq!(reader.join().unwrap(), [7]);
        });
    }
}
