//! What the engine takes from its hosts, and what it gives back.

use std::fs::File;
use std::time::Instant;

use herdr_socket_transport::Endpoint;

use super::Shared;
use super::shared::Succession;
use crate::activity::Snapshot;
use crate::lease::LeaseFile;
use crate::machine::{Counters, Ended, PredecessorClaim, Step};

/// What the engine takes over when it is woken.
#[derive(Debug, Default)]
pub(crate) struct News {
    /// Whether what is wanted may have changed.
    pub(crate) changed: bool,
    /// What is wanted, if it may have changed.
    pub(crate) wanted: Option<Snapshot>,
    /// A host waits for delivery.
    pub(crate) flush: bool,
    /// When it must be over.
    pub(crate) close: Option<Instant>,
    /// A successor of this process owns the pane now.
    pub(crate) retire: bool,
}

impl Shared {
    pub(crate) fn lease_of(&self, pane: &Endpoint) -> LeaseFile {
        LeaseFile::of_pane(&self.config, pane)
    }

    /// Leaves what a successor needs, if there is one.
    pub(crate) fn leave(&self, legacy: PredecessorClaim, lease: Option<File>) {
        if let Some(succession) = &mut self.lock().succession {
            *succession = Succession { legacy: Some(legacy), lease };
        }
    }

    /// For a successor's engine: what was on the pane.
    pub(crate) fn take_legacy(&self) -> Option<PredecessorClaim> {
        self.lock().succession.as_mut()?.legacy.take()
    }

    /// For a successor's engine: the lease, still held.
    pub(crate) fn take_lease(&self) -> Option<File> {
        self.lock().succession.as_mut()?.lease.take()
    }

    /// Resolves when a host has something new.
    pub(crate) async fn news(&self) {
        self.engine.notified().await;
    }

    /// What is new.
    pub(crate) fn take_news(&self) -> News {
        let mut state = self.lock();
        // Who has not said anything yet gives nothing back.
        let spoken = self.config.leave_state || state.activity.has_spoken();
        let changed = std::mem::take(&mut state.changed) && spoken;
        News {
            changed,
            wanted: changed.then(|| state.wanted(&self.config)).flatten(),
            flush: state.flushes.any_open(),
            close: state.close,
            retire: state.succession.is_some(),
        }
    }

    /// As [`take_news`](Self::take_news), for somebody who makes labels of the
    /// reasons himself.
    #[cfg(unix)]
    pub(crate) fn take_facts(&self) -> News {
        let mut config = self.config.clone();
        config.reason_label = crate::config::ReasonLabel::Off;
        let mut state = self.lock();
        // Whatever changed before was not told to him.
        state.changed = false;
        News {
            changed: true,
            wanted: state.wanted(&config),
            flush: false,
            close: state.close,
            retire: state.succession.is_some(),
        }
    }

    /// Whatever was told is not known any more.
    #[cfg(unix)]
    pub(crate) fn tell_again(&self) {
        self.lock().changed = true;
        self.engine.notify_one();
    }

    /// Publishes a step; `quiet` answers the flushes.
    pub(crate) fn publish(&self, step: &Step, counters: Counters) {
        for receipt in &step.receipts {
            self.telling.receipt(receipt);
        }
        for diagnostic in &step.diagnostics {
            self.raise(diagnostic.clone());
        }
        let mut state = self.lock();
        state.counters = counters;
        let quiet = step.quiet && !state.changed;
        let flushed = state.flushes.settle(quiet, Instant::now());
        drop(state);
        if flushed {
            self.wake_hosts();
        }
    }

    /// When the next flush gives up.
    pub(crate) fn next_flush_timeout(&self) -> Option<Instant> {
        self.lock().flushes.next_timeout()
    }

    /// It is over.
    pub(crate) fn end(&self, ended: Ended) {
        let mut state = self.lock();
        state.ended.get_or_insert(ended);
        state.flushes.end();
        drop(state);
        self.telling.end();
        self.wake_hosts();
    }
}
