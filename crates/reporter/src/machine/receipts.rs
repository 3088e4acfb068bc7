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
    /// Those that a newer one replaced before they were delivered.
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
}

#[derive(Debug, Default)]
pub(super) struct Receipts {
    counters: Counters,
    lines: [Line; 3],
    made: Vec<Receipt>,
}

/// The reports of one part.
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
        self.counters
    }

    pub(super) fn take(&mut self) -> Vec<Receipt> {
        std::mem::take(&mut self.made)
    }

    /// A part has a new wanted value; `needed` is whether the server lacks it.
    pub(super) fn offer(&mut self, part: Part, needed: bool) {
        let Some(line) = self.line(part) else { return };
        if std::mem::replace(&mut line.waits, needed) {
            self.supersede(part);
        }
        if needed {
            self.counters.offered += 1;
            self.counters.pending += 1;
        }
    }

    /// A value that waits though nothing is planned for its part is what the
    /// server has already: what was in between never got there.
    pub(super) fn planned(&mut self, has: impl Fn(Part) -> bool) {
        for part in PARTS {
            let Some(line) = self.line(part) else { continue };
            if line.waits && !has(part) {
                line.waits = false;
                self.supersede(part);
            }
        }
    }

    pub(super) fn sent(&mut self, part: Part) {
        if let Some(line) = self.line(part) {
            line.flies = std::mem::take(&mut line.waits);
        }
    }

    pub(super) fn delivered(&mut self, part: Part, seq: Option<Seq>) {
        let Some(line) = self.line(part) else { return };
        if !std::mem::take(&mut line.flies) {
            return;
        }
        let before = std::mem::replace(&mut line.unjudged, true);
        let last = std::mem::replace(&mut line.seq, seq);
        self.counters.pending -= 1;
        self.counters.delivered += 1;
        // Until somebody looks, it counts as not looked at.
        self.counters.unverified += 1;
        if before {
            self.made.push(Receipt::new(Outcome::Sent, part).seq(last));
        }
    }

    /// The request did not come through. `still_wanted` is whether its value
    /// is the newest, so that it waits again.
    pub(super) fn failed(&mut self, part: Part, still_wanted: bool) {
        let Some(line) = self.line(part) else { return };
        if !std::mem::take(&mut line.flies) {
            return;
        }
        if still_wanted && !line.waits {
            line.waits = true;
        } else {
            self.supersede(part);
        }
    }

    /// The server will not have it. A refresh or repair that it refuses is told
    /// as a diagnostic alone: what it repeats has its receipt.
    pub(super) fn refused(&mut self, part: Part, seq: Option<Seq>, reason: Reason) {
        if let Some(line) = self.line(part) {
            if !std::mem::take(&mut line.flies) {
                return;
            }
            self.counters.pending -= 1;
            self.counters.dropped += 1;
        }
        self.made.push(Receipt::new(Outcome::Failed, part).seq(seq).because(reason));
    }

    pub(super) fn judged(&mut self, part: Part, (outcome, reason): Verdict) {
        let Some(line) = self.line(part) else { return };
        if !std::mem::take(&mut line.unjudged) {
            return;
        }
        let seq = line.seq;
        self.counters.unverified -= 1;
        match outcome {
            Outcome::Applied => self.counters.applied += 1,
            Outcome::Ignored => self.counters.ignored += 1,
            Outcome::Hidden => self.counters.hidden += 1,
            _ => self.counters.unverified += 1,
        }
        self.made.push(Receipt::new(outcome, part).seq(seq).because(reason));
    }

    /// Somebody else's newer value counts.
    pub(super) fn give_up(&mut self, part: Part) {
        let Some(line) = self.line(part) else { return };
        if std::mem::take(&mut line.waits) {
            self.supersede(part);
        } else if std::mem::take(&mut line.unjudged) {
            self.made.push(Receipt::new(Outcome::Superseded, part));
        }
    }

    /// No report follows; what goes out from now on takes off what is there.
    pub(super) fn drop_waiting(&mut self) {
        for part in PARTS {
            if self.line(part).is_some_and(|line| std::mem::take(&mut line.waits)) {
                self.not_delivered(part);
            }
        }
    }

    /// The request did not come through, and its value will not be sent again.
    pub(super) fn lost(&mut self, part: Part) {
        if self.line(part).is_some_and(|line| std::mem::take(&mut line.flies)) {
            self.not_delivered(part);
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

    fn not_delivered(&mut self, part: Part) {
        self.counters.pending -= 1;
        self.counters.dropped += 1;
        let receipt = Receipt::new(Outcome::Failed, part);
        self.made.push(receipt.because(Reason::NotDelivered));
    }

    /// Nobody will look at what has been delivered so far: nobody wanted to
    /// ([`Outcome::Sent`]), or the look failed ([`Outcome::Unverified`]).
    pub(super) fn leave_unjudged(&mut self, outcome: Outcome) {
        for (line, part) in self.lines.iter_mut().zip(PARTS) {
            if std::mem::take(&mut line.unjudged) {
                self.made.push(Receipt::new(outcome, part).seq(line.seq));
            }
        }
    }

    pub(super) fn note(&mut self, receipt: Receipt) {
        self.made.push(receipt);
    }

    fn supersede(&mut self, part: Part) {
        self.counters.pending -= 1;
        self.counters.superseded += 1;
        self.made.push(Receipt::new(Outcome::Superseded, part));
    }

    fn line(&mut self, part: Part) -> Option<&mut Line> {
        index(part).map(|index| &mut self.lines[index])
    }
}

fn index(part: Part) -> Option<usize> {
    PARTS.iter().position(|known| *known == part)
}

impl Counters {
    /// Whether the two sums hold.
    pub fn add_up(&self) -> bool {
        self.offered == self.delivered + self.superseded + self.dropped + self.pending
            && self.delivered == self.applied + self.ignored + self.hidden + self.unverified
    }
}
