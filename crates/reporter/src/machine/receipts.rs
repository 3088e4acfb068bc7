//! Counts every report and says what became of it.

use herdr_proto::Seq;

use super::judge::Verdict;
use crate::receipt::{Outcome, Part, Reason, Receipt};

/// How many reports were offered, and what became of them. A report is a new
/// value of the state, the presentation or the tokens; refreshes and repairs
/// of an old one do not count.
///
/// `offered = delivered + superseded + dropped + pending`, and
/// `delivered = applied + ignored + hidden + unverified`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// New values that were wanted.
    pub offered: u64,
    /// Those that the server said `ok` to.
    pub delivered: u64,
    /// Those that a newer one replaced.
    pub superseded: u64,
    /// Those that never went out: refused, or too late.
    pub dropped: u64,
    /// Those on their way.
    pub pending: u64,
    /// Delivered and seen on the pane.
    pub applied: u64,
    /// Delivered and without effect.
    pub ignored: u64,
    /// Delivered and not visible.
    pub hidden: u64,
    /// Delivered, and nobody has looked, or looking could not tell. Their
    /// receipts say [`Outcome::Sent`] and [`Outcome::Unverified`].
    pub unverified: u64,
    /// Requests that were sent again because their answer was late. They are no
    /// reports of their own.
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
    /// Of the reports that have their receipt, but for `offered`.
    told: Counters,
    lines: [Line; Part::Release as usize + 1],
    made: Vec<Receipt>,
}

#[derive(Debug, Default)]
struct Line {
    /// The newest value waits to be sent.
    waits: bool,
    /// The request in flight carries a value that was offered.
    flies: bool,
    /// The last delivered value has not been judged.
    unjudged: bool,
    /// Its number, if it had one.
    seq: Option<Seq>,
}

const PARTS: [Part; 3] = [Part::State, Part::Presentation, Part::Tokens];

impl Receipts {
    pub(super) fn counters(&self) -> Counters {
        let mut counters = self.told;
        for line in &self.lines {
            counters.pending += u64::from(line.waits) + u64::from(line.flies);
            counters.unverified += u64::from(line.unjudged);
        }
        counters.delivered =
            counters.applied + counters.ignored + counters.hidden + counters.unverified;
        counters
    }

    pub(super) fn take(&mut self) -> Vec<Receipt> {
        std::mem::take(&mut self.made)
    }

    pub(super) fn note(&mut self, receipt: Receipt) {
        self.made.push(receipt);
    }

    fn tell(&mut self, receipt: Receipt) {
        *match receipt.outcome {
            Outcome::Superseded => &mut self.told.superseded,
            Outcome::Failed => &mut self.told.dropped,
            Outcome::Applied => &mut self.told.applied,
            Outcome::Ignored => &mut self.told.ignored,
            Outcome::Hidden => &mut self.told.hidden,
            Outcome::Sent | Outcome::Unverified => &mut self.told.unverified,
        } += 1;
        self.note(receipt);
    }

    /// A part has a new wanted value; `needed` is whether the server lacks it.
    pub(super) fn offer(&mut self, part: Part, needed: bool) {
        if std::mem::replace(&mut self.line(part).waits, needed) {
            self.tell(Receipt::new(Outcome::Superseded, part));
        }
        self.told.offered += u64::from(needed);
    }

    /// A value that waits though nothing is planned for its part is what the
    /// server has already: what was in between never got there.
    pub(super) fn planned(&mut self, has: impl Fn(Part) -> bool) {
        for part in PARTS {
            if !has(part) && std::mem::take(&mut self.line(part).waits) {
                self.tell(Receipt::new(Outcome::Superseded, part));
            }
        }
    }

    pub(super) fn sent(&mut self, part: Part) {
        let line = self.line(part);
        line.flies |= std::mem::take(&mut line.waits);
    }

    pub(super) fn delivered(&mut self, part: Part, seq: Option<Seq>) {
        let line = self.line(part);
        if std::mem::take(&mut line.flies) {
            let last = std::mem::replace(&mut line.seq, seq);
            if std::mem::replace(&mut line.unjudged, true) {
                self.tell(Receipt::new(Outcome::Sent, part).seq(last));
            }
        }
    }

    /// The request did not come through. `still_wanted` is whether its value
    /// is the newest, so that it waits again.
    pub(super) fn failed(&mut self, part: Part, still_wanted: bool) {
        let line = self.line(part);
        if !std::mem::take(&mut line.flies) {
            return;
        }
        if still_wanted && !line.waits {
            line.waits = true;
        } else {
            self.tell(Receipt::new(Outcome::Superseded, part));
        }
    }

    /// The server will not have it. A refresh or repair that it refuses is told
    /// as a diagnostic alone: what it repeats has its receipt.
    pub(super) fn refused(&mut self, part: Part, seq: Option<Seq>, reason: Reason) {
        let receipt = Receipt::new(Outcome::Failed, part).seq(seq).because(reason);
        if part == Part::Release {
            self.note(receipt);
        } else if std::mem::take(&mut self.line(part).flies) {
            self.tell(receipt);
        }
    }

    pub(super) fn judged(&mut self, part: Part, (outcome, reason): Verdict) {
        let line = self.line(part);
        if std::mem::take(&mut line.unjudged) {
            let seq = line.seq;
            self.tell(Receipt::new(outcome, part).seq(seq).because(reason));
        }
    }

    /// Somebody else's newer value counts.
    pub(super) fn give_up(&mut self, part: Part) {
        let line = self.line(part);
        if std::mem::take(&mut line.waits) || std::mem::take(&mut line.unjudged) {
            self.tell(Receipt::new(Outcome::Superseded, part));
        }
    }

    /// No report follows; what goes out from now on takes off what is there.
    pub(super) fn drop_waiting(&mut self) {
        for part in PARTS {
            if std::mem::take(&mut self.line(part).waits) {
                self.tell(Receipt::new(Outcome::Failed, part).because(Reason::NotDelivered));
            }
        }
    }

    /// The request did not come through, and its value will not be sent again.
    pub(super) fn lost(&mut self, part: Part) {
        if std::mem::take(&mut self.line(part).flies) {
            self.tell(Receipt::new(Outcome::Failed, part).because(Reason::NotDelivered));
        }
    }

    /// Nothing more will be sent or looked at.
    pub(super) fn end(&mut self) {
        self.drop_waiting();
        for part in PARTS {
            self.lost(part);
        }
        self.leave_unjudged(Outcome::Sent);
    }

    /// Nobody will look at what has been delivered so far: nobody wanted to
    /// ([`Outcome::Sent`]), or the look failed ([`Outcome::Unverified`]).
    pub(super) fn leave_unjudged(&mut self, outcome: Outcome) {
        for part in PARTS {
            self.judged(part, (outcome, None));
        }
    }

    fn line(&mut self, part: Part) -> &mut Line {
        &mut self.lines[part as usize]
    }
}
