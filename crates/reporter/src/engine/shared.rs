use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use herdr_program_status::AppName;
use tokio::sync::Notify;

use super::owners::Inheritance;
use crate::activity::{Activity, Refused, Snapshot};
use crate::config::Config;
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::event::{AgentEvent, EventId};
use crate::feed::Publisher;
use crate::machine::{Counters, Ended, Lease, Step};
use crate::receipt::Receipt;
use crate::status::{Flushed, OffReason, Status};

/// The most diagnostics that are kept for later readers.
const DIAGNOSTICS_KEPT: usize = 32;

/// What hosts and the engine share. The lock is held while an event is folded and never during I/O,
/// so a call takes microseconds whatever the server does. No code of the host, such as its log or
/// its executor, runs under the lock.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) config: Config,
    /// The agent's name for terminals.
    pub(crate) app: Option<AppName>,
    /// The process that made this value. A forked copy of it has no engine.
    process: u32,
    pub(super) state: Mutex<State>,
    pub(super) engine: Notify,
    /// Wakes callers that block.
    pub(super) blocking_waiters: Condvar,
    /// Wakes callers that await.
    pub(super) async_waiters: Notify,
    pub(crate) receipts: Publisher<Receipt>,
    pub(crate) diagnostics: Publisher<Diagnostic>,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct State {
    pub(super) activity: Activity,
    /// The activity has changed since the engine last took the changes.
    pub(super) changed: bool,
    /// Rises with every change, for readers that poll.
    pub(super) version: u64,
    /// The reporter has an engine, or had one.
    pub(super) active: bool,
    pub(super) status: Status,
    /// The number of the last call to flush.
    pub(super) last_flush: u64,
    /// The engine has not seen the last call to flush.
    pub(super) flush: bool,
    /// The last flush that is done, and its result.
    pub(super) flushed: Option<(u64, Flushed)>,
    pub(super) close: Option<Instant>,
    pub(super) ended: Option<Ended>,
    pub(super) counters: Counters,
    /// The last id of a turn, a tool or a prompt.
    last_id: u64,
    main_turn: bool,
    pub(super) lease: Option<Lease>,
    /// A caller waits for the lease, even if there is nothing to report.
    pub(super) lease_awaited: bool,
    /// The agent's process is stopped, whatever its events say.
    pub(super) suspended: bool,
    pub(super) retired: Option<Inheritance>,
}

/// What has changed since the engine last took the changes.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Changes {
    /// Whether what is wanted may have changed.
    pub(crate) changed: bool,
    /// What is wanted, if it may have changed.
    pub(crate) wanted: Option<Snapshot>,
    pub(crate) flush: bool,
    /// The last flush that these changes belong to.
    pub(crate) last_flush: u64,
    pub(crate) close: Option<Instant>,
    pub(crate) lease_awaited: bool,
    /// A successor in this process owns the pane now.
    pub(crate) retire: bool,
}

impl Shared {
    /// `inert` is why the reporter has no engine; `None` if it has one.
    pub(crate) fn new(
        config: Config,
        app: Option<AppName>,
        activity: Activity,
        inert: Option<Status>,
    ) -> Arc<Self> {
        let state = State {
            changed: activity.has_spoken(),
            activity,
            version: 0,
            active: inert.is_none(),
            status: inert.unwrap_or(Status::Reporting),
            last_flush: 0,
            flush: false,
            flushed: None,
            close: None,
            ended: None,
            counters: Counters::default(),
            last_id: 0,
            main_turn: false,
            lease: None,
            lease_awaited: false,
            suspended: false,
            retired: None,
        };
        Arc::new(Self {
            config,
            app,
            process: std::process::id(),
            state: Mutex::new(state),
            engine: Notify::new(),
            blocking_waiters: Condvar::new(),
            async_waiters: Notify::new(),
            receipts: Publisher::new(0),
            diagnostics: Publisher::new(DIAGNOSTICS_KEPT),
        })
    }

    /// Whether this process is a forked copy of the process that made this value.
    pub(crate) fn is_forked(&self) -> bool {
        std::process::id() != self.process
    }

    /// The state, for the host's calls. `None` in a forked copy of the process: it has no engine,
    /// and a thread that does not exist there may hold the lock forever.
    pub(super) fn lock_unless_forked(&self) -> Option<MutexGuard<'_, State>> {
        (!self.is_forked()).then(|| self.lock())
    }

    pub(crate) fn record(
        &self,
        events: impl IntoIterator<Item = AgentEvent>,
    ) -> Vec<(usize, Refused)> {
        // The host's iterator may block, panic or call this reporter, so it runs before the lock is
        // taken.
        let events: Vec<AgentEvent> = events.into_iter().collect();
        let Some(mut state) = self.lock_unless_forked() else { return Vec::new() };
        let mut refused = Vec::new();
        for (index, event) in events.into_iter().enumerate() {
            if let Err(problem) = state.activity.apply(event) {
                refused.push((index, problem));
            }
            state.changed = true;
            state.version += 1;
        }
        let retired = state.retired.is_some();
        drop(state);
        self.wake();
        if retired {
            self.raise_once(&Diagnostic::new(
                DiagnosticKind::StaleOwner,
                "a newer reporter of this process owns the pane; this one reports nothing more",
            ));
        }
        if let Some((_, problem)) = refused.first() {
            self.raise_once(&Diagnostic::new(DiagnosticKind::Limit, problem.without_names()));
        }
        refused
    }

    pub(crate) fn activity(&self) -> Activity {
        self.lock().activity.clone()
    }

    /// Shows the agent as stopped, or shows what its events say again.
    pub(crate) fn suspend(&self, suspended: bool) {
        let mut state = self.lock();
        if std::mem::replace(&mut state.suspended, suspended) != suspended {
            state.changed = true;
            state.version += 1;
            drop(state);
            self.wake();
        }
    }

    /// A new id for a turn, a tool or a prompt.
    pub(crate) fn new_id(&self) -> EventId {
        let Some(mut state) = self.lock_unless_forked() else { return EventId::default() };
        state.last_id += 1;
        EventId::internal(state.last_id)
    }

    /// Takes the main agent's turn, unless another [`Turn`](crate::Turn) has it.
    pub(crate) fn take_main_turn(&self) -> bool {
        self.lock_unless_forked()
            .is_some_and(|mut state| !std::mem::replace(&mut state.main_turn, true))
    }

    pub(crate) fn give_main_turn_back(&self) {
        if let Some(mut state) = self.lock_unless_forked() {
            state.main_turn = false;
        }
    }

    pub(crate) fn is_active(&self) -> bool {
        self.lock_unless_forked().is_some_and(|state| state.how_ended().is_none())
    }

    pub(crate) fn status(&self) -> Status {
        self.lock_unless_forked().map_or(Status::Off(OffReason::Forked), |state| state.status())
    }

    pub(crate) fn counters(&self) -> Counters {
        self.lock_unless_forked().map_or_else(Counters::default, |state| state.counters)
    }

    /// Publishes a diagnostic to the present and later readers, and logs it.
    pub(crate) fn raise(&self, diagnostic: &Diagnostic) {
        self.diagnostics.publish(diagnostic.clone());
        log(diagnostic);
    }

    /// As [`raise`](Self::raise), unless a diagnostic of this kind is still kept.
    pub(crate) fn raise_once(&self, diagnostic: &Diagnostic) {
        let same_kind = |kept: &Diagnostic| kept.kind == diagnostic.kind;
        if self.diagnostics.publish_unless(diagnostic.clone(), same_kind) {
            log(diagnostic);
        }
    }

    pub(crate) async fn changed(&self) {
        self.engine.notified().await;
    }

    /// Takes the changes. With `all`, the wanted snapshot counts as changed.
    pub(super) fn take_changes(&self, config: &Config, all: bool) -> Changes {
        let mut state = self.lock();
        // A host that has not said anything yet does not give the pane back.
        let spoken = self.config.leave_state || state.activity.has_spoken();
        let changed = (std::mem::take(&mut state.changed) && spoken) || all;
        Changes {
            changed,
            wanted: changed.then(|| state.wanted(config)).flatten(),
            flush: std::mem::take(&mut state.flush),
            last_flush: state.last_flush,
            close: state.close,
            lease_awaited: state.lease_awaited,
            retire: state.retired.is_some(),
        }
    }

    pub(crate) fn set_lease(&self, lease: Lease) {
        self.lock().lease = Some(lease);
        self.wake_hosts();
    }

    /// Publishes the results of a step. If nothing is left to do, the flushes up to `last_flush`
    /// are done.
    pub(crate) fn publish(&self, step: &Step, counters: Counters, status: Status, last_flush: u64) {
        for receipt in &step.receipts {
            self.receipts.publish(receipt.clone());
        }
        for diagnostic in &step.diagnostics {
            self.raise(diagnostic);
        }
        let mut state = self.lock();
        state.counters = counters;
        let new_status = std::mem::replace(&mut state.status, status) != status;
        let done = step.quiet && !state.changed;
        if done {
            let flushed =
                if status.delivers() { Flushed::Delivered } else { Flushed::NotReporting(status) };
            state.flushed = Some((last_flush, flushed));
        }
        drop(state);
        if done || new_status {
            self.wake_hosts();
        }
    }

    pub(crate) fn fail(&self) {
        self.lock().status = Status::Off(OffReason::Failed);
    }

    pub(crate) fn end(&self, ended: Ended) {
        self.lock().ended.get_or_insert(ended);
        self.receipts.end();
        self.diagnostics.end();
        self.wake_hosts();
    }

    /// Wakes the engine and the threads that write to terminals.
    pub(super) fn wake(&self) {
        self.engine.notify_one();
        self.blocking_waiters.notify_all();
    }

    pub(super) fn wake_hosts(&self) {
        self.blocking_waiters.notify_all();
        self.async_waiters.notify_waiters();
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // If a thread of the host has panicked under the lock, the state can still be reported, and
        // the pane must not be left with an older one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Logs a diagnostic. The host's log may block, panic or call this reporter, so the lock must not
/// be held.
fn log(diagnostic: &Diagnostic) {
    tracing::warn!(kind = diagnostic.kind.as_str(), detail = %diagnostic.detail);
}

impl State {
    pub(super) fn wanted(&self, config: &Config) -> Option<Snapshot> {
        let snapshot = self.activity.snapshot(config)?;
        Some(if self.suspended { snapshot.suspended() } else { snapshot })
    }

    pub(super) fn status(&self) -> Status {
        if self.retired.is_some() {
            Status::Off(OffReason::NewerReporter)
        } else if self.active && self.ended.is_some() && !matches!(self.status, Status::Off(_)) {
            Status::Ended
        } else {
            self.status
        }
    }

    pub(super) fn how_ended(&self) -> Option<Ended> {
        if self.active { self.ended } else { Some(Ended::NothingToRelease) }
    }
}
