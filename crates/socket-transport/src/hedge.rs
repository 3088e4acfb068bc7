//! When the same line is sent again on another connection.
//!
//! The server looks for a request right after it accepts a connection, and then every 100 ms
//! (protocol.md section 7.3). A client that is descheduled between connecting and writing waits
//! for these 100 ms. The same line on a second connection rarely does. So a client that waits
//! longer than usual sends the line again and takes the first answer.
//!
//! This is only for requests that are safe to repeat: reads, and reports with a sequence
//! number, whose second copy is ignored.

use std::time::Duration;

/// How many copies of one line may be sent besides the first.
const COPIES: u32 = 2;
/// The first copy is sent after this many times the usual time of a reply.
const PATIENCE: u32 = 4;
/// The least wait for the first copy.
const SOONEST: Duration = Duration::from_millis(2);
/// The greatest wait for the first copy. A later one would save little.
const LATEST: Duration = Duration::from_millis(20);
/// The divisor with which a slower reply raises the usual time. A faster reply lowers it at
/// once.
const SLOWER_BY: u32 = 16;
/// How many copies may be sent in a minute for all requests together, so that a slow server
/// does not get much more load.
const BUDGET: u32 = 60;
/// How long no copies are sent after no connection was answered, unless a request is answered
/// without a copy before that.
const PAUSE: Duration = Duration::from_secs(60);

/// Decides when copies are sent, from the replies seen so far. It has no clock: `now` is the
/// time since any fixed moment.
#[derive(Debug, Default)]
pub(crate) struct Hedging {
    usual: Option<Duration>,
    /// The copies sent since the minute began.
    spent: u32,
    minute: Duration,
    paused_until: Option<Duration>,
    sent: u64,
}

impl Hedging {
    /// How long to wait for an answer before the next copy of a line is sent; `None` if no
    /// further copy is to be sent. `copies` is how many were sent so far.
    pub(crate) fn next_copy(&self, now: Duration, copies: u32) -> Option<Duration> {
        let paused = self.paused_until.is_some_and(|until| now < until);
        let spent = if now.saturating_sub(self.minute) < MINUTE { self.spent } else { 0 };
        if copies >= COPIES || paused || spent >= BUDGET {
            return None;
        }
        let wait = self.usual.map_or(SOONEST, |usual| usual * PATIENCE);
        // The second copy waits twice as long as the first.
        Some(wait.clamp(SOONEST, LATEST) * (copies + 1))
    }

    /// Records that a copy was sent.
    pub(crate) fn copied(&mut self, now: Duration) {
        if now.saturating_sub(self.minute) >= MINUTE {
            self.minute = now;
            self.spent = 0;
        }
        self.spent += 1;
        self.sent += 1;
    }

    /// Records that the answer came this long after the line was first sent, and after `copies`
    /// copies.
    pub(crate) fn answered(&mut self, took: Duration, copies: u32) {
        if copies == 0 {
            self.paused_until = None;
        }
        self.usual = Some(match self.usual {
            Some(usual) if took > usual => {
                usual + (took.min(LATEST).saturating_sub(usual)) / SLOWER_BY
            }
            _ => took,
        });
    }

    /// Records that no connection was answered in time.
    pub(crate) fn unanswered(&mut self, now: Duration, copies: u32) {
        if copies > 0 {
            self.paused_until = Some(now + PAUSE);
        }
    }

    /// How many copies were sent so far.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }
}

const MINUTE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn copies_follow_the_fastest_replies() {
        let mut hedging = Hedging::default();
        assert_eq!(hedging.next_copy(Duration::ZERO, 0), Some(SOONEST), "nothing is known yet");
        hedging.answered(MS, 0);
        assert_eq!(hedging.next_copy(Duration::ZERO, 0), Some(4 * MS));
        assert_eq!(hedging.next_copy(Duration::ZERO, 1), Some(8 * MS));
        assert_eq!(hedging.next_copy(Duration::ZERO, COPIES), None);
        // A reply that met the server's poll says little about the usual time.
        hedging.answered(100 * MS, 0);
        assert!(hedging.next_copy(Duration::ZERO, 0).unwrap() < 10 * MS);
        for _ in 0..200 {
            hedging.answered(100 * MS, 0);
        }
        assert_eq!(hedging.next_copy(Duration::ZERO, 0), Some(LATEST));
        hedging.answered(MS / 10, 0);
        assert_eq!(hedging.next_copy(Duration::ZERO, 0), Some(SOONEST));
    }

    #[test]
    fn a_minute_has_a_budget() {
        let mut hedging = Hedging::default();
        for _ in 0..BUDGET {
            assert!(hedging.next_copy(MS, 0).is_some());
            hedging.copied(MS);
        }
        assert_eq!(hedging.next_copy(MS, 0), None);
        assert!(hedging.next_copy(MINUTE + MS, 0).is_some());
        assert_eq!(hedging.sent(), u64::from(BUDGET));
    }

    #[test]
    fn a_server_that_answers_nobody_gets_no_copies() {
        let mut hedging = Hedging::default();
        hedging.unanswered(MS, 0);
        assert!(hedging.next_copy(MS, 0).is_some(), "there was no copy to be ignored");
        hedging.unanswered(MS, 1);
        assert_eq!(hedging.next_copy(2 * MS, 0), None);
        hedging.answered(MS, 1);
        assert_eq!(hedging.next_copy(2 * MS, 0), None, "it took a copy");
        hedging.answered(MS, 0);
        assert!(hedging.next_copy(2 * MS, 0).is_some());
        hedging.unanswered(MS, 2);
        assert!(hedging.next_copy(PAUSE + MS, 0).is_some());
    }
}
