//! The socket file and its listener.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};

/// How many connections the backlog holds, as with the standard library's listener.
const BACKLOG: i32 = 4096;

/// A listener and the identity of its file.
#[derive(Debug)]
pub(super) struct Bound {
    socket: UnixListener,
    file: SocketFile,
}

/// Identifies the file of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SocketFile {
    inode: u64,
}

impl SocketFile {
    fn at(path: &Path) -> io::Result<Self> {
        Ok(Self { inode: fs::symlink_metadata(path)?.ino() })
    }

    /// Removes the file, if it is still the one at the path.
    pub(super) fn remove(self, path: &Path) {
        if Self::at(path).is_ok_and(|found| found == self) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Connections that fill a backlog. They are closed when this is dropped.
#[derive(Debug)]
pub(super) struct Stuffing {
    connections: Vec<rustix::fd::OwnedFd>,
}

impl Stuffing {
    pub(super) fn len(&self) -> usize {
        self.connections.len()
    }
}

impl Bound {
    /// Binds at a path. The file of a server that has ended is replaced; any other file is left
    /// alone.
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        if path.as_os_str().is_empty() {
            // The system would take it for an unnamed address.
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

    /// Replaces the socket at the path. The new one is bound beside the old one and renamed, so
    /// that it has another inode and the path is never empty.
    pub(super) fn renew(&mut self, path: &Path) -> io::Result<()> {
        let mut beside = path.as_os_str().to_owned();
        beside.push("~");
        let fresh = Self::at(Path::new(&beside))
            .and_then(|fresh| fs::rename(&beside, path).map(|()| fresh))
            .or_else(|_| {
                // The temporary name is one byte longer, which may be too long.
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

    /// Its file, which stays when the socket is closed.
    pub(super) fn file(&self) -> SocketFile {
        self.file
    }

    /// Fills the backlog, so that no other connection fits.
    pub(super) fn stuff(&self, path: &Path) -> io::Result<Stuffing> {
        rustix::net::listen(&self.socket, 0)?;
        let address = SocketAddrUnix::new(path)?;
        let mut connections = Vec::new();
        // A backlog of 0 holds one connection. The limit is for systems that round up.
        while connections.len() < 256 {
            // Not all systems support flags when a socket is created.
            let connection = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
            rustix::io::fcntl_setfd(&connection, rustix::io::FdFlags::CLOEXEC)?;
            rustix::io::ioctl_fionbio(&connection, true)?;
            match rustix::net::connect(&connection, &address) {
                Ok(()) => connections.push(connection),
                Err(Errno::AGAIN | Errno::CONNREFUSED) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Stuffing { connections })
    }

    /// Accepts connections again.
    pub(super) fn unstuff(&self) {
        let _ = rustix::net::listen(&self.socket, BACKLOG);
    }
}

/// Explains why a path cannot be bound. The error has the kind that the system returned.
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
