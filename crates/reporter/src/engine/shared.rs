use std::fs::File;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::flushes::Flushes;
use super::telling::Telling;
use crate::activity::{Activity, Refused, Snapshot};
use crate::config::Config;
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::event::{AgentEvent, EventId};
use crate::feed::Feed;
use crate::machine::{Counters, Ended, Lease, PredecessorClaim};
use crate::receipt::Receipt;

/// What a host waits for the engine beyond what the engine was given.
const GRACE: Duration = Duration::from_millis(20);

/// What hosts and the engine share. The lock is held for folding an event and
/// never over I/O, so a call costs microseconds whatever the server does.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(super) config: Config,
    pub(super) state: Mutex<State>,
    /// Wakes the engine.
    pub(super) engine: Notify,
    /// Wakes hosts that block for a flush or the end …
    pub(super) blocking: Condvar,
    /// … and those that await it.
    pub(super) waiting: Notify,
    pub(super) telling: Telling,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) activity: Activity,
    /// The activity has changed since the engine looked.
    pub(super) changed: bool,
    /// There is an engine, or was one.
    pub(super) active: bool,
    pub(super) flushes: Flushes,
    pub(super) close: Option<Instant>,
    pub(super) ended: Option<Ended>,
    pub(super) counters: Counters,
    pub(super) guards: Guards,
    /// How it stands with the lease, once the engine has tried.
    pub(super) lease: Option<Lease>,
    /// The agent is stopped, whatever its events say.
    pub(super) suspended: bool,
    pub(super) succession: Option<Succession>,
}

/// What the guards of a host share.
#[derive(Debug, Default)]
pub(super) struct Guards {
    last_id: u64,
    main_turn: bool,
}

/// What a retired reporter leaves to its successor in this process.
#[derive(Debug, Default)]
pub(super) struct Succession {
    pub(super) legacy: Option<PredecessorClaim>,
    pub(super) lease: Option<File>,
}

impl Shared {
    pub(crate) fn new(config: Config, active: bool) -> Arc<Self> {
        Arc::new(Self {
            config,
            state: Mutex::new(State { active, ..State::default() }),
            engine: Notify::new(),
            blocking: Condvar::new(),
            waiting: Notify::new(),
            telling: Telling::default(),
        })
    }

    pub(crate) fn record(
        &self,
        events: impl IntoIterator<Item = AgentEvent>,
    ) -> Vec<(usize, Refused)> {
        // The iterator is the host's: it may block, panic or call us.
        let events: Vec<AgentEvent> = events.into_iter().collect();
        let mut state = self.lock();
        let mut refused = Vec::new();
        for (index, event) in events.into_iter().enumerate() {
            if let Err(problem) = state.activity.apply(event) {
                refused.push((index, problem));
            }
            state.changed = true;
        }
        let retired = state.succession.is_some();
        drop(state);
        self.engine.notify_one();
        if retired {
            self.raise_once(Diagnostic::new(
                DiagnosticKind::StaleOwner,
                "a newer reporter of this process owns the pane; this one reports no more",
            ));
        }
        if let Some((_, problem)) = refused.first() {
            self.raise_once(Diagnostic::new(DiagnosticKind::Limit, problem.without_names()));
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
            drop(state);
            self.engine.notify_one();
        }
    }

    /// For the engine: how it stands with the lease.
    pub(crate) fn set_lease(&self, lease: Lease) {
        self.lock().lease = Some(lease);
        self.wake_hosts();
    }

    /// Waits until the lease is held or denied; `None` if neither by then.
    pub(crate) fn wait_lease(&self, timeout: Duration) -> Option<bool> {
        self.wait(timeout, |state| state.lease_decided())
    }

    /// Waits until the lease is held; false if the reporter ends without.
    pub(crate) async fn lease_held(&self) -> bool {
        self.waited(|state| match state.lease_decided() {
            Some(false) if state.how_ended().is_none() => None,
            decided => decided,
        })
        .await
    }

    /// An id that no other guard of this reporter has.
    pub(crate) fn new_id(&self) -> EventId {
        let mut state = self.lock();
        state.guards.last_id += 1;
        EventId::ours(state.guards.last_id)
    }

    /// Takes the main agent's turn, if no other guard has it.
    pub(crate) fn take_main_turn(&self) -> bool {
        !std::mem::replace(&mut self.lock().guards.main_turn, true)
    }

    pub(crate) fn give_main_turn_back(&self) {
        self.lock().guards.main_turn = false;
    }

    pub(crate) fn is_active(&self) -> bool {
        let state = self.lock();
        state.active && state.ended.is_none()
    }

    pub(crate) fn counters(&self) -> Counters {
        self.lock().counters
    }

    pub(crate) fn receipts(&self) -> Feed<Receipt> {
        self.telling.receipts(!self.is_active())
    }

    pub(crate) fn diagnostics(&self) -> Feed<Diagnostic> {
        self.telling.diagnostics(!self.is_active())
    }

    pub(crate) fn raise(&self, diagnostic: Diagnostic) {
        self.telling.raise(diagnostic);
    }

    pub(crate) fn raise_once(&self, diagnostic: Diagnostic) {
        self.telling.raise_once(diagnostic);
    }

    /// Asks for a flush; `None` if there is no engine to do it.
    pub(crate) fn begin_flush(&self, timeout: Duration) -> Option<u64> {
        let mut state = self.lock();
        if !state.active || state.ended.is_some() {
            return None;
        }
        let ticket = state.flushes.begin(from_now(timeout));
        drop(state);
        self.engine.notify_one();
        Some(ticket)
    }

    pub(crate) fn wait_flush(&self, ticket: u64, timeout: Duration) -> bool {
        let done = |state: &mut State| state.flushes.take(ticket);
        self.wait(timeout.saturating_add(GRACE), done).unwrap_or(false)
    }

    /// Nobody waits for this flush any more.
    pub(crate) fn forget_flush(&self, ticket: u64) {
        self.lock().flushes.forget(ticket);
    }

    pub(crate) async fn flushed(&self, ticket: u64) -> bool {
        self.waited(|state| state.flushes.take(ticket)).await
    }

    pub(crate) fn begin_close(&self, budget: Duration) {
        let deadline = from_now(budget);
        let mut state = self.lock();
        let sooner = state.close.is_none_or(|close| deadline < close);
        if sooner {
            state.close = Some(deadline);
        }
        drop(state);
        self.engine.notify_one();
    }

    pub(crate) fn wait_ended(&self, budget: Duration) -> Ended {
        self.wait(budget.saturating_add(GRACE), |state| state.how_ended())
            .unwrap_or(Ended::NotReleased)
    }

    pub(crate) async fn ended(&self) -> Ended {
        self.waited(|state| state.how_ended()).await
    }

    /// A successor of this process owns the pane: report nothing more, and
    /// release nothing.
    pub(crate) fn retire(&self) {
        self.lock().succession.get_or_insert_default();
        self.engine.notify_one();
    }

    pub(crate) fn is_retired(&self) -> bool {
        self.lock().succession.is_some()
    }

    pub(super) fn wake_hosts(&self) {
        self.blocking.notify_all();
        self.waiting.notify_waiters();
    }

    fn wait<T>(
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

    async fn waited<T>(&self, mut done: impl FnMut(&mut State) -> Option<T>) -> T {
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
        // A host that panicked while folding leaves a state that is still a
        // state; the pane must not be left with an older one for it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The moment after `time`; a clock cannot hold every [`Duration`].
fn from_now(time: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    Instant::now() + time.min(FAR)
}

impl State {
    /// What the pane is to show.
    pub(super) fn wanted(&self, config: &Config) -> Option<Snapshot> {
        let snapshot = self.activity.snapshot(config)?;
        Some(if self.suspended { snapshot.suspended() } else { snapshot })
    }

    fn lease_decided(&self) -> Option<bool> {
        match self.lease {
            _ if self.how_ended().is_some() => Some(false),
            Some(Lease::Held) => Some(true),
            Some(Lease::Denied) => Some(false),
            _ => None,
        }
    }

    fn how_ended(&self) -> Option<Ended> {
        if self.active { self.ended } else { Some(Ended::NothingToRelease) }
    }
}
