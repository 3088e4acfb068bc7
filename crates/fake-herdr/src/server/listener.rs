//! The thread that owns the socket. It binds, accepts, binds again after a handoff or an
//! outage, and joins all connections at the end.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};

use super::connection;
use super::line;
use super::shared::{Shared, Socket, Wish};
use super::socket::{Bound, SocketFile, Stuffing};

/// The pause after a failed accept.
const AFTER_FAILURE: Duration = Duration::from_millis(10);

pub(super) struct Listener {
    shared: Arc<Shared>,
    /// `None` while there is no listener.
    bound: Option<Bound>,
    /// The file of a closed socket.
    left: Option<SocketFile>,
    generation: u64,
    stuffing: Option<Stuffing>,
    /// How many connections filled a backlog and have not been accepted yet.
    stuffed: usize,
    connections: Vec<JoinHandle<()>>,
}

impl Listener {
    pub(super) fn bind(shared: Arc<Shared>) -> io::Result<Self> {
        let generation = shared.wish().generation;
        let bound = Some(Bound::at(shared.path())?);
        let mut listener = Self {
            shared,
            bound,
            left: None,
            generation,
            stuffing: None,
            stuffed: 0,
            connections: Vec::new(),
        };
        let wish = listener.shared.wish();
        listener.follow(wish);
        Ok(listener)
    }

    /// Serves until the server stops. A failed accept does not end it. It would on 0.8.2, but
    /// that would hide what a test is about.
    pub(super) fn run(mut self) {
        loop {
            let wish = self.shared.wish();
            if wish.stop {
                break;
            }
            let mut ready = vec![PollFd::new(self.shared.bell().hear(), PollFlags::IN)];
            if let Some(bound) = self.bound.as_ref().filter(|_| wish.accepts) {
                ready.push(PollFd::new(bound.socket(), PollFlags::IN));
            }
            if rustix::event::poll(&mut ready, None).is_err() {
                continue;
            }
            let rings = !ready[0].revents().is_empty();
            let knocks = ready.get(1).is_some_and(|knock| !knock.revents().is_empty());
            if rings {
                self.shared.bell().quiet();
                let wish = self.shared.wish();
                self.follow(wish);
            } else if knocks {
                self.accept();
            }
        }
        self.end();
    }

    /// Changes the socket to the wanted state.
    fn follow(&mut self, wish: Wish) {
        let mut replaced = self.bound.is_none();
        let path = self.shared.path();
        let mut failure = None;
        match wish.socket {
            Socket::Listening => {
                let another = wish.generation != self.generation;
                match &mut self.bound {
                    Some(bound) if another => {
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
        self.generation = wish.generation;
        if failure.is_some() {
            // The old socket belongs to a process that has ended.
            self.close();
        }
        if replaced || self.bound.is_none() {
            // Connections that filled the backlog are gone with the old socket.
            (self.stuffing, self.stuffed) = (None, 0);
        }
        self.fill(wish.full);
        self.shared.follow(wish, failure);
    }

    /// Closes the socket. Its file stays.
    fn close(&mut self) {
        if let Some(bound) = self.bound.take() {
            self.left = Some(bound.file());
        }
    }

    /// Closes the socket and removes its file, but not the file of another process.
    fn remove(&mut self) {
        self.close();
        if let Some(file) = self.left.take() {
            file.remove(self.shared.path());
        }
    }

    /// Fills the backlog or empties it.
    fn fill(&mut self, full: bool) {
        let Some(bound) = &self.bound else {
            return;
        };
        match &self.stuffing {
            None if full => self.stuffing = bound.stuff(self.shared.path()).ok(),
            Some(stuffing) if !full => {
                self.stuffed += stuffing.len();
                self.stuffing = None;
                bound.unstuff();
            }
            _ => {}
        }
    }

    fn accept(&mut self) {
        let Some(connection) = self.bound.as_ref().and_then(Bound::accept) else {
            // For example, there are no free descriptors. The connection stays in the backlog.
            line::wait(self.shared.bell().hear(), None, AFTER_FAILURE);
            return;
        };
        if self.stuffed > 0 && line::has_left(&connection) {
            // This connection filled the backlog; it is not a client.
            self.stuffed -= 1;
            return;
        }
        self.connections.retain(|thread| !thread.is_finished());
        let (number, hangup) = self.shared.accept();
        let shared = Arc::clone(&self.shared);
        let thread = thread::Builder::new()
            .name(format!("fake-herdr-{number}"))
            .spawn(move || connection::serve(&shared, &connection, hangup.hear(), number));
        self.connections.extend(thread);
    }

    /// Closes the socket, removes the file and joins all threads.
    pub(super) fn end(mut self) {
        self.remove();
        // This also ends the other connections, as after `server.stop`.
        self.shared.stop();
        #[cfg(feature = "pty")]
        super::pty::end(&self.shared);
        self.shared.end();
        for thread in self.connections {
            let _ = thread.join();
        }
    }
}
