use std::time::Instant;

/// The flushes that hosts wait for, by ticket.
#[derive(Debug, Default)]
pub(super) struct Flushes {
    last: u64,
    open: Vec<(u64, Instant)>,
    /// How each one ended that nobody has asked about yet.
    done: Vec<(u64, bool)>,
}

impl Flushes {
    /// A ticket for a flush that gives up at `until`.
    pub(super) fn begin(&mut self, until: Instant) -> u64 {
        self.last += 1;
        self.open.push((self.last, until));
        self.last
    }

    pub(super) fn any_open(&self) -> bool {
        !self.open.is_empty()
    }

    pub(super) fn next_timeout(&self) -> Option<Instant> {
        self.open.iter().map(|(_, until)| *until).min()
    }

    /// Ends all flushes if everything is delivered, else those whose time is
    /// up; whether any ended.
    pub(super) fn settle(&mut self, delivered: bool, now: Instant) -> bool {
        let (done, open): (Vec<_>, Vec<_>) = std::mem::take(&mut self.open)
            .into_iter()
            .partition(|(_, until)| delivered || *until <= now);
        self.open = open;
        self.done.extend(done.iter().map(|(ticket, _)| (*ticket, delivered)));
        !done.is_empty()
    }

    /// Nothing will be delivered any more.
    pub(super) fn end(&mut self) {
        let open = std::mem::take(&mut self.open);
        self.done.extend(open.into_iter().map(|(ticket, _)| (ticket, false)));
    }

    /// Nobody waits for it any more.
    pub(super) fn forget(&mut self, ticket: u64) {
        self.open.retain(|(open, _)| *open != ticket);
        self.done.retain(|(done, _)| *done != ticket);
    }

    /// How a flush ended, once.
    pub(super) fn take(&mut self, ticket: u64) -> Option<bool> {
        let at = self.done.iter().position(|(done, _)| *done == ticket)?;
        Some(self.done.swap_remove(at).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forgotten_flush_leaves_nothing_behind() {
        let mut flushes = Flushes::default();
        let now = Instant::now();
        let (open, done) = (flushes.begin(now), flushes.begin(now));
        flushes.forget(open);
        flushes.settle(true, now);
        flushes.forget(done);
        assert_eq!((flushes.take(open), flushes.take(done)), (None, None));
        assert!(flushes.open.is_empty() && flushes.done.is_empty());
    }
}
