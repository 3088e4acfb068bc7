//! The socket around the model: threads, one request per connection, streams.

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
mod waker;

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use std::{fmt, io};

use tempfile::TempDir;

use crate::model::{Model, Observation};
use shared::{Shared, environment};

pub use builder::Builder;
pub use fault::{Fault, UnknownFault};
pub use log::Exchange;
pub use wait::WaitTimedOut;

/// A running fake server.
///
/// Dropping it stops the server. When the drop returns, every connection is closed,
/// every thread has ended and the socket file is gone.
#[must_use = "dropping the server stops it"]
pub struct FakeHerdr {
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
    pane_id: String,
    /// The temporary folder of a socket without a chosen path.
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

    /// Starts with other settings, such as more panes or another path.
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

    /// The variables that Herdr sets in a pane; `None` if there is no such pane. The
    /// programs of a moved pane keep the variables from before the move.
    pub fn env_of(&self, pane: &str) -> Option<Vec<(String, String)>> {
        environment(&self.shared.lock().model, self.socket_path(), pane)
    }

    /// The time since the start, which is the time of the model.
    pub fn now(&self) -> Duration {
        self.shared.now()
    }

    /// What a reader of a pane sees now; `None` if there is no such pane.
    pub fn observe(&self, pane: &str) -> Option<Observation> {
        self.shared.with(|state, now| state.model.observe(now, pane))
    }

    /// Runs a function on the model itself, between two requests. If it does a handoff
    /// or a restart, the socket follows.
    ///
    /// The model's methods take the time, which [`FakeHerdr::now`] gives.
    pub fn with_model<T>(&self, work: impl FnOnce(&mut Model) -> T) -> T {
        self.shared.with(|state, _| work(&mut state.model))
    }

    /// The requests and their answers, oldest first. Only the last 10 000 are kept,
    /// and at most 64 MiB.
    pub fn log(&self) -> Vec<Exchange> {
        self.shared.with(|state, _| state.log.exchanges())
    }

    /// How many connections have been accepted so far.
    pub fn connections(&self) -> u64 {
        self.shared.with(|state, _| state.log.connections())
    }

    /// Sets a fault until [`FakeHerdr::clear_faults`]. Several faults can be set; a
    /// request gets the first one that applies to it.
    pub fn fault(&self, fault: Fault) {
        self.shared.with_socket(|state, _| state.faults.set(fault, None));
    }

    /// Sets a fault for the next `times` requests that it applies to; 0 removes this
    /// fault. A fault about connecting ([`Fault::is_lasting`]) applies to no request,
    /// so any other number leaves it on until [`FakeHerdr::clear_faults`].
    pub fn fault_times(&self, fault: Fault, times: u32) {
        self.shared.with_socket(|state, _| state.faults.set(fault, Some(times)));
    }

    /// Ends all faults. A frozen server then applies the requests that it has
    /// received, and a server that was gone is back at its path.
    pub fn clear_faults(&self) {
        self.shared.with_socket(|state, _| state.faults.clear());
    }

    /// Why the server could not bind its socket again, for example because another
    /// process has put a file at the path or has removed its folder. The server tries
    /// again with each change. `None` if there is no such error.
    pub fn socket_error(&self) -> Option<String> {
        self.shared.with_socket(|_, _| ());
        self.shared.lock().unbound.clone()
    }

    /// Hands the panes to a new server process, as [`Model::live_handoff`] describes.
    /// When this returns, streams have ended and the socket at the path has a new
    /// inode.
    pub fn live_handoff(&self) {
        self.shared.with_socket(|state, now| state.model.live_handoff(now));
    }

    /// Stops the server and starts it again, as [`Model::restart`] describes.
    pub fn restart(&self) {
        self.shared.with_socket(|state, now| state.model.restart(now));
    }

    /// A handle that stops the server from another thread, for example one that
    /// handles signals.
    pub fn stopper(&self) -> Stopper {
        Stopper { shared: Arc::clone(&self.shared) }
    }

    /// Waits until a client's `server.stop` or a [`Stopper`] has ended the server. Its
    /// socket is gone then; the last threads end when this handle is dropped.
    pub fn wait(&self) {
        self.shared.wait_for_end();
    }
}

/// Stops a server while another thread waits in [`FakeHerdr::wait`].
#[derive(Debug, Clone)]
pub struct Stopper {
    shared: Arc<Shared>,
}

impl Stopper {
    /// Tells the server to end, and does not wait for it.
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
