//! Numbers of requests, and how long to wait after one that failed.

use std::time::Duration;

use herdr_proto::Seq;

use super::request::{Flight, Topic};

const FIRST: Duration = Duration::from_millis(100);
/// The longest wait for a server that may come back (failure B11).
const CAP: Duration = Duration::from_secs(2);
/// After so long it may wait for as long as a topic in trouble.
const PATIENT: Duration = Duration::from_secs(10);
/// The longest wait after a request that was itself waited for.
const CAP_AFTER_WAIT: Duration = Duration::from_millis(400);
/// The first wait after a refusal.
const FIRST_AFTER_REFUSAL: Duration = Duration::from_secs(1);
/// In the first minute of a topic's trouble, attempts are at most this far
/// apart …
const CAP_EARLY: Duration = Duration::from_millis(4_500);
const EARLY: Duration = Duration::from_secs(60);
/// … and this far later.
const CAP_LATE: Duration = Duration::from_secs(20);
/// The wait while only a change of the socket can help (failure B65).
pub(super) const LONG: Duration = Duration::from_secs(60);
/// The wait at a socket that is something else (failure B79).
pub(super) const LONGEST: Duration = Duration::from_secs(600);

/// The one counter of a claim: the microsecond clock, and always above the
/// last number (failures B03 to B06).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SeqClock {
    last: u64,
}

impl SeqClock {
    pub(super) fn next(&mut self, clock: u64) -> Seq {
        self.last = clock.max(self.last.saturating_add(1));
        Seq::new(self.last)
    }

    /// Goes on above a number that was used before.
    pub(super) fn jump_over(&mut self, seq: u64) {
        self.last = self.last.max(seq);
    }

    pub(super) fn last(self) -> u64 {
        self.last
    }
}

/// Waits between attempts to connect: doubling, capped, and jittered so that
/// the reporters of many panes do not come back in step.
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

    pub(super) fn fail(&mut self, now: Duration) {
        let full = doubled(FIRST, self.attempts).min(CAP);
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

/// The rest of each topic.
#[derive(Debug, Default)]
pub(super) struct Rests([Rest; Topic::ALL.len()]);

/// How long a topic rests whose requests fail while the server is there.
#[derive(Debug, Default)]
pub(super) struct Rest {
    pub(super) until: Option<Duration>,
    /// How many failed in a row.
    pub(super) failures: u32,
    /// When the first of them went out.
    pub(super) since: Duration,
    /// The server answered something else since, so it is there: this topic
    /// alone is in trouble.
    pub(super) alone: bool,
    /// How the last one failed.
    pub(super) why: Option<Why>,
    /// What failed last. The same goes out again under its number.
    pub(super) last: Option<Flight>,
}

impl Rests {
    pub(super) fn of(&self, topic: Topic) -> &Rest {
        &self.0[topic as usize]
    }

    pub(super) fn of_mut(&mut self, topic: Topic) -> &mut Rest {
        &mut self.0[topic as usize]
    }

    /// One that fails.
    pub(super) fn failing(&self) -> Option<Topic> {
        Topic::ALL.into_iter().find(|topic| self.of(*topic).failures > 0)
    }

    pub(super) fn over(&mut self, topic: Topic) {
        *self.of_mut(topic) = Rest::default();
    }

    /// The server answered a request of this topic: what failed of others, when
    /// it may have been away, is tried again at once.
    pub(super) fn is_there(&mut self, topic: Topic) {
        for (of, rest) in self.0.iter_mut().enumerate() {
            if of != topic as usize && rest.failures > 0 && !rest.alone {
                rest.alone = true;
                rest.until = None;
            }
        }
    }

    /// Whether it is not known if the server is frozen or only one topic fails.
    pub(super) fn is_puzzled(&self, now: Duration) -> bool {
        let puzzled = |rest: &Rest| rest.failures >= 2 && !rest.alone;
        self.0.iter().any(puzzled) && self.of(Topic::Look).until.is_none_or(|until| until <= now)
    }
}

impl Rest {
    /// An attempt that went out at `sent` failed.
    pub(super) fn fail(&mut self, now: Duration, sent: Duration, why: Why) {
        if self.failures == 0 {
            self.since = sent;
        }
        self.alone |= why == Why::Refused;
        self.why = Some(why);
        let first = if why == Why::Refused { FIRST_AFTER_REFUSAL } else { FIRST };
        let full = doubled(first, self.failures);
        self.failures += 1;
        let lasts = now.saturating_sub(self.since);
        self.until = Some(if !self.alone && why == Why::Silent {
            now + full.min(CAP_AFTER_WAIT)
        } else if !self.alone && lasts < PATIENT {
            now + full.min(CAP)
        } else if lasts < EARLY {
            sent + full.min(CAP_EARLY)
        } else {
            sent + CAP_LATE
        });
    }
}

/// How an attempt failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// Not answered in time.
    Silent,
    /// Not answered, or not so that it can be understood.
    Failed,
    /// Refused.
    Refused,
}

fn doubled(first: Duration, times: u32) -> Duration {
    first.saturating_mul(1 << times.min(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_rise_whatever_the_clock_does() {
        let mut clock = SeqClock::default();
        let seqs: Vec<u64> =
            [1000, 1000, 900, 5000].into_iter().map(|now| clock.next(now).get()).collect();
        assert_eq!(seqs, [1000, 1001, 1002, 5000]);
        assert_eq!(clock.next(6_000_000).get(), 6_000_000);
        assert_eq!(clock.next(6001).get(), 6_000_001);
    }

    #[test]
    fn waits_for_a_connection_double_up_to_the_cap_and_begin_again_after_a_success() {
        let mut backoff = Backoff::new(42);
        let wait = |backoff: &mut Backoff| {
            backoff.fail(Duration::ZERO);
            backoff.until().expect("it waits")
        };
        let waits: Vec<Duration> = (0..10).map(|_| wait(&mut backoff)).collect();
        assert!(waits[0] >= FIRST / 2 && waits[0] <= FIRST);
        assert!(waits[9] >= CAP / 2 && waits[9] <= CAP);
        backoff.succeed();
        assert!(wait(&mut backoff) <= FIRST);
    }

    #[test]
    fn a_topic_that_fails_alone_is_tried_twenty_times_in_the_first_minute_and_three_later() {
        for why in [Why::Failed, Why::Silent, Why::Refused] {
            let mut rest = Rest { alone: true, ..Rest::default() };
            let (mut now, mut minutes) = (Duration::ZERO, [0; 5]);
            for (minute, count) in (1..).zip(&mut minutes) {
                while now < EARLY * minute {
                    *count += 1;
                    rest.fail(now, now, why);
                    now = rest.until.unwrap();
                }
            }
            assert!(
                minutes[0] <= 20 && minutes[1..].iter().all(|count| *count <= 4),
                "{minutes:?}"
            );
        }
    }
}
