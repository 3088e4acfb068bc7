//! Whether the server at the socket's path is still the same one.

use std::path::PathBuf;

use herdr_socket_transport::{Peer, SocketIdentity, inode};
use tokio::time::Instant;

/// What requests and checks of the path have shown about the server at the socket's path.
#[derive(Debug)]
pub(super) struct Server {
    path: PathBuf,
    /// The socket that was at the path when the last request was sent.
    asked: Option<SocketIdentity>,
    has_asked: bool,
    /// The socket that gave the last answer, or the first failure if there was no answer yet.
    socket: Option<SocketIdentity>,
    /// The process that gave the last answer.
    peer: Option<Peer>,
    checked: Instant,
}

impl Server {
    pub(super) fn at(path: PathBuf) -> Self {
        let checked = Instant::now();
        Self { path, asked: None, has_asked: false, socket: None, peer: None, checked }
    }

    pub(super) fn is_known(&self) -> bool {
        self.socket.is_some()
    }

    /// When the path was last checked; `None` before the first request.
    pub(super) fn last_checked(&self) -> Option<Instant> {
        self.has_asked.then_some(self.checked)
    }

    /// A request is about to be sent.
    pub(super) fn asks(&mut self) {
        self.has_asked = true;
        self.asked = inode(&self.path);
    }

    /// The request has ended: `peer` answered it, or `None` if it failed. Returns whether a
    /// different server than before answered.
    pub(super) fn answers(&mut self, peer: Option<Peer>) -> bool {
        if peer.is_none() {
            // After a failure, a different socket at this path is a reason to try again.
            self.socket = self.socket.or(self.asked);
            return false;
        }
        let other = (self.socket.is_some() && self.asked != self.socket)
            || (self.peer.is_some() && peer != self.peer);
        self.peer = peer;
        self.socket = self.asked;
        other
    }

    /// Checks the path. Returns whether a different socket is there than the one that gave the last
    /// answer.
    pub(super) fn check(&mut self) -> bool {
        self.checked = Instant::now();
        let now = inode(&self.path);
        if now.is_none() || now == self.socket.or(self.asked) || !self.has_asked {
            return false;
        }
        self.replaced_by(now);
        true
    }

    /// The server is gone, so whatever is at the path now is a different server.
    pub(super) fn gone(&mut self) {
        self.asked = inode(&self.path);
        self.replaced_by(self.asked);
    }

    fn replaced_by(&mut self, socket: Option<SocketIdentity>) {
        self.socket = socket;
        self.peer = None;
    }
}
