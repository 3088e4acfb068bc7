//! What all threads of a server share.

use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::log::{Exchange, Log};
use crate::model::{Answer, Model};

/// Settings that do not change while a server runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    pub(super) poll: bool,
}

/// What changes, behind one lock, as Herdr's app thread is one thread.
#[derive(Debug)]
pub(super) struct State {
    pub(super) model: Model,
    pub(super) log: Log,
    pub(super) stopped: bool,
}

#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    started: Instant,
    path: PathBuf,
    options: Options,
    /// Its end tells every thread of this server to finish.
    alarm: Alarm,
    /// A byte here makes the listener look at the state again.
    bell: Alarm,
}

/// Two ends of a socket pair: one to ring, one to poll.
#[derive(Debug)]
pub(super) struct Alarm {
    ring: UnixStream,
    hear: UnixStream,
}

impl Alarm {
    fn new() -> io::Result<Self> {
        let (ring, hear) = UnixStream::pair()?;
        ring.set_nonblocking(true)?;
        hear.set_nonblocking(true)?;
        Ok(Self { ring, hear })
    }

    /// What becomes readable when it rings.
    pub(super) fn hear(&self) -> &UnixStream {
        &self.hear
    }

    /// Takes away what rang so far.
    pub(super) fn quiet(&self) {
        let mut bytes = [0; 64];
        while matches!(io::Read::read(&mut &self.hear, &mut bytes), Ok(read) if read > 0) {}
    }

    fn ring(&self) {
        // A full buffer rings already.
        let _ = io::Write::write(&mut &self.ring, &[1]);
    }
}

impl Shared {
    pub(super) fn new(model: Model, path: PathBuf, options: Options) -> io::Result<Self> {
        Ok(Self {
            state: Mutex::new(State { model, log: Log::default(), stopped: false }),
            changed: Condvar::new(),
            started: Instant::now(),
            path,
            options,
            alarm: Alarm::new()?,
            bell: Alarm::new()?,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn options(&self) -> Options {
        self.options
    }

    pub(super) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Readable once the server is to end.
    pub(super) fn alarm(&self) -> &UnixStream {
        self.alarm.hear()
    }

    pub(super) fn bell(&self) -> &Alarm {
        &self.bell
    }

    /// A thread that panicked left the model between two requests at worst.
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

    /// Works on the state and tells everybody who waits for it.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut State, Duration) -> T) -> T {
        let mut state = self.lock();
        let before = state.model.generation();
        let result = work(&mut state, self.now());
        let moved_on = state.model.generation() != before || state.model.is_stopping();
        drop(state);
        self.changed.notify_all();
        if moved_on {
            self.bell.ring();
        }
        result
    }

    /// Answers a request and logs it.
    pub(super) fn answer(&self, connection: u64, line: &[u8]) -> Answer {
        self.with(|state, now| {
            let answer = state.model.request(now, line);
            state.log.push(Exchange {
                connection,
                at: now,
                request: String::from_utf8_lossy(line).into_owned(),
                reply: answer.line().map(str::to_owned),
            });
            answer
        })
    }

    /// Makes every thread of the server end.
    pub(super) fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
        let _ = self.alarm.ring.shutdown(Shutdown::Both);
    }

    pub(super) fn env_of(&self, pane: &str) -> Option<Vec<(String, String)>> {
        let (workspace, tab, pane) = self.lock().model.address_of(pane)?;
        let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("herdr"));
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Some(vec![
            ("HERDR_ENV".to_owned(), "1".to_owned()),
            ("HERDR_SOCKET_PATH".to_owned(), text(&self.path)),
            ("HERDR_BIN_PATH".to_owned(), text(&program)),
            ("HERDR_WORKSPACE_ID".to_owned(), workspace),
            ("HERDR_TAB_ID".to_owned(), tab),
            ("HERDR_PANE_ID".to_owned(), pane),
        ])
    }
}
