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

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Try {
    /// When one went out last.
    pub(super) sent_at: Option<Duration>,
    /// The last one failed, so the next one waits for the rest of its topic.
    pub(super) failing: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tried {
    State,
    Presentation,
    Reason,
    Tokens,
}

#[derive(Debug, Default)]
pub(super) struct Tries([Try; Tried::Tokens as usize + 1]);

impl Tries {
    pub(super) fn of(&self, tried: Tried) -> Try {
        self.0[tried as usize]
    }

    pub(super) fn of_mut(&mut self, tried: Tried) -> &mut Try {
        &mut self.0[tried as usize]
    }

    /// Those of metadata, which share a method.
    pub(super) fn of_metadata(&self) -> &[Try] {
        &self.0[Tried::Presentation as usize..]
    }

    pub(super) fn start_over(&mut self) {
        self.0.iter_mut().for_each(|it| it.failing = false);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// Not answered in time.
    Silent,
    /// Not answered, or not so that it can be understood.
    Failed,
    Refused,
}

fn doubled(first: Duration, times: u32) -> Duration {
    first.saturating_mul(1 << times.min(8))
}
