//! Sequence numbers, and how long to wait after a request that failed.

use std::time::Duration;

use herdr_proto::Seq;

use super::request::SentRequest;

const FIRST_WAIT: Duration = Duration::from_millis(100);
/// The longest wait for a server that may come back (failure B11).
const MAX_WAIT: Duration = Duration::from_secs(2);
/// The longest wait after a request that timed out: that request was a wait already.
const MAX_WAIT_AFTER_TIMEOUT: Duration = Duration::from_millis(400);
/// How long a server may answer nothing at all before its retries become as rare as those of a
/// single failing group.
const OUTAGE_PATIENCE: Duration = Duration::from_secs(10);
/// The first wait after a refusal.
const FIRST_WAIT_AFTER_REFUSAL: Duration = Duration::from_secs(1);
/// While a group has been failing for less than [`EARLY`], its attempts are at most this far
/// apart.
const MAX_INTERVAL_EARLY: Duration = Duration::from_millis(4_500);
const EARLY: Duration = Duration::from_secs(60);
/// How far apart the attempts of a group are after [`EARLY`].
const INTERVAL_LATE: Duration = Duration::from_secs(20);
/// The wait while only a change of the socket can help (failure B65).
pub(super) const UNUSABLE_SOCKET_WAIT: Duration = Duration::from_secs(60);
/// The wait while something other than Herdr's pane API is behind the socket (failure B79).
pub(super) const OTHER_API_WAIT: Duration = Duration::from_secs(600);

/// The sequence numbers of a claim: the microsecond clock, but always above the last number,
/// since the clock may step back (failures B03 to B06).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SeqClock {
    last: u64,
}

impl SeqClock {
    pub(super) fn next(&mut self, clock: u64) -> Seq {
        self.last = clock.max(self.last.saturating_add(1));
        Seq::new(self.last)
    }

    /// Makes every later number larger than `seq`.
    pub(super) fn jump_over(&mut self, seq: u64) {
        self.last = self.last.max(seq);
    }

    pub(super) fn last(self) -> u64 {
        self.last
    }
}

/// Waits between attempts to connect: doubling, capped, and jittered so that the reporters of
/// many panes do not reconnect at the same moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConnectBackoff {
    until: Option<Duration>,
    attempts: u32,
    random: u64,
}

impl ConnectBackoff {
    pub(super) fn new(seed: u64) -> Self {
        Self { until: None, attempts: 0, random: seed | 1 }
    }

    pub(super) fn until(&self) -> Option<Duration> {
        self.until
    }

    pub(super) fn fail(&mut self, now: Duration) {
        let full = doubled(FIRST_WAIT, self.attempts).min(MAX_WAIT);
        self.attempts += 1;
        // Jitter: between half and all of the wait.
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

    /// Allows an attempt now. If that one fails, the wait goes on doubling.
    pub(super) fn retry_now(&mut self) {
        self.until = None;
    }

    /// Xorshift: jitter needs nothing better.
    fn next_random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }
}

/// Requests that use the same method of the server, so that a failure of one is expected to be a
/// failure of all. Each group backs off by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RetryGroup {
    State,
    Metadata,
    End,
    ReadBack,
    Explain,
    Version,
    Identity,
}

impl RetryGroup {
    pub(super) const ALL: [Self; 7] = [
        Self::State,
        Self::Metadata,
        Self::End,
        Self::ReadBack,
        Self::Explain,
        Self::Version,
        Self::Identity,
    ];
}

#[derive(Debug, Default)]
pub(super) struct Backoffs([GroupBackoff; RetryGroup::ALL.len()]);

/// How long a group waits after its requests failed while the server could be connected to.
#[derive(Debug, Default)]
pub(super) struct GroupBackoff {
    pub(super) until: Option<Duration>,
    /// How many requests failed in a row.
    pub(super) failures: u32,
    /// When the first of these requests was sent.
    pub(super) first_sent_at: Duration,
    /// The server has answered another group since, or has refused this one: the server is there,
    /// and only this group fails.
    pub(super) only_this_group: bool,
    /// Why the last request failed.
    pub(super) cause: Option<RetryCause>,
    /// The last report that failed; a retry of it keeps its number.
    pub(super) failed_request: Option<SentRequest>,
}

impl Backoffs {
    pub(super) fn of(&self, group: RetryGroup) -> &GroupBackoff {
        &self.0[group as usize]
    }

    pub(super) fn of_mut(&mut self, group: RetryGroup) -> &mut GroupBackoff {
        &mut self.0[group as usize]
    }

    pub(super) fn first_failing(&self) -> Option<RetryGroup> {
        RetryGroup::ALL.into_iter().find(|group| self.of(*group).failures > 0)
    }

    pub(super) fn clear(&mut self, group: RetryGroup) {
        *self.of_mut(group) = GroupBackoff::default();
    }

    /// The server has answered a request of `answered`. The other groups that failed may have
    /// failed because the server was away, so they are retried at once.
    pub(super) fn server_answered(&mut self, answered: RetryGroup) {
        for group in RetryGroup::ALL.into_iter().filter(|group| *group != answered) {
            let backoff = self.of_mut(group);
            if backoff.failures > 0 && !backoff.only_this_group {
                backoff.only_this_group = true;
                backoff.until = None;
            }
        }
    }

    /// Whether a read-back is to find out if the whole server is frozen or only one group fails.
    pub(super) fn needs_probe(&self, now: Duration) -> bool {
        let unclear = |backoff: &GroupBackoff| backoff.failures >= 2 && !backoff.only_this_group;
        let probe = self.of(RetryGroup::ReadBack).until;
        self.0.iter().any(unclear) && probe.is_none_or(|until| until <= now)
    }
}

impl GroupBackoff {
    /// A request that was sent at `sent_at` has failed.
    pub(super) fn fail(&mut self, now: Duration, sent_at: Duration, cause: RetryCause) {
        if self.failures == 0 {
            self.first_sent_at = sent_at;
        }
        let refused = cause == RetryCause::Refused;
        self.only_this_group |= refused;
        self.cause = Some(cause);
        let first_wait = if refused { FIRST_WAIT_AFTER_REFUSAL } else { FIRST_WAIT };
        let full = doubled(first_wait, self.failures);
        self.failures += 1;
        let failing_for = now.saturating_sub(self.first_sent_at);
        self.until = Some(if !self.only_this_group && cause == RetryCause::TimedOut {
            now + full.min(MAX_WAIT_AFTER_TIMEOUT)
        } else if !self.only_this_group && failing_for < OUTAGE_PATIENCE {
            now + full.min(MAX_WAIT)
        } else if failing_for < EARLY {
            sent_at + full.min(MAX_INTERVAL_EARLY)
        } else {
            sent_at + INTERVAL_LATE
        });
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RetryCause {
    TimedOut,
    /// The connection broke, the reply was unreadable, or the server said that it cannot answer
    /// now.
    Failed,
    Refused,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Attempt {
    /// When a report of this kind was last sent.
    pub(super) sent_at: Option<Duration>,
    /// That report failed, so the next one waits for the backoff of its group.
    pub(super) failing: bool,
}

/// What a report is about. The last three use the same method of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReportKind {
    State,
    Presentation,
    Reason,
    Tokens,
}

#[derive(Debug, Default)]
pub(super) struct Attempts([Attempt; ReportKind::Tokens as usize + 1]);

impl Attempts {
    pub(super) fn of(&self, kind: ReportKind) -> Attempt {
        self.0[kind as usize]
    }

    pub(super) fn of_mut(&mut self, kind: ReportKind) -> &mut Attempt {
        &mut self.0[kind as usize]
    }

    pub(super) fn of_metadata(&self) -> &[Attempt] {
        &self.0[ReportKind::Presentation as usize..]
    }

    pub(super) fn start_over(&mut self) {
        self.0.iter_mut().for_each(|attempt| attempt.failing = false);
    }
}

fn doubled(first: Duration, times: u32) -> Duration {
    first.saturating_mul(1 << times.min(8))
}
