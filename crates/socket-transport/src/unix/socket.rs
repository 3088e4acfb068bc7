use std::fs::{metadata, symlink_metadata};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::Path;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketAddrUnix, SocketType, connect, send};
use tokio::net::UnixStream;

use super::dial::Wire;
use crate::error::{Error, ErrorKind, Phase};
use crate::peer::Peer;

/// The longest path that fits a socket address with its final zero, in bytes.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) const PATH_MAX: usize = 107;
/// The longest path that fits a socket address with its final zero, in bytes.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) const PATH_MAX: usize = 103;

/// The real wire: a Unix stream socket at a path.
pub(crate) struct Socket<'a> {
    path: &'a Path,
}

impl<'a> Socket<'a> {
    /// Refuses paths that must not reach a system call: one that is too long, and an empty one,
    /// which the kernel would take for an unnamed address.
    pub(crate) fn at(path: &'a Path) -> Result<Self, Error> {
        let length = path.as_os_str().len();
        if length == 0 {
            return Err(Error::new(ErrorKind::NoSuchSocket, path).note("the path is empty"));
        }
        if length > PATH_MAX {
            let note = format!("it has {length} bytes, {PATH_MAX} is the most");
            return Err(Error::new(ErrorKind::PathTooLong, path).note(note));
        }
        Ok(Self { path })
    }
}

impl Wire for Socket<'_> {
    type Connection = UnixStream;

    fn connect(&mut self) -> io::Result<UnixStream> {
        let address = SocketAddrUnix::new(self.path.as_os_str().as_bytes())?;
        let socket = stream_socket()?;
        connect(&socket, &address)?;
        UnixStream::from_std(StdUnixStream::from(socket))
    }

    fn peer(&mut self, connection: &UnixStream) -> io::Result<Peer> {
        let peer = connection.peer_cred()?;
        let pid = peer.pid().and_then(|pid| u32::try_from(pid).ok());
        Ok(Peer::new(peer.uid(), pid))
    }

    fn send(&mut self, connection: &UnixStream, bytes: &[u8]) -> io::Result<usize> {
        send_some(connection, bytes)
    }
}

/// Sends what the kernel accepts at once. A peer that is gone is an error and never a signal,
/// because the host may not ignore SIGPIPE.
pub(crate) fn send_some(connection: &UnixStream, bytes: &[u8]) -> io::Result<usize> {
    #[cfg(target_vendor = "apple")]
    let flags = SendFlags::empty();
    #[cfg(not(target_vendor = "apple"))]
    let flags = SendFlags::NOSIGNAL;
    Ok(rustix::io::retry_on_intr(|| send(connection.as_fd(), bytes, flags))?)
}

/// A stream socket that never blocks and is closed on exec.
#[cfg(not(target_vendor = "apple"))]
fn stream_socket() -> io::Result<OwnedFd> {
    use rustix::net::{SocketFlags, socket_with};

    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    Ok(socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?)
}

/// A stream socket that never blocks, is closed on exec, and raises no SIGPIPE. On this system
/// each of these takes a call of its own.
#[cfg(target_vendor = "apple")]
fn stream_socket() -> io::Result<OwnedFd> {
    use rustix::io::{FdFlags, fcntl_setfd, ioctl_fionbio};
    use rustix::net::{socket, sockopt::set_socket_nosigpipe};

    let socket = socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
    ioctl_fionbio(&socket, true)?;
    set_socket_nosigpipe(&socket, true)?;
    Ok(socket)
}

/// The error for a connection that could not be made. The file system is examined only now,
/// after the failure.
pub(crate) fn connect_error(cause: io::Error, path: &Path) -> Error {
    let (kind, note) = match Errno::from_io_error(&cause) {
        Some(Errno::NOENT) if is_link(path) => {
            (ErrorKind::NoSuchSocket, "a symbolic link that leads nowhere")
        }
        Some(Errno::NOENT) => (ErrorKind::NoSuchSocket, ""),
        Some(Errno::NOTDIR) => (ErrorKind::NoSuchSocket, "a folder on the way is a file"),
        Some(Errno::LOOP) => (ErrorKind::NoSuchSocket, "symbolic links that lead in a circle"),
        // The kernel reports "refused" for a file and a folder, too.
        Some(Errno::CONNREFUSED) => match what_else(path) {
            Some(what) => (ErrorKind::NotASocket, what),
            None => (ErrorKind::Refused, ""),
        },
        Some(Errno::NOTSOCK) => (ErrorKind::NotASocket, what_else(path).unwrap_or_default()),
        Some(Errno::PROTOTYPE) => (ErrorKind::NotASocket, "a socket of another type"),
        // A sandbox may deny the path, the call, or the whole address family.
        Some(Errno::ACCESS | Errno::PERM | Errno::AFNOSUPPORT) => (ErrorKind::Permission, ""),
        Some(Errno::NAMETOOLONG) => (ErrorKind::PathTooLong, "a name in it is too long"),
        _ => (ErrorKind::Io, ""),
    };
    let error = Error::new(kind, path).in_phase(Phase::Connect).caused_by(cause);
    if note.is_empty() { error } else { error.note(note) }
}

fn is_link(path: &Path) -> bool {
    symlink_metadata(path).is_ok_and(|data| data.is_symlink())
}

/// What the file at the path is, if it is not a socket.
fn what_else(path: &Path) -> Option<&'static str> {
    let kind = metadata(path).ok()?.file_type();
    if kind.is_socket() {
        None
    } else if kind.is_dir() {
        Some("a folder")
    } else if kind.is_file() {
        Some("a regular file")
    } else {
        Some("a device or a pipe")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A test cannot produce these errors without a sandbox.
    #[test]
    fn everything_a_sandbox_says_is_a_matter_of_permission() {
        for errno in [Errno::ACCESS, Errno::PERM, Errno::AFNOSUPPORT] {
            let error = connect_error(errno.into(), Path::new("/nowhere/herdr.sock"));
            assert_eq!(error.kind(), ErrorKind::Permission);
            assert!(error.to_string().contains("sandbox"));
        }
    }

    #[test]
    fn an_error_that_says_nothing_about_the_path_stays_the_systems_own() {
        let error = connect_error(Errno::MFILE.into(), Path::new("/nowhere/herdr.sock"));
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(std::error::Error::source(&error).is_some());
    }
}
