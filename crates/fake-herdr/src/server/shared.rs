//! The state that all threads of a server share.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::alarm::Alarm;
use super::fault::{Fault, Faults};
use super::line;
use super::log::Log;
use super::queue::Queue;
use crate::model::Model;

/// The state behind one lock, as Herdr has one application thread.
#[derive(Debug)]
pub(super) struct State {
    pub(super) model: Model,
    pub(super) log: Log,
    pub(super) faults: Faults,
    /// Ends every connection of the present server process.
    hangup: Arc<Alarm>,
    stopped: bool,
    ended: bool,
    /// Why there is no socket although there should be one.
    pub(super) unbound: Option<String>,
    /// Counts the changes, and up to which of them the listener has followed.
    changes: u64,
    followed: u64,
    #[cfg(feature = "pty")]
    pub(super) terminals: Option<super::pty::Terminals>,
}

impl State {
    /// Whether a server process listens.
    fn is_up(&self) -> bool {
        !self.faults.has(&Fault::Gone) && !self.faults.has(&Fault::Refusing)
    }
}

#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    /// Requests wait here for their turn.
    pub(super) app: Queue,
    changed: Condvar,
    started: Instant,
    path: PathBuf,
    /// Whether input that is not there at once is looked for every 100 ms.
    pub(super) polls: bool,
    /// Wakes the listener.
    bell: Alarm,
}

impl Shared {
    pub(super) fn new(
        model: Model,
        faults: Faults,
        path: PathBuf,
        polls: bool,
    ) -> io::Result<Self> {
        let hangup = Arc::new(Alarm::new()?);
        let log = Log::default();
        Ok(Self {
            state: Mutex::new(State {
                model,
                log,
                faults,
                hangup,
                stopped: false,
                changes: 0,
                followed: 0,
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
            bell: Alarm::new()?,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    pub(super) fn bell(&self) -> &Alarm {
        &self.bell
    }

    /// If a thread panicked, the model may at worst be between two requests.
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

    /// Changes the state and wakes all threads that wait for it.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut State, Duration) -> T) -> T {
        let mut state = self.lock();
        let (generation, up) = (state.model.generation(), state.is_up());
        let result = work(&mut state, self.now());
        state.changes += 1;
        let another_process = state.model.generation() != generation;
        if another_process || up && !state.is_up() {
            // Without a new alarm, the old one would also end the connections of the new
            // process. In that case the old connections stay open.
            if let Ok(fresh) = Alarm::new() {
                std::mem::replace(&mut state.hangup, Arc::new(fresh)).ring_for_good();
            }
        }
        #[cfg(feature = "pty")]
        super::pty::follow(&mut state);
        drop(state);
        self.changed.notify_all();
        self.bell.ring();
        result
    }

    /// Counts a connection, and returns the alarm that ends it.
    pub(super) fn accept(&self) -> (u64, Arc<Alarm>) {
        let mut state = self.lock();
        let number = state.log.accept();
        let hangup = Arc::clone(&state.hangup);
        drop(state);
        self.changed.notify_all();
        (number, hangup)
    }

    /// Waits while the server is frozen. Returns false if the server process of this connection
    /// ends before that.
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

    /// Waits until the socket is gone for good.
    pub(super) fn wait_for_end(&self) {
        let mut state = self.lock();
        while !state.ended {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Changes the state, and waits until the socket has been changed accordingly.
    pub(super) fn with_socket<T>(&self, work: impl FnOnce(&mut State, Duration) -> T) -> T {
        let result = self.with(work);
        let mut state = self.lock();
        let changes = state.changes;
        while state.followed < changes && !state.stopped && !state.ended {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        result
    }

    /// Records that the listener has changed the socket, or could not.
    pub(super) fn follow(&self, wish: Wish, failure: Option<io::Error>) {
        let mut state = self.lock();
        state.followed = wish.changes;
        state.unbound = failure.map(|error| error.to_string());
        drop(state);
        self.changed.notify_all();
    }

    /// Records that the socket is gone for good.
    pub(super) fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_all();
    }

    /// What the listener has to do.
    pub(super) fn wish(&self) -> Wish {
        let state = self.lock();
        let has = |fault: &Fault| state.faults.has(fault);
        Wish {
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
            full: has(&Fault::FullBacklog),
        }
    }

    /// Ends all threads of the server.
    pub(super) fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        state.hangup.ring_for_good();
        drop(state);
        self.changed.notify_all();
        self.bell.ring();
    }

    pub(super) fn env_of(&self, pane: &str) -> Option<Vec<(String, String)>> {
        environment(&self.lock().model, &self.path, pane)
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
    // A program in the pane may be in another folder.
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

/// The wanted state of the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Socket {
    Listening,
    /// A socket file without a listener.
    Refusing,
    /// No socket file.
    Gone,
}

/// The wanted state of the listener.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wish {
    pub(super) changes: u64,
    pub(super) stop: bool,
    pub(super) generation: u64,
    pub(super) socket: Socket,
    pub(super) accepts: bool,
    pub(super) full: bool,
}
