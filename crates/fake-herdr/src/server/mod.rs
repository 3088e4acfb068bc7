//! The socket around the model: threads, one request per connection, streams.

mod alarm;
mod builder;
mod connection;
mod fault;
mod line;
mod listener;
mod log;
mod mangle;
#[cfg(feature = "pty")]
mod process;
#[cfg(feature = "pty")]
mod pty;
mod queue;
mod shared;
mod socket;
#[cfg(feature = "pty")]
mod terminal;
mod wait;

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use std::{fmt, io};

use tempfile::TempDir;

use crate::model::{Model, Observation};
use shared::Shared;

pub use builder::Builder;
pub use fault::{Fault, UnknownFault};
pub use log::Exchange;
pub use wait::WaitTimedOut;

/// A running fake server.
///
/// Dropping it stops it: every connection is closed, every thread has ended and
/// the socket file is gone when the drop returns.
#[must_use = "dropping the server stops it"]
pub struct FakeHerdr {
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
    pane_id: String,
    /// The folder of a socket whose path nobody chose.
    _folder: Option<TempDir>,
}

impl fmt::Debug for FakeHerdr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeHerdr").field("socket", &self.shared.path()).finish_non_exhaustive()
    }
}

impl FakeHerdr {
    /// A Herdr 0.8.2 with one focused pane, on a socket in a folder of its own.
    ///
    /// # Errors
    ///
    /// If the folder, the socket or the thread cannot be made.
    pub fn start() -> io::Result<Self> {
        Self::builder().start()
    }

    /// More panes, another server, another path.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Where it listens.
    pub fn socket_path(&self) -> &Path {
        self.shared.path()
    }

    /// The id of the first pane, `w1:p1` unless the server started empty.
    pub fn pane_id(&self) -> &str {
        &self.pane_id
    }

    /// The variables that Herdr sets in the first pane.
    pub fn env(&self) -> Vec<(String, String)> {
        self.env_of(&self.pane_id).unwrap_or_default()
    }

    /// The variables that Herdr sets in a pane; `None` if there is no such
    /// pane. A moved pane's programs keep those from before the move.
    pub fn env_of(&self, pane: &str) -> Option<Vec<(String, String)>> {
        self.shared.env_of(pane)
    }

    /// The time since the start, which is the time of the model.
    pub fn now(&self) -> Duration {
        self.shared.now()
    }

    /// What a reader of a pane sees now; `None` if there is no such pane.
    pub fn observe(&self, pane: &str) -> Option<Observation> {
        self.shared.with(|state, now| state.model.observe(now, pane))
    }

    /// Runs something on the model itself, between two requests. A handoff or
    /// a restart that it does there shows on the socket as well.
    ///
    /// The model's methods take the time; [`FakeHerdr::now`] gives it.
    pub fn with_model<T>(&self, work: impl FnOnce(&mut Model) -> T) -> T {
        self.shared.with(|state, _| work(&mut state.model))
    }

    /// The requests that came and what they were answered, oldest first. Only
    /// the last 10 000 are kept, and no more than 64 MiB.
    pub fn log(&self) -> Vec<Exchange> {
        self.shared.with(|state, _| state.log.exchanges())
    }

    /// How many connections have been accepted so far.
    pub fn connections(&self) -> u64 {
        self.shared.with(|state, _| state.log.connections())
    }

    /// Waits until the first pane looks as it should, at most `patience`.
    ///
    /// # Errors
    ///
    /// If it did not within that time; the error holds what was seen last.
    pub fn wait_until(
        &self,
        patience: Duration,
        satisfied: impl FnMut(&Observation) -> bool,
    ) -> Result<Observation, WaitTimedOut> {
        self.wait_until_pane(&self.pane_id, patience, satisfied)
    }

    /// The same for any pane. One that does not exist looks like one without an
    /// agent.
    ///
    /// # Errors
    ///
    /// As [`FakeHerdr::wait_until`].
    pub fn wait_until_pane(
        &self,
        pane: &str,
        patience: Duration,
        satisfied: impl FnMut(&Observation) -> bool,
    ) -> Result<Observation, WaitTimedOut> {
        self.shared.wait_until(pane, patience, satisfied)
    }

    /// Waits until the log satisfies, at most `patience`; `false` if it did
    /// not.
    pub fn wait_for_log(
        &self,
        patience: Duration,
        satisfied: impl FnMut(&[Exchange]) -> bool,
    ) -> bool {
        self.shared.wait_for_log(patience, satisfied)
    }

    /// Makes something go wrong until [`FakeHerdr::clear_faults`]. Several
    /// faults can be set; the one set first that concerns a request strikes it.
    pub fn fault(&self, fault: Fault) {
        self.shared.with_socket(|state, _| state.faults.set(fault, None));
    }

    /// Makes something go wrong for the next so many requests that it concerns;
    /// 0 takes back this fault alone. A fault that is about connecting
    /// ([`Fault::is_lasting`]) strikes no request, so any other number leaves it
    /// on until [`FakeHerdr::clear_faults`].
    pub fn fault_times(&self, fault: Fault, times: u32) {
        self.shared.with_socket(|state, _| state.faults.set(fault, Some(times)));
    }

    /// Ends all faults: a frozen server applies what it received meanwhile, one
    /// that was gone is back at its path.
    pub fn clear_faults(&self) {
        self.shared.with_socket(|state, _| state.faults.clear());
    }

    /// Why no socket is at the path though there should be one: somebody put
    /// something else there while the server was gone, or took its folder away.
    /// It is tried again with each change. `None` when all is well.
    pub fn socket_error(&self) -> Option<String> {
        self.shared.with_socket(|_, _| ());
        self.shared.lock().unbound.clone()
    }

    /// Hands the panes to a new server process, as [`Model::live_handoff`] says;
    /// streams end and the socket gets a new inode at the same path, which is so
    /// when this returns.
    pub fn live_handoff(&self) {
        self.shared.with_socket(|state, now| state.model.live_handoff(now));
    }

    /// Stops and starts again, as [`Model::restart`] says.
    pub fn restart(&self) {
        self.shared.with_socket(|state, now| state.model.restart(now));
    }

    /// Something that stops the server from another thread, such as one that
    /// hears signals.
    pub fn stopper(&self) -> Stopper {
        Stopper { shared: Arc::clone(&self.shared) }
    }

    /// Waits for the end of a server that somebody stops with `server.stop` or
    /// a [`Stopper`]. Its socket is gone then; the last threads end when this
    /// handle is dropped.
    pub fn wait(&self) {
        self.shared.wait_for_end();
    }
}

/// Stops a server that another thread waits for in [`FakeHerdr::wait`].
#[derive(Debug, Clone)]
pub struct Stopper {
    shared: Arc<Shared>,
}

impl Stopper {
    /// Tells the server to end; it does not wait for it.
    pub fn stop(&self) {
        self.shared.stop();
    }
}

impl Drop for FakeHerdr {
    fn drop(&mut self) {
        self.shared.stop();
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}
