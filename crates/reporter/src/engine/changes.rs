//! What the engine takes from its hosts, and what it gives back.

use std::time::Instant;

use super::Shared;
use super::lease::HeldLease;
use super::shared::Inheritance;
use crate::activity::Snapshot;
use crate::config::{Config, ReasonLabel};
use crate::machine::{Counters, Ended, Lease, PredecessorClaim, Step};
use crate::status::{Flushed, OffReason, Status};

/// What has changed since the engine looked last.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Changes {
    /// Whether what is wanted may have changed.
    pub(crate) changed: bool,
    /// What is wanted, if it may have changed.
    pub(crate) wanted: Option<Snapshot>,
    /// A host waits for delivery.
    pub(crate) flush: bool,
    /// Up to which flush these are all changes.
    pub(crate) asked: u64,
    /// When it must be over.
    pub(crate) close: Option<Instant>,
    /// Somebody waits for the lease, also if there is nothing to report.
    pub(crate) lease_awaited: bool,
    /// A successor of this process owns the pane now.
    pub(crate) retire: bool,
}

impl Shared {
    /// Leaves what a successor needs, if there is one.
    pub(super) fn leave(&self, claim: PredecessorClaim, lease: Option<HeldLease>) {
        if let Some(retired) = &mut self.lock().retired {
            *retired = Inheritance { claim: Some(claim), lease };
        }
    }

    /// For a successor's engine: what was on the pane, and the lease, still
    /// held.
    pub(super) fn take_inheritance(&self) -> Inheritance {
        self.lock().retired.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Resolves when a host has something new.
    pub(crate) async fn changed(&self) {
        self.engine.notified().await;
    }

    /// What is new.
    pub(crate) fn take_changes(&self) -> Changes {
        self.take(&self.config, false)
    }

    /// As [`take_changes`](Self::take_changes), for somebody who makes labels of
    /// the reasons himself and was told nothing of what changed before.
    #[cfg(unix)]
    pub(crate) fn take_facts(&self) -> Changes {
        let config = Config { reason_label: ReasonLabel::Off, ..self.config.clone() };
        self.take(&config, true)
    }

    fn take(&self, config: &Config, all: bool) -> Changes {
        let mut state = self.lock();
        // Who has not said anything yet gives nothing back.
        let spoken = self.config.leave_state || state.activity.has_spoken();
        let changed = std::mem::take(&mut state.changed) && spoken;
        let changed = changed || all;
        Changes {
            changed,
            wanted: changed.then(|| state.wanted(config)).flatten(),
            flush: state.flushes.waiting > 0,
            asked: state.flushes.asked,
            close: state.close,
            lease_awaited: state.lease_awaited,
            retire: state.retired.is_some(),
        }
    }

    /// Whatever was told is not known any more.
    #[cfg(unix)]
    pub(crate) fn tell_again(&self) {
        self.lock().changed = true;
        self.engine.notify_one();
    }

    /// How it stands with the lease.
    pub(crate) fn set_lease(&self, lease: Lease) {
        self.lock().lease = Some(lease);
        self.wake_hosts();
    }

    /// Publishes a step. If everything is done, that answers the flushes up to
    /// `asked`.
    pub(crate) fn publish(&self, step: &Step, counters: Counters, status: Status, asked: u64) {
        for receipt in &step.receipts {
            self.receipts.publish(receipt.clone());
        }
        for diagnostic in &step.diagnostics {
            self.raise(diagnostic);
        }
        let mut state = self.lock();
        state.counters = counters;
        let news = std::mem::replace(&mut state.status, status) != status;
        let done = step.quiet && !state.changed;
        if done {
            let flushed =
                if status.delivers() { Flushed::Delivered } else { Flushed::NotReporting(status) };
            state.flushes.done = Some((asked, flushed));
        }
        drop(state);
        if done || news {
            self.wake_hosts();
        }
    }

    /// It has failed; the diagnostic says why.
    pub(crate) fn fail(&self) {
        self.lock().status = Status::Off(OffReason::Failed);
    }

    /// It is over.
    pub(crate) fn end(&self, ended: Ended) {
        self.lock().ended.get_or_insert(ended);
        self.receipts.end();
        self.diagnostics.end();
        self.wake_hosts();
    }
}
