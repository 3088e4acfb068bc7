//! The outcomes of reports: receipts and counters.

use herdr_proto::Seq;

use super::judge::Verdict;
use crate::receipt::{Outcome, Part, Reason, Receipt};

/// How many reports were offered, and what became of them. A report is a new value of the state,
/// the presentation or the tokens; a refresh or repair of an old value does not count.
///
/// `offered = delivered + superseded + dropped + pending`, and `delivered = applied + ignored +
/// hidden + unverified`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// New values that were wanted.
    pub offered: u64,
    /// Those that the server has answered with `ok`.
    pub delivered: u64,
    /// Those that a newer one replaced.
    pub superseded: u64,
    /// Those that the server refused, or that could not be delivered in time.
    pub dropped: u64,
    /// Those that wait to be sent or answered.
    pub pending: u64,
    /// Delivered and seen on the pane.
    pub applied: u64,
    /// Delivered and without effect.
    pub ignored: u64,
    /// Delivered and not visible.
    pub hidden: u64,
    /// Delivered, and the pane was not read afterwards, or the read-back could not tell. Their
    /// receipts say [`Outcome::Sent`] and [`Outcome::Unverified`].
    pub unverified: u64,
    /// Requests that were sent a second time because their answer was late. They do not count as
    /// reports.
    pub copies: u64,
}

impl Counters {
    /// Whether the two sums hold.
    pub fn add_up(&self) -> bool {
        self.offered == self.delivered + self.superseded + self.dropped + self.pending
            && self.delivered == self.applied + self.ignored + self.hidden + self.unverified
    }
}

#[derive(Debug, Default)]
pub(super) struct Receipts {
    /// Counts the reports that have their receipt, and all that were offered.
    settled: Counters,
    parts: [Progress; Part::Release as usize + 1],
    new: Vec<Receipt>,
}

/// The unfinished reports of one part, at most one in each of the three stages.
#[derive(Debug, Default)]
struct Progress {
    /// The newest value waits to be sent.
    waiting: bool,
    /// The request in flight has a value that was offered.
    in_flight: bool,
    /// The last delivered value waits for a read-back.
    unjudged: bool,
    /// The sequence number of the last delivered value.
    seq: Option<Seq>,
}

const PARTS: [Part; 3] = [Part::State, Part::Presentation, Part::Tokens];

impl Receipts {
    pub(super) fn counters(&self) -> Counters {
        let mut counters = self.settled;
        for progress in &self.parts {
            counters.pending += u64::from(progress.waiting) + u64::from(progress.in_flight);
            counters.unverified += u64::from(progress.unjudged);
        }
        counters.delivered =
            counters.applied + counters.ignored + counters.hidden + counters.unverified;
        counters
    }

    pub(super) fn take(&mut self) -> Vec<Receipt> {
        std::mem::take(&mut self.new)
    }

    pub(super) fn note(&mut self, receipt: Receipt) {
        self.new.push(receipt);
    }

    /// Counts the outcome of an offered report and makes its receipt.
    fn settle(&mut self, receipt: Receipt) {
        *match receipt.outcome {
            Outcome::Superseded => &mut self.settled.superseded,
            Outcome::Failed => &mut self.settled.dropped,
            Outcome::Applied => &mut self.settled.applied,
            Outcome::Ignored => &mut self.settled.ignored,
            Outcome::Hidden => &mut self.settled.hidden,
            Outcome::Sent | Outcome::Unverified => &mut self.settled.unverified,
        } += 1;
        self.note(receipt);
    }

    /// A part has a new wanted value. `needed` is whether it has to be sent.
    pub(super) fn offer(&mut self, part: Part, needed: bool) {
        if std::mem::replace(&mut self.progress(part).waiting, needed) {
            self.settle(Receipt::new(Outcome::Superseded, part));
        }
        self.settled.offered += u64::from(needed);
    }

    /// Takes in which parts are to be sent. A value that waits although its part is not to be sent
    /// is on the server already: it was changed and changed back before it was sent.
    pub(super) fn planned(&mut self, has: impl Fn(Part) -> bool) {
        for part in PARTS {
            if !has(part) && std::mem::take(&mut self.progress(part).waiting) {
                self.settle(Receipt::new(Outcome::Superseded, part));
            }
        }
    }

    pub(super) fn sent(&mut self, part: Part) {
        let progress = self.progress(part);
        progress.in_flight |= std::mem::take(&mut progress.waiting);
    }

    pub(super) fn delivered(&mut self, part: Part, seq: Option<Seq>) {
        let progress = self.progress(part);
        if std::mem::take(&mut progress.in_flight) {
            let last = std::mem::replace(&mut progress.seq, seq);
            if std::mem::replace(&mut progress.unjudged, true) {
                self.settle(Receipt::new(Outcome::Sent, part).seq(last));
            }
        }
    }

    /// The request failed. If its value is still wanted, it waits again.
    pub(super) fn failed(&mut self, part: Part, still_wanted: bool) {
        let progress = self.progress(part);
        if !std::mem::take(&mut progress.in_flight) {
            return;
        }
        if still_wanted && !progress.waiting {
            progress.waiting = true;
        } else {
            self.settle(Receipt::new(Outcome::Superseded, part));
        }
    }

    /// The server has refused the report. The refusal of a refresh or a repair makes no receipt,
    /// since the value has one already; it is reported as a diagnostic.
    pub(super) fn refused(&mut self, part: Part, seq: Option<Seq>, reason: Reason) {
        let receipt = Receipt::new(Outcome::Failed, part).seq(seq).because(reason);
        if part == Part::Release {
            self.note(receipt);
        } else if std::mem::take(&mut self.progress(part).in_flight) {
            self.settle(receipt);
        }
    }

    pub(super) fn judged(&mut self, part: Part, (outcome, reason): Verdict) {
        let progress = self.progress(part);
        if std::mem::take(&mut progress.unjudged) {
            let seq = progress.seq;
            self.settle(Receipt::new(outcome, part).seq(seq).because(reason));
        }
    }

    /// Another process has reported a newer value.
    pub(super) fn give_up(&mut self, part: Part) {
        let progress = self.progress(part);
        if std::mem::take(&mut progress.waiting) || std::mem::take(&mut progress.unjudged) {
            self.settle(Receipt::new(Outcome::Superseded, part));
        }
    }

    /// The ending has begun: nothing is reported any more, only cleared.
    pub(super) fn drop_waiting(&mut self) {
        for part in PARTS {
            if std::mem::take(&mut self.progress(part).waiting) {
                self.settle(Receipt::new(Outcome::Failed, part).because(Reason::NotDelivered));
            }
        }
    }

    /// The request failed, and its value will not be sent again.
    pub(super) fn lost(&mut self, part: Part) {
        if std::mem::take(&mut self.progress(part).in_flight) {
            self.settle(Receipt::new(Outcome::Failed, part).because(Reason::NotDelivered));
        }
    }

    /// Nothing more will be sent or read back.
    pub(super) fn end(&mut self) {
        self.drop_waiting();
        for part in PARTS {
            self.lost(part);
        }
        self.leave_unjudged(Outcome::Sent);
    }

    /// The delivered values will not be judged: no read-back was wanted ([`Outcome::Sent`]), or it
    /// failed ([`Outcome::Unverified`]).
    pub(super) fn leave_unjudged(&mut self, outcome: Outcome) {
        for part in PARTS {
            self.judged(part, (outcome, None));
        }
    }

    fn progress(&mut self, part: Part) -> &mut Progress {
        &mut self.parts[part as usize]
    }
}
