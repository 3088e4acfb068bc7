//! The thread that owns the socket: it binds the socket, again after a handoff or an
//! outage, accepts connections, and joins their threads in the end.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};

use super::connection;
use super::line;
use super::shared::{Shared, Socket, Target};
use super::socket::{Bound, FullBacklog, SocketFile};

/// The pause after a failed accept.
const AFTER_FAILURE: Duration = Duration::from_millis(10);

pub(super) struct Listener {
    shared: Arc<Shared>,
    /// `None` while no process listens.
    bound: Option<Bound>,
    /// The file of a closed socket.
    closed_file: Option<SocketFile>,
    generation: u64,
    full_backlog: Option<FullBacklog>,
    /// The connections that have filled a backlog and are still to be accepted.
    fillers: usize,
    connections: Vec<JoinHandle<()>>,
}

impl Listener {
    pub(super) fn bind(shared: Arc<Shared>) -> io::Result<Self> {
        let generation = shared.target().generation;
        let bound = Some(Bound::at(shared.path())?);
        let mut listener = Self {
            shared,
            bound,
            closed_file: None,
            generation,
            full_backlog: None,
            fillers: 0,
            connections: Vec::new(),
        };
        let target = listener.shared.target();
        listener.apply(target);
        Ok(listener)
    }

    /// Serves until the server stops. A transient failure of accept does not end it,
    /// unlike on 0.8.2, because that would hide the subject of a test.
    pub(super) fn run(mut self) {
        loop {
            let target = self.shared.target();
            if target.stop {
                break;
            }
            let mut ready = vec![PollFd::new(self.shared.waker().receiver(), PollFlags::IN)];
            if let Some(bound) = self.bound.as_ref().filter(|_| target.accepts) {
                ready.push(PollFd::new(bound.socket(), PollFlags::IN));
            }
            if rustix::event::poll(&mut ready, None).is_err() {
                continue;
            }
            let woken = !ready[0].revents().is_empty();
            let connects = ready.get(1).is_some_and(|socket| !socket.revents().is_empty());
            if woken {
                self.shared.waker().drain();
                let target = self.shared.target();
                self.apply(target);
            } else if connects {
                self.accept();
            }
        }
        self.end();
    }

    /// Brings the socket into its target state.
    fn apply(&mut self, target: Target) {
        let mut replaced = self.bound.is_none();
        let path = self.shared.path();
        let mut failure = None;
        match target.socket {
            Socket::Listening => {
                let new_process = target.generation != self.generation;
                match &mut self.bound {
                    Some(bound) if new_process => {
                        failure = bound.renew(path).err();
                        replaced = true;
                    }
                    Some(_) => {}
                    None => match Bound::at(path) {
                        Ok(bound) => self.bound = Some(bound),
                        Err(error) => failure = Some(error),
                    },
                }
            }
            Socket::Refusing => self.close(),
            Socket::Gone => self.remove(),
        }
        self.generation = target.generation;
        if failure.is_some() {
            // The old socket belongs to a process that is gone.
            self.close();
        }
        if replaced || self.bound.is_none() {
            // The connections that filled the backlog are gone with the old socket.
            (self.full_backlog, self.fillers) = (None, 0);
        }
        self.fill(target.full_backlog);
        self.shared.set_applied(target, failure);
    }

    /// Closes the socket and keeps its file.
    fn close(&mut self) {
        if let Some(bound) = self.bound.take() {
            self.closed_file = Some(bound.file());
        }
    }

    /// Closes the socket and removes its file, unless another process has replaced it.
    fn remove(&mut self) {
        self.close();
        if let Some(file) = self.closed_file.take() {
            file.remove(self.shared.path());
        }
    }

    /// Fills the backlog or empties it.
    fn fill(&mut self, full: bool) {
        let Some(bound) = &self.bound else {
            return;
        };
        match &self.full_backlog {
            None if full => self.full_backlog = bound.fill_backlog(self.shared.path()).ok(),
            Some(full_backlog) if !full => {
                self.fillers += full_backlog.len();
                self.full_backlog = None;
                bound.reopen_backlog();
            }
            _ => {}
        }
    }

    fn accept(&mut self) {
        let Some(connection) = self.bound.as_ref().and_then(Bound::accept) else {
            // For example there are no free descriptors. The client keeps waiting.
            line::wait(self.shared.waker().receiver(), None, AFTER_FAILURE);
            return;
        };
        if self.fillers > 0 && line::has_left(&connection) {
            // This connection filled the backlog; it does not belong to a client.
            self.fillers -= 1;
            return;
        }
        self.connections.retain(|thread| !thread.is_finished());
        let (number, hangup) = self.shared.accept();
        let shared = Arc::clone(&self.shared);
        let thread = thread::Builder::new()
            .name(format!("fake-herdr-{number}"))
            .spawn(move || connection::serve(&shared, &connection, hangup.receiver(), number));
        self.connections.extend(thread);
    }

    /// Closes the socket, removes its file and joins all threads.
    pub(super) fn end(mut self) {
        self.remove();
        // `server.stop` ends all connections as well, and this wakes them.
        self.shared.stop();
        #[cfg(feature = "pty")]
        super::pty::end(&self.shared);
        self.shared.end();
        for thread in self.connections {
            let _ = thread.join();
        }
    }
}
