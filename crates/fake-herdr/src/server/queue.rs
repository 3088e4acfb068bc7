//! The queue for the application thread. Requests are processed one after the other, in the
//! order in which they were complete.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The requests that wait, the first of which has its turn.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    line: VecDeque<u64>,
}

/// The turn of one request. Dropping it lets the next one have its turn.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    queue: &'a Queue,
    number: u64,
}

impl Queue {
    /// Waits for a turn. A plain lock would not keep the order.
    pub(super) fn enter(&self) -> Turn<'_> {
        let mut waiting = self.lock();
        let number = waiting.next;
        waiting.next += 1;
        waiting.line.push_back(number);
        Turn { queue: self, number }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn<'_> {
    /// Waits until all earlier requests are done.
    pub(super) fn wait(&self) {
        let mut waiting = self.queue.lock();
        while waiting.line.front() != Some(&self.number) {
            waiting = self.queue.moved.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.queue.lock().line.retain(|number| *number != self.number);
        self.queue.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn who_comes_first_is_served_first() {
        let queue = Queue::default();
        let served = Mutex::new(Vec::new());
        thread::scope(|scope| {
            let first = queue.enter();
            let turns: Vec<_> = (1..=20).map(|_| queue.enter()).collect();
            for turn in turns.into_iter().rev() {
                let served = &served;
                scope.spawn(move || {
                    turn.wait();
                    served.lock().unwrap().push(turn.number);
                });
            }
            first.wait();
            assert!(served.lock().unwrap().is_empty());
            drop(first);
        });
        assert_eq!(*served.lock().unwrap(), (1..=20).collect::<Vec<_>>());
        assert!(queue.lock().line.is_empty());
    }
}
