//! The socket file and its listener.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};

/// The backlog that the standard library's listener has.
const BACKLOG: i32 = 4096;

/// A bound listener and its file.
#[derive(Debug)]
pub(super) struct Bound {
    socket: UnixListener,
    file: SocketFile,
}

/// The identity of a socket's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SocketFile {
    inode: u64,
}

impl SocketFile {
    fn at(path: &Path) -> io::Result<Self> {
        Ok(Self { inode: fs::symlink_metadata(path)?.ino() })
    }

    /// Removes the file, if the one at the path is still the same.
    pub(super) fn remove(self, path: &Path) {
        if Self::at(path).is_ok_and(|found| found == self) {
            let _ = fs::remove_file(path);
        }
    }
}

/// The connections that fill a backlog. Dropping it closes them.
#[derive(Debug)]
pub(super) struct FullBacklog {
    connections: Vec<rustix::fd::OwnedFd>,
}

impl FullBacklog {
    pub(super) fn len(&self) -> usize {
        self.connections.len()
    }
}

impl Bound {
    /// Binds at a path. Replaces the socket of a dead server, and leaves any other file
    /// alone.
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        if path.as_os_str().is_empty() {
            // The system would bind an address without a name.
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path is empty"));
        }
        let socket = match UnixListener::bind(path) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && is_dead_socket(path) => {
                fs::remove_file(path)?;
                UnixListener::bind(path)
            }
            bound => bound,
        }
        .map_err(|error| explain(error, path))?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket, file: SocketFile::at(path)? })
    }

    /// Binds a new socket at the same path. It is bound beside the old one and renamed,
    /// so that it has another inode and the path is never empty.
    pub(super) fn renew(&mut self, path: &Path) -> io::Result<()> {
        let mut beside = path.as_os_str().to_owned();
        beside.push("~");
        let fresh = Self::at(Path::new(&beside))
            .and_then(|fresh| fs::rename(&beside, path).map(|()| fresh))
            .or_else(|_| {
                // The path beside it is one byte longer, which can be too long.
                self.file.remove(path);
                Self::at(path)
            });
        *self = fresh?;
        Ok(())
    }

    pub(super) fn socket(&self) -> &UnixListener {
        &self.socket
    }

    pub(super) fn accept(&self) -> Option<UnixStream> {
        let (connection, _) = self.socket.accept().ok()?;
        connection.set_nonblocking(false).ok()?;
        Some(connection)
    }

    /// The file, which stays when the socket is closed.
    pub(super) fn file(&self) -> SocketFile {
        self.file
    }

    /// Fills the backlog, so that no further connection fits.
    pub(super) fn fill_backlog(&self, path: &Path) -> io::Result<FullBacklog> {
        rustix::net::listen(&self.socket, 0)?;
        let address = SocketAddrUnix::new(path)?;
        let mut connections = Vec::new();
        // A backlog of 0 takes one connection. Some systems round it up, hence the loop.
        while connections.len() < 256 {
            // Not every system takes these flags when the socket is made.
            let connection = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
            rustix::io::fcntl_setfd(&connection, rustix::io::FdFlags::CLOEXEC)?;
            rustix::io::ioctl_fionbio(&connection, true)?;
            match rustix::net::connect(&connection, &address) {
                Ok(()) => connections.push(connection),
                Err(Errno::AGAIN | Errno::CONNREFUSED) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(FullBacklog { connections })
    }

    /// Restores the usual backlog.
    pub(super) fn reopen_backlog(&self) {
        let _ = rustix::net::listen(&self.socket, BACKLOG);
    }
}

/// Explains why a path cannot be bound. The kind of the error does not change.
fn explain(error: io::Error, path: &Path) -> io::Error {
    let found = || fs::symlink_metadata(path).map(|found| found.file_type());
    let why = match error.kind() {
        io::ErrorKind::AddrInUse if found().is_ok_and(|found| found.is_socket()) => {
            "a server listens there already".to_owned()
        }
        io::ErrorKind::AddrInUse => "there is something that is not a socket".to_owned(),
        io::ErrorKind::NotFound => "the folder does not exist".to_owned(),
        io::ErrorKind::InvalidInput => {
            let length = path.as_os_str().len();
            format!(
                "the path of a socket has up to 107 bytes (103 on macOS), and this one {length}"
            )
        }
        _ => return error,
    };
    io::Error::new(error.kind(), why)
}

fn is_dead_socket(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket())
        && UnixStream::connect(path)
            .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}
