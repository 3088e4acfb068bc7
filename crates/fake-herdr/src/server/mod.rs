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
/// Dropping it stops it. When the drop returns, every connection is closed, every thread has
/// ended and the socket file is removed.
#[must_use = "dropping the server stops it"]
pub struct FakeHerdr {
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
    pane_id: String,
    /// The temporary folder of the socket, if no path was given.
    _folder: Option<TempDir>,
}

impl fmt::Debug for FakeHerdr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeHerdr").field("socket", &self.shared.path()).finish_non_exhaustive()
    }
}

impl FakeHerdr {
    /// Starts a Herdr 0.8.2 with one focused pane, on a socket in a temporary folder.
    ///
    /// # Errors
    ///
    /// If the folder, the socket or the thread cannot be made.
    pub fn start() -> io::Result<Self> {
        Self::builder().start()
    }

    /// Starts a server with other options.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The path of the socket.
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

    /// The variables that Herdr sets in a pane; `None` if the pane does not exist. The programs
    /// in a moved pane keep those from before the move.
    pub fn env_of(&self, pane: &str) -> Option<Vec<(String, String)>> {
        self.shared.env_of(pane)
    }

    /// The time since the start, which is the model's time.
    pub fn now(&self) -> Duration {
        self.shared.now()
    }

    /// What a reader of a pane sees now; `None` if the pane does not exist.
    pub fn observe(&self, pane: &str) -> Option<Observation> {
        self.shared.with(|state, now| state.model.observe(now, pane))
    }

    /// Runs `work` on the model, between two requests. If it does a handoff or a restart, that
    /// also happens on the socket.
    ///
    /// The model's methods take the time, which [`FakeHerdr::now`] returns.
    pub fn with_model<T>(&self, work: impl FnOnce(&mut Model) -> T) -> T {
        self.shared.with(|state, _| work(&mut state.model))
    }

    /// The requests and their answers, oldest first. The last 10 000 are kept, up to 64 MiB.
    pub fn log(&self) -> Vec<Exchange> {
        self.shared.with(|state, _| state.log.exchanges())
    }

    /// How many connections were accepted.
    pub fn connections(&self) -> u64 {
        self.shared.with(|state, _| state.log.connections())
    }

    /// Waits until `looks` is true for the first pane, for at most `patience`.
    ///
    /// # Errors
    ///
    /// If it did not become true in that time. The error has the last observation.
    pub fn wait_until(
        &self,
        patience: Duration,
        satisfied: impl FnMut(&Observation) -> bool,
    ) -> Result<Observation, WaitTimedOut> {
        self.wait_until_pane(&self.pane_id, patience, satisfied)
    }

    /// As [`FakeHerdr::wait_until`], for any pane. A pane that does not exist looks like one
    /// without an agent.
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

    /// Waits until `satisfies` is true for the log, for at most `patience`. Returns false if it
    /// did not become true.
    pub fn wait_for_log(
        &self,
        patience: Duration,
        satisfied: impl FnMut(&[Exchange]) -> bool,
    ) -> bool {
        self.shared.wait_for_log(patience, satisfied)
    }

    /// Sets a fault until [`FakeHerdr::clear_faults`]. Several faults can be set. A request is
    /// affected by the first one that applies to it.
    pub fn fault(&self, fault: Fault) {
        self.shared.with_socket(|state, _| state.faults.set(fault, None));
    }

    /// Sets a fault for the next `times` requests that it applies to. 0 clears only this fault.
    /// A fault about connecting ([`Fault::is_lasting`]) does not apply to requests, so any
    /// other number sets it until [`FakeHerdr::clear_faults`].
    pub fn fault_times(&self, fault: Fault, times: u32) {
        self.shared.with_socket(|state, _| state.faults.set(fault, Some(times)));
    }

    /// Clears all faults. A frozen server applies what it received in the meantime, and one
    /// that was gone is back at its path.
    pub fn clear_faults(&self) {
        self.shared.with_socket(|state, _| state.faults.clear());
    }

    /// Why there is no socket at the path although there should be one: another file was put
    /// there while the server was gone, or its folder was removed. Binding is tried again with
    /// each change. `None` if all is well.
    pub fn socket_error(&self) -> Option<String> {
        self.shared.with_socket(|_, _| ());
        self.shared.lock().unbound.clone()
    }

    /// Hands the panes over to a new server process, see [`Model::live_handoff`]. When this
    /// returns, streams have ended and the socket has a new inode at the same path.
    pub fn live_handoff(&self) {
        self.shared.with_socket(|state, now| state.model.live_handoff(now));
    }

    /// Restarts the server, see [`Model::restart`].
    pub fn restart(&self) {
        self.shared.with_socket(|state, now| state.model.restart(now));
    }

    /// A handle that stops the server from another thread, for example on a signal.
    pub fn stopper(&self) -> Stopper {
        Stopper { shared: Arc::clone(&self.shared) }
    }

    /// Waits until the server is stopped with `server.stop` or a [`Stopper`]. Its socket is
    /// gone then; the last threads end when this handle is dropped.
    pub fn wait(&self) {
        self.shared.wait_for_end();
    }
}

/// Stops a server while another thread is in [`FakeHerdr::wait`].
#[derive(Debug, Clone)]
pub struct Stopper {
    shared: Arc<Shared>,
}

impl Stopper {
    /// Tells the server to stop and does not wait for it.
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
