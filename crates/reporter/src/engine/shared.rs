use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use herdr_program_status::AppName;
use tokio::sync::Notify;

use super::owners::Inheritance;
use crate::activity::{Activity, Refused, Snapshot};
use crate::config::Config;
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::event::{AgentEvent, EventId};
use crate::feed::{Feed, Publisher};
use crate::machine::{Counters, Ended, Lease, Step};
use crate::receipt::Receipt;
use crate::status::{Flushed, OffReason, Status};

/// Most diagnostics that are kept for readers that come later.
const DIAGNOSTICS_KEPT: usize = 32;

/// What hosts and the engine share. The lock is held for folding an event and
/// never over I/O, so a call costs microseconds whatever the server does.
/// Nothing of a host's, such as its log or its executor, runs under it.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) config: Config,
    /// The agent's name for terminals.
    pub(crate) app: Option<AppName>,
    /// The process that it was made in: a copy of it has no engine.
    process: u32,
    pub(super) state: Mutex<State>,
    pub(super) engine: Notify,
    /// Wakes hosts that block for a flush or the end …
    pub(super) blocking: Condvar,
    /// … and those that await it.
    pub(super) waiting: Notify,
    pub(super) receipts: Publisher<Receipt>,
    pub(super) diagnostics: Publisher<Diagnostic>,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct State {
    pub(super) activity: Activity,
    /// The activity has changed since the engine looked.
    pub(super) changed: bool,
    /// Rises with every change, for those who look by themselves.
    pub(super) version: u64,
    /// There is an engine, or was one.
    pub(super) active: bool,
    pub(super) status: Status,
    /// Counts the calls to flush.
    pub(super) asked: u64,
    /// Those that the engine has not seen.
    pub(super) flush: bool,
    /// Up to which call everything was dealt with, and how.
    pub(super) flushed: Option<(u64, Flushed)>,
    pub(super) close: Option<Instant>,
    pub(super) ended: Option<Ended>,
    pub(super) counters: Counters,
    /// The last id of a turn, a tool or a prompt.
    last_id: u64,
    main_turn: bool,
    pub(super) lease: Option<Lease>,
    /// Somebody waits for the lease, also if there is nothing to report.
    pub(super) lease_awaited: bool,
    /// The agent is stopped, whatever its events say.
    pub(super) suspended: bool,
    pub(super) retired: Option<Inheritance>,
}

/// What has changed since the engine looked last.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Changes {
    /// Whether what is wanted may have changed.
    pub(crate) changed: bool,
    /// What is wanted, if it may have changed.
    pub(crate) wanted: Option<Snapshot>,
    pub(crate) flush: bool,
    /// Up to which flush these are all changes.
    pub(crate) asked: u64,
    pub(crate) close: Option<Instant>,
    /// Somebody waits for the lease, also if there is nothing to report.
    pub(crate) lease_awaited: bool,
    /// A successor of this process owns the pane now.
    pub(crate) retire: bool,
}

impl Shared {
    /// For a reporter that has an engine.
    pub(crate) fn new(config: Config, app: Option<AppName>) -> Arc<Self> {
        Self::with(config, app, true, Status::Reporting)
    }

    /// For a reporter that has none, and why.
    pub(crate) fn inert(config: Config, app: Option<AppName>, why: Status) -> Arc<Self> {
        Self::with(config, app, false, why)
    }

    fn with(config: Config, app: Option<AppName>, active: bool, status: Status) -> Arc<Self> {
        let state = State {
            activity: Activity::default(),
            changed: false,
            version: 0,
            active,
            status,
            asked: 0,
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
            blocking: Condvar::new(),
            waiting: Notify::new(),
            receipts: Publisher::new(0),
            diagnostics: Publisher::new(DIAGNOSTICS_KEPT),
        })
    }

    /// Whether this process is a copy of the one that it was made in.
    pub(crate) fn is_forked(&self) -> bool {
        std::process::id() != self.process
    }

    /// What a host's call works on; nothing in a copy of the process, where
    /// there is no engine, and another thread may have held the lock for ever.
    pub(super) fn live(&self) -> Option<MutexGuard<'_, State>> {
        (!self.is_forked()).then(|| self.lock())
    }

    pub(crate) fn record(
        &self,
        events: impl IntoIterator<Item = AgentEvent>,
    ) -> Vec<(usize, Refused)> {
        // The iterator is the host's: it may block, panic or call us.
        let events: Vec<AgentEvent> = events.into_iter().collect();
        let Some(mut state) = self.live() else { return Vec::new() };
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
                "a newer reporter of this process owns the pane; this one reports no more",
            ));
        }
        if let Some((_, problem)) = refused.first() {
            self.raise_once(&Diagnostic::new(DiagnosticKind::Limit, problem.without_names()));
        }
        refused
    }

    pub(crate) fn resume(&self, activity: Activity) {
        let mut state = self.lock();
        state.changed = activity.has_spoken();
        state.activity = activity;
    }

    pub(crate) fn activity(&self) -> Activity {
        self.lock().activity.clone()
    }

    /// Shows the agent as stopped, or what its events say again.
    pub(crate) fn suspend(&self, suspended: bool) {
        let mut state = self.lock();
        if std::mem::replace(&mut state.suspended, suspended) != suspended {
            state.changed = true;
            state.version += 1;
            drop(state);
            self.wake();
        }
    }

    /// An id that no other turn, tool or prompt of this reporter has.
    pub(crate) fn new_id(&self) -> EventId {
        let Some(mut state) = self.live() else { return EventId::default() };
        state.last_id += 1;
        EventId::ours(state.last_id)
    }

    /// Takes the main agent's turn, if nobody has it.
    pub(crate) fn take_main_turn(&self) -> bool {
        self.live().is_some_and(|mut state| !std::mem::replace(&mut state.main_turn, true))
    }

    pub(crate) fn give_main_turn_back(&self) {
        if let Some(mut state) = self.live() {
            state.main_turn = false;
        }
    }

    pub(crate) fn is_active(&self) -> bool {
        self.live().is_some_and(|state| state.how_ended().is_none())
    }

    pub(crate) fn status(&self) -> Status {
        self.live().map_or(Status::Off(OffReason::Forked), |state| state.status())
    }

    pub(crate) fn counters(&self) -> Counters {
        self.live().map_or_else(Counters::default, |state| state.counters)
    }

    pub(crate) fn receipts(&self) -> Feed<Receipt> {
        if self.is_forked() { Feed::over() } else { self.receipts.subscribe() }
    }

    pub(crate) fn diagnostics(&self) -> Feed<Diagnostic> {
        if self.is_forked() { Feed::over() } else { self.diagnostics.subscribe() }
    }

    /// Tells a diagnostic to whoever listens, now or later.
    pub(crate) fn raise(&self, diagnostic: &Diagnostic) {
        self.diagnostics.publish(diagnostic.clone());
        log(diagnostic);
    }

    /// As [`raise`](Self::raise), unless one of its kind was told before.
    pub(crate) fn raise_once(&self, diagnostic: &Diagnostic) {
        let like = |told: &Diagnostic| told.kind == diagnostic.kind;
        if self.diagnostics.publish_unless(diagnostic.clone(), like) {
            log(diagnostic);
        }
    }

    pub(crate) async fn changed(&self) {
        self.engine.notified().await;
    }

    pub(crate) fn take_changes(&self) -> Changes {
        self.take(&self.config, false)
    }

    /// With `all`, what is wanted counts as changed.
    pub(super) fn take(&self, config: &Config, all: bool) -> Changes {
        let mut state = self.lock();
        // Who has not said anything yet gives nothing back.
        let spoken = self.config.leave_state || state.activity.has_spoken();
        let changed = std::mem::take(&mut state.changed) && spoken;
        let changed = changed || all;
        Changes {
            changed,
            wanted: changed.then(|| state.wanted(config)).flatten(),
            flush: std::mem::take(&mut state.flush),
            asked: state.asked,
            close: state.close,
            lease_awaited: state.lease_awaited,
            retire: state.retired.is_some(),
        }
    }

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
            state.flushed = Some((asked, flushed));
        }
        drop(state);
        if done || news {
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

    /// There is something new for the engine and for a terminal.
    pub(super) fn wake(&self) {
        self.engine.notify_one();
        self.blocking.notify_all();
    }

    pub(super) fn wake_hosts(&self) {
        self.blocking.notify_all();
        self.waiting.notify_waiters();
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // A host that panicked while folding leaves a state that can be
        // reported; the pane must not be left with an older one for it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Logs a diagnostic. The log is the host's: it may block, call us, or panic.
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
