use herdr_proto::Seq;

/// The one counter of a claim: the microsecond clock, and always above the
/// last number (failures B03 to B06).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SeqClock {
    last: u64,
}

impl SeqClock {
    pub(super) fn next(&mut self, unix_micros: u64) -> Seq {
        self.take(unix_micros)
    }

    /// Jumps to the nanosecond clock, above any mark that a microsecond clock
    /// or a nanosecond clock in the past has left.
    pub(super) fn next_in_nanos(&mut self, unix_micros: u64) -> Seq {
        self.take(unix_micros.saturating_mul(1_000))
    }

    /// Goes on above a number that was used before.
    pub(super) fn jump_over(&mut self, seq: u64) {
        self.last = self.last.max(seq);
    }

    pub(super) fn last(self) -> u64 {
        self.last
    }

    fn take(&mut self, clock: u64) -> Seq {
        self.last = clock.max(self.last.saturating_add(1));
        Seq::new(self.last)
    }
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
        assert_eq!(clock.next_in_nanos(6000).get(), 6_000_000);
        assert_eq!(clock.next(6001).get(), 6_000_001);
    }
}
