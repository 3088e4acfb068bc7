//! Waiting for what nothing tells of: a lock that another process holds.

use std::thread;
use std::time::{Duration, Instant};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_asks_at_least_once_and_until_there_is_an_answer() {
        let mut asked = 0;
        let mut third = || {
            asked += 1;
            (asked == 3).then_some(asked)
        };
        assert_eq!(wait_for(Duration::ZERO, &mut third), None);
        assert_eq!(wait_for(Duration::from_secs(20), third), Some(3));
    }
}
