//! The thread that owns the socket: it binds, accepts, binds anew after a
//! handoff, and joins every connection in the end.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rustix::event::{PollFd, PollFlags};

use super::connection;
use super::shared::Shared;

pub(super) struct Listener {
    shared: Arc<Shared>,
    socket: UnixListener,
    inode: u64,
    generation: u64,
    connections: Vec<JoinHandle<()>>,
}

impl Listener {
    pub(super) fn bind(shared: Arc<Shared>) -> io::Result<Self> {
        let generation = shared.lock().model.generation();
        let (socket, inode) = bind(shared.path())?;
        Ok(Self { shared, socket, inode, generation, connections: Vec::new() })
    }

    /// Serves until the server stops. A transient failure of accept does not
    /// end it, unlike on 0.8.2, where it would hide what a test is about.
    pub(super) fn run(mut self) {
        loop {
            let mut ready = [
                PollFd::new(&self.socket, PollFlags::IN),
                PollFd::new(self.shared.bell().hear(), PollFlags::IN),
                PollFd::new(self.shared.alarm(), PollFlags::IN),
            ];
            if rustix::event::poll(&mut ready, None).is_err() {
                continue;
            }
            let [knocks, rings, alarm] = ready.map(|entry| !entry.revents().is_empty());
            if alarm {
                break;
            }
            if rings {
                self.shared.bell().quiet();
                if self.look_again() {
                    break;
                }
            }
            if knocks {
                self.accept();
            }
        }
        self.end();
    }

    /// Follows what happened to the model; `true` when the server is to end.
    fn look_again(&mut self) -> bool {
        let (stopping, generation) = {
            let state = self.shared.lock();
            (state.model.is_stopping(), state.model.generation())
        };
        if generation != self.generation {
            self.generation = generation;
            if let Ok((socket, inode)) = self.bind_anew() {
                (self.socket, self.inode) = (socket, inode);
            }
        }
        stopping
    }

    /// Another socket at the same path. It is bound beside the old one and put
    /// in its place, so that it has another inode and the path is never empty.
    fn bind_anew(&self) -> io::Result<(UnixListener, u64)> {
        let path = self.shared.path();
        let mut beside = path.as_os_str().to_owned();
        beside.push("~");
        if let Ok(bound) = bind(Path::new(&beside)) {
            fs::rename(&beside, path)?;
            return Ok(bound);
        }
        // The name beside it has one byte more, which may be one too many.
        self.remove_file();
        bind(path)
    }

    fn accept(&mut self) {
        let Ok((connection, _)) = self.socket.accept() else {
            return;
        };
        self.connections.retain(|thread| !thread.is_finished());
        let number = self.shared.lock().log.accept();
        let shared = Arc::clone(&self.shared);
        let thread = thread::Builder::new()
            .name(format!("fake-herdr-{number}"))
            .spawn(move || connection::serve(&shared, &connection, number));
        self.connections.extend(thread);
    }

    fn end(self) {
        self.remove_file();
        // `server.stop` ends the other connections as well; this wakes them.
        self.shared.stop();
        drop(self.socket);
        for thread in self.connections {
            let _ = thread.join();
        }
    }

    /// Removes the file if it is still ours.
    fn remove_file(&self) {
        let path = self.shared.path();
        if fs::symlink_metadata(path).is_ok_and(|found| found.ino() == self.inode) {
            let _ = fs::remove_file(path);
        }
    }
}

fn bind(path: &Path) -> io::Result<(UnixListener, u64)> {
    let socket = match UnixListener::bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse && is_dead_socket(path) => {
            fs::remove_file(path)?;
            UnixListener::bind(path)?
        }
        bound => bound?,
    };
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    socket.set_nonblocking(true)?;
    Ok((socket, fs::symlink_metadata(path)?.ino()))
}

fn is_dead_socket(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket())
        && UnixStream::connect(path)
            .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}
