//! Which server is behind the path.

use std::path::PathBuf;

use herdr_socket_transport::{Peer, SocketIdentity, inode};
use tokio::time::Instant;

/// What requests and looks at the path tell of the server behind it.
#[derive(Debug)]
pub(super) struct Server {
    path: PathBuf,
    asked: Option<SocketIdentity>,
    has_asked: bool,
    /// The socket that the last answer, or the first failure, came from …
    socket: Option<SocketIdentity>,
    /// … and who answered.
    peer: Option<Peer>,
    looked: Instant,
}

impl Server {
    pub(super) fn at(path: PathBuf) -> Self {
        let looked = Instant::now();
        Self { path, asked: None, has_asked: false, socket: None, peer: None, looked }
    }

    pub(super) fn is_known(&self) -> bool {
        self.socket.is_some()
    }

    /// When the path was looked at last, once there is something to look for.
    pub(super) fn looked(&self) -> Option<Instant> {
        self.has_asked.then_some(self.looked)
    }

    pub(super) fn asks(&mut self) {
        self.has_asked = true;
        self.asked = inode(&self.path);
    }

    /// The request has ended; whether another server than before answered it.
    pub(super) fn answers(&mut self, peer: Option<Peer>) -> bool {
        if peer.is_none() {
            // After a failure, another one at this path is worth another try.
            self.socket = self.socket.or(self.asked);
            return false;
        }
        let other = (self.socket.is_some() && self.asked != self.socket)
            || (self.peer.is_some() && peer != self.peer);
        self.peer = peer;
        self.socket = self.asked;
        other
    }

    /// Whether another socket is at the path than the one that answered last.
    pub(super) fn look(&mut self) -> bool {
        self.looked = Instant::now();
        let now = inode(&self.path);
        if now.is_none() || now == self.socket.or(self.asked) || !self.has_asked {
            return false;
        }
        self.is_new(now);
        true
    }

    /// It went away; whatever is at the path now is another one.
    pub(super) fn gone(&mut self) {
        self.asked = inode(&self.path);
        self.is_new(self.asked);
    }

    fn is_new(&mut self, socket: Option<SocketIdentity>) {
        self.socket = socket;
        self.peer = None;
    }
}
