use std::time::Duration;

const FIRST: Duration = Duration::from_millis(100);
/// The longest wait for a server that may come back (failure B11).
const CAP: Duration = Duration::from_secs(2);
/// The longest wait after a request that was itself waited for.
const CAP_AFTER_WAIT: Duration = Duration::from_millis(400);
/// The wait while only a change of the socket can help (failure B65).
pub(super) const LONG: Duration = Duration::from_secs(60);
/// The wait at a socket that is something else (failure B79).
pub(super) const LONGEST: Duration = Duration::from_secs(600);

/// Waits between attempts: doubling, capped, and jittered so that the
/// reporters of many panes do not come back in step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Backoff {
    until: Option<Duration>,
    attempts: u32,
    random: u64,
}

impl Backoff {
    pub(super) fn new(seed: u64) -> Self {
        Self { until: None, attempts: 0, random: seed | 1 }
    }

    /// When the next attempt may be made; `None` is now.
    pub(super) fn until(&self) -> Option<Duration> {
        self.until
    }

    pub(super) fn fail(&mut self, now: Duration, waited: bool) {
        let cap = if waited { CAP_AFTER_WAIT } else { CAP };
        let full = FIRST.saturating_mul(1 << self.attempts.min(8)).min(cap);
        self.attempts += 1;
        // Between half and all of it.
        let part = 512 + self.next_random() % 513;
        #[expect(clippy::cast_possible_truncation, reason = "at most 1024")]
        let wait = full * part as u32 / 1024;
        self.until = Some(now + wait);
    }

    pub(super) fn wait(&mut self, now: Duration, how_long: Duration) {
        self.until = Some(now + how_long);
    }

    pub(super) fn succeed(&mut self) {
        self.until = None;
        self.attempts = 0;
    }

    /// Try again now, but go on doubling if that fails.
    pub(super) fn retry_now(&mut self) {
        self.until = None;
    }

    /// Xorshift: spreading attempts needs no more.
    fn next_random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_cap_and_begin_again_after_a_success() {
        let mut backoff = Backoff::new(42);
        let wait = |backoff: &mut Backoff| {
            backoff.fail(Duration::ZERO, false);
            backoff.until().expect("it waits")
        };
        let waits: Vec<Duration> = (0..10).map(|_| wait(&mut backoff)).collect();
        assert!(waits[0] >= FIRST / 2 && waits[0] <= FIRST);
        assert!(waits[9] >= CAP / 2 && waits[9] <= CAP);
        backoff.succeed();
        assert!(wait(&mut backoff) <= FIRST);
    }
}
