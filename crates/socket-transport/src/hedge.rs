//! When the same line goes out on another connection.
//!
//! The server looks for a request once, right after it accepted the
//! connection, and then every 100 ms (protocol.md section 7.3). A client that
//! loses its processor between connecting and writing pays these 100 ms. The
//! same line on a second connection almost never does, so whoever waits longer
//! than the server's usual time sends it again and takes the first answer.
//!
//! This is for requests that are safe to repeat only: reads, and reports with a
//! sequence number, of which the later copy is ignored.

use std::time::Duration;

/// Most copies of one line besides the first.
const COPIES: u32 = 2;
/// The first copy goes out after so many times the usual time of a reply, …
const PATIENCE: u32 = 4;
/// … but not sooner than this, …
const SOONEST: Duration = Duration::from_millis(2);
/// … and not later, so that it is worth it.
const LATEST: Duration = Duration::from_millis(20);
/// How much a slower reply moves the usual time; a faster one is it at once.
const SLOWER_BY: u32 = 16;
/// Copies in a minute, over all requests: a slow server is not to be hit
/// harder.
const BUDGET: u32 = 60;
/// For this long, or until a request is answered without a copy, there is no
/// copy after one to which no connection answered.
const PAUSE: Duration = Duration::from_secs(60);

/// Decides when copies go out, from what was seen so far. It knows no clock:
/// `now` is the time since any fixed moment.
#[derive(Debug, Default)]
pub(crate) struct Hedging {
    usual: Option<Duration>,
    /// Copies since the minute began.
    spent: u32,
    minute: Duration,
    paused_until: Option<Duration>,
    sent: u64,
}

impl Hedging {
    /// How long to wait for an answer before the next copy of a line goes out;
    /// `None` if there is to be no further one. `copies` have gone out so far.
    pub(crate) fn next_copy(&self, now: Duration, copies: u32) -> Option<Duration> {
        let paused = self.paused_until.is_some_and(|until| now < until);
        let spent = if now.saturating_sub(self.minute) < MINUTE { self.spent } else { 0 };
        if copies >= COPIES || paused || spent >= BUDGET {
            return None;
        }
        let wait = self.usual.map_or(SOONEST, |usual| usual * PATIENCE);
        // The second copy is given twice the time of the first.
        Some(wait.clamp(SOONEST, LATEST) * (copies + 1))
    }

    /// A copy went out.
    pub(crate) fn copied(&mut self, now: Duration) {
        if now.saturating_sub(self.minute) >= MINUTE {
            self.minute = now;
            self.spent = 0;
        }
        self.spent += 1;
        self.sent += 1;
    }

    /// A connection was answered this long after its line went out; `copies`
    /// had gone out by then.
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

    /// No connection was answered in time.
    pub(crate) fn unanswered(&mut self, now: Duration, copies: u32) {
        if copies > 0 {
            self.paused_until = Some(now + PAUSE);
        }
    }

    /// How many copies went out so far.
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
        // One that met the server's poll says little about the usual time.
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
