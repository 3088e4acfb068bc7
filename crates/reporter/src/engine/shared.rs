use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use herdr_program_status::AppName;
use tokio::sync::Notify;

use super::flush::Flushes;
use super::lease::HeldLease;
use crate::activity::{Activity, Refused, Snapshot};
use crate::clock::{FAR, within};
use crate::config::Config;
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::event::{AgentEvent, EventId};
use crate::feed::{Feed, Publisher};
use crate::machine::{Counters, Ended, Lease, PredecessorClaim};
use crate::receipt::Receipt;
use crate::status::{OffReason, Status};

/// What a host waits for the engine beyond what the engine was given.
const GRACE: Duration = Duration::from_millis(20);
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
    /// Wakes the engine.
    pub(super) engine: Notify,
    /// Wakes hosts that block for a flush or the end …
    blocking: Condvar,
    /// … and those that await it.
    waiting: Notify,
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
    pub(super) flushes: Flushes,
    pub(super) close: Option<Instant>,
    pub(super) ended: Option<Ended>,
    pub(super) counters: Counters,
    scopes: Scopes,
    /// How it stands with the lease, once the engine has tried.
    pub(super) lease: Option<Lease>,
    /// Somebody waits for the lease, also if there is nothing to report.
    pub(super) lease_awaited: bool,
    /// The agent is stopped, whatever its events say.
    pub(super) suspended: bool,
    pub(super) retired: Option<Inheritance>,
}

/// What the turns, tools and prompts of a host share.
#[derive(Debug, Default)]
struct Scopes {
    last_id: u64,
    main_turn: bool,
}

/// What a retired reporter leaves to its successor in this process.
#[derive(Debug, Default)]
pub(super) struct Inheritance {
    pub(super) claim: Option<PredecessorClaim>,
    pub(super) lease: Option<HeldLease>,
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
            flushes: Flushes::default(),
            close: None,
            ended: None,
            counters: Counters::default(),
            scopes: Scopes::default(),
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

    /// Whether this process is a copy of the one that it was made in. Every
    /// call of a host asks this first: in a copy there is no engine, and another
    /// thread may have held a lock for ever.
    pub(crate) fn is_forked(&self) -> bool {
        std::process::id() != self.process
    }

    pub(crate) fn record(
        &self,
        events: impl IntoIterator<Item = AgentEvent>,
    ) -> Vec<(usize, Refused)> {
        // The iterator is the host's: it may block, panic or call us.
        let events: Vec<AgentEvent> = events.into_iter().collect();
        if self.is_forked() {
            return Vec::new();
        }
        let mut state = self.lock();
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

    /// Goes on from what an earlier reporter knew.
    pub(crate) fn resume(&self, activity: Activity) {
        let mut state = self.lock();
        state.changed = activity.has_spoken();
        state.activity = activity;
    }

    /// What is known.
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

    /// Waits until the lease is held or denied; `None` if neither by then.
    pub(crate) fn wait_lease(&self, timeout: Duration) -> Option<bool> {
        self.await_lease();
        self.wait(timeout, |state| state.lease_decided())
    }

    /// Waits until the lease is held; false if the reporter ends without.
    pub(crate) async fn lease_held(&self) -> bool {
        self.await_lease();
        self.waited(|state| match state.lease_decided() {
            Some(false) if state.how_ended().is_none() => None,
            decided => decided,
        })
        .await
    }

    fn await_lease(&self) {
        if !std::mem::replace(&mut self.lock().lease_awaited, true) {
            self.engine.notify_one();
        }
    }

    /// An id that no other turn, tool or prompt of this reporter has.
    pub(crate) fn new_id(&self) -> EventId {
        if self.is_forked() {
            return EventId::default();
        }
        let mut state = self.lock();
        state.scopes.last_id += 1;
        EventId::ours(state.scopes.last_id)
    }

    /// Takes the main agent's turn, if nobody has it.
    pub(crate) fn take_main_turn(&self) -> bool {
        !self.is_forked() && !std::mem::replace(&mut self.lock().scopes.main_turn, true)
    }

    pub(crate) fn give_main_turn_back(&self) {
        if !self.is_forked() {
            self.lock().scopes.main_turn = false;
        }
    }

    pub(crate) fn is_active(&self) -> bool {
        !self.is_forked() && self.lock().how_ended().is_none()
    }

    pub(crate) fn status(&self) -> Status {
        if self.is_forked() { Status::Off(OffReason::Forked) } else { self.lock().status() }
    }

    pub(crate) fn counters(&self) -> Counters {
        if self.is_forked() { Counters::default() } else { self.lock().counters }
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

    pub(crate) fn begin_close(&self, budget: Duration) {
        if self.is_forked() {
            return;
        }
        let deadline = from_now(budget);
        let mut state = self.lock();
        if state.close.is_none_or(|close| deadline < close) {
            state.close = Some(deadline);
        }
        drop(state);
        self.wake();
    }

    pub(crate) fn wait_ended(&self, budget: Duration) -> Ended {
        self.wait(budget.saturating_add(GRACE), |state| state.how_ended())
            .unwrap_or(Ended::NotReleased)
    }

    pub(crate) async fn ended_within(&self, budget: Duration) -> Ended {
        within(budget.saturating_add(GRACE), self.ended()).await.unwrap_or(Ended::NotReleased)
    }

    pub(crate) async fn ended(&self) -> Ended {
        self.waited(|state| state.how_ended()).await
    }

    /// A successor of this process owns the pane: report nothing more, and
    /// release nothing.
    pub(crate) fn retire(&self) {
        self.lock().retired.get_or_insert_default();
        self.wake();
    }

    pub(crate) fn is_retired(&self) -> bool {
        self.lock().retired.is_some()
    }

    /// There is something new for the engine and for a terminal.
    fn wake(&self) {
        self.engine.notify_one();
        self.blocking.notify_all();
    }

    pub(super) fn wake_hosts(&self) {
        self.blocking.notify_all();
        self.waiting.notify_waiters();
    }

    pub(super) fn wait<T>(
        &self,
        timeout: Duration,
        mut done: impl FnMut(&mut State) -> Option<T>,
    ) -> Option<T> {
        let deadline = from_now(timeout);
        let mut state = self.lock();
        loop {
            if let Some(value) = done(&mut state) {
                return Some(value);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            let waited = self.blocking.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(super) async fn waited<T>(&self, mut done: impl FnMut(&mut State) -> Option<T>) -> T {
        loop {
            let mut waiting = std::pin::pin!(self.waiting.notified());
            waiting.as_mut().enable();
            if let Some(value) = done(&mut self.lock()) {
                return value;
            }
            waiting.await;
        }
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

/// The moment after `time`.
fn from_now(time: Duration) -> Instant {
    Instant::now() + time.min(FAR)
}

impl State {
    /// What the pane is to show.
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

    fn lease_decided(&self) -> Option<bool> {
        match self.lease {
            _ if self.how_ended().is_some() => Some(false),
            _ if self.status == Status::ForeignPane => Some(false),
            Some(Lease::Held) => Some(true),
            Some(Lease::Denied) => Some(false),
            _ => None,
        }
    }

    pub(super) fn how_ended(&self) -> Option<Ended> {
        if self.active { self.ended } else { Some(Ended::NothingToRelease) }
    }
}
