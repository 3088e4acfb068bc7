//! The order in which connections use the application: one request after the other,
//! in the order in which they were complete.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The requests that wait for the application; the first one has its turn.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    numbers: VecDeque<u64>,
}

/// The place of one request. Dropping it gives the turn to the next one.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    queue: &'a Queue,
    number: u64,
}

impl Queue {
    /// Joins the queue. A mutex would not keep the order.
    pub(super) fn join(&self) -> Turn<'_> {
        let mut waiting = self.lock();
        let number = waiting.next;
        waiting.next += 1;
        waiting.numbers.push_back(number);
        Turn { queue: self, number }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn<'_> {
    /// Waits until all earlier requests are done.
    pub(super) fn wait(&self) {
        let not_first = |waiting: &mut Waiting| waiting.numbers.front() != Some(&self.number);
        drop(self.queue.moved.wait_while(self.queue.lock(), not_first));
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.queue.lock().numbers.retain(|number| *number != self.number);
        self.queue.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn requests_are_served_in_order() {
        let queue = Queue::default();
        let served = Mutex::new(Vec::new());
        thread::scope(|scope| {
            let first = queue.join();
            let turns: Vec<_> = (1..=20).map(|_| queue.join()).collect();
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
        assert!(queue.lock().numbers.is_empty());
    }
}
