//! The state that all threads of a server share.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::fault::{Fault, Faults};
use super::line;
use super::log::Log;
use super::queue::Queue;
use super::waker::Waker;
use crate::model::Model;

/// The state that changes. It has one lock, as Herdr has one application thread.
#[derive(Debug)]
pub(super) struct State {
    pub(super) model: Model,
    pub(super) log: Log,
    pub(super) faults: Faults,
    /// Ends every connection of the current process behind the socket.
    hangup: Arc<Waker>,
    stopped: bool,
    ended: bool,
    /// Why there is no socket at the path although there should be one.
    pub(super) unbound: Option<String>,
    /// The number of changes so far.
    changes: u64,
    /// The number of changes that the listener has applied to the socket.
    applied: u64,
    #[cfg(feature = "pty")]
    pub(super) terminals: Option<super::pty::Terminals>,
}

impl State {
    /// Whether a process listens at the socket.
    fn is_up(&self) -> bool {
        !self.faults.has(&Fault::Gone) && !self.faults.has(&Fault::Refusing)
    }
}

#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    /// The order in which requests are handled.
    pub(super) app: Queue,
    changed: Condvar,
    started: Instant,
    path: PathBuf,
    /// Connections look for their request only every 100 ms.
    pub(super) polls: bool,
    /// Wakes the listener when the state has changed.
    waker: Waker,
}

impl Shared {
    pub(super) fn new(
        model: Model,
        faults: Faults,
        path: PathBuf,
        polls: bool,
    ) -> io::Result<Self> {
        Ok(Self {
            state: Mutex::new(State {
                model,
                log: Log::default(),
                faults,
                hangup: Arc::new(Waker::new()?),
                stopped: false,
                changes: 0,
                applied: 0,
                ended: false,
                unbound: None,
                #[cfg(feature = "pty")]
                terminals: None,
            }),
            app: Queue::default(),
            changed: Condvar::new(),
            started: Instant::now(),
            path,
            polls,
            waker: Waker::new()?,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    pub(super) fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Locks the state. A panic leaves it usable, because at worst one request is
    /// only half applied.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wait_for_change<'a>(
        &self,
        state: MutexGuard<'a, State>,
        longest: Duration,
    ) -> MutexGuard<'a, State> {
        self.changed.wait_timeout(state, longest).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Changes the state and notifies all threads that wait for a change.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut State, Duration) -> T) -> T {
        let mut state = self.lock();
        let (generation, up) = (state.model.generation(), state.is_up());
        let result = work(&mut state, self.now());
        state.changes += 1;
        let another_process = state.model.generation() != generation;
        if another_process || up && !state.is_up() {
            // If there is no new waker, the old connections stay open: the old waker
            // would also end the connections of the new process.
            if let Ok(fresh) = Waker::new() {
                std::mem::replace(&mut state.hangup, Arc::new(fresh)).wake_forever();
            }
        }
        #[cfg(feature = "pty")]
        super::pty::update_programs(&mut state);
        drop(state);
        self.changed.notify_all();
        self.waker.wake();
        result
    }

    /// Numbers a new connection and returns the waker that ends it.
    pub(super) fn accept(&self) -> (u64, Arc<Waker>) {
        let mut state = self.lock();
        let number = state.log.accept();
        let hangup = Arc::clone(&state.hangup);
        drop(state);
        self.changed.notify_all();
        (number, hangup)
    }

    /// Waits while the server is frozen; `false` if the process behind this
    /// connection ends before it thaws.
    pub(super) fn wait_for_thaw(&self, hangup: &UnixStream) -> bool {
        let mut state = self.lock();
        while state.faults.has(&Fault::Frozen) {
            if state.stopped || line::wait(hangup, None, Duration::ZERO) {
                return false;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        true
    }

    /// Waits until the server has ended and its socket is gone.
    pub(super) fn wait_for_end(&self) {
        drop(self.changed.wait_while(self.lock(), |state| !state.ended));
    }

    /// Changes the state and waits until the listener has applied it to the socket.
    pub(super) fn with_socket<T>(&self, work: impl FnOnce(&mut State, Duration) -> T) -> T {
        let result = self.with(work);
        let state = self.lock();
        let changes = state.changes;
        drop(
            self.changed.wait_while(state, |state| {
                state.applied < changes && !state.stopped && !state.ended
            }),
        );
        result
    }

    /// Records that the listener has applied a target, or why it has failed to.
    pub(super) fn set_applied(&self, target: Target, failure: Option<io::Error>) {
        let mut state = self.lock();
        state.applied = target.changes;
        state.unbound = failure.map(|error| error.to_string());
        drop(state);
        self.changed.notify_all();
    }

    /// Records that the server has ended and its socket is gone.
    pub(super) fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_all();
    }

    /// The target state of the listener.
    pub(super) fn target(&self) -> Target {
        let state = self.lock();
        let has = |fault: &Fault| state.faults.has(fault);
        Target {
            changes: state.changes,
            stop: state.stopped || state.model.is_stopping(),
            generation: state.model.generation(),
            socket: if has(&Fault::Gone) {
                Socket::Gone
            } else if has(&Fault::Refusing) {
                Socket::Refusing
            } else {
                Socket::Listening
            },
            accepts: !has(&Fault::Frozen) && !has(&Fault::FullBacklog),
            full_backlog: has(&Fault::FullBacklog),
        }
    }

    /// Makes every thread of the server end; does not wait for them.
    pub(super) fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        state.hangup.wake_forever();
        drop(state);
        self.changed.notify_all();
        self.waker.wake();
    }
}

/// The variables that Herdr sets in a pane.
pub(super) fn environment(
    model: &Model,
    socket: &Path,
    pane: &str,
) -> Option<Vec<(String, String)>> {
    let (workspace, tab, pane) = model.address_of(pane)?;
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("herdr"));
    let text = |path: &Path| path.to_string_lossy().into_owned();
    // A program in the pane can have another working folder.
    let socket = &std::path::absolute(socket).unwrap_or_else(|_| socket.to_owned());
    let variables = vec![
        ("HERDR_ENV".to_owned(), "1".to_owned()),
        ("HERDR_SOCKET_PATH".to_owned(), text(socket)),
        ("HERDR_BIN_PATH".to_owned(), text(&program)),
        ("HERDR_WORKSPACE_ID".to_owned(), workspace),
        ("HERDR_TAB_ID".to_owned(), tab),
        ("HERDR_PANE_ID".to_owned(), pane),
    ];
    Some(variables)
}

/// The target state of the socket at the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Socket {
    Listening,
    /// The file exists, and no process listens at it.
    Refusing,
    /// The file does not exist.
    Gone,
}

/// The target state of the listener, which follows from the shared state.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    pub(super) changes: u64,
    pub(super) stop: bool,
    pub(super) generation: u64,
    pub(super) socket: Socket,
    pub(super) accepts: bool,
    pub(super) full_backlog: bool,
}
