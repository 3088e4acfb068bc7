//! The file of a control socket.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use herdr_reporter::sidecar::supervised_by;

/// The file of a listening socket. Dropping this removes the file, unless another process has
/// replaced it.
pub(crate) struct SocketFile {
    path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
}

impl SocketFile {
    /// Listens at `path`, for this user alone. It replaces a socket that is there, so only the
    /// holder of the lease may call it.
    pub(super) fn listen(path: &Path) -> io::Result<(UnixListener, Self)> {
        match fs::symlink_metadata(path) {
            Ok(found) if found.file_type().is_socket() => fs::remove_file(path)?,
            Ok(_) => {
                let what = "something that is not a socket is in the way";
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let listener = UnixListener::bind(path)?;
        listener.set_nonblocking(true)?;
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
        Ok((listener, Self::at(path)?))
    }

    /// The file of a socket on which another process already listens.
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        let data = fs::symlink_metadata(path)?;
        Ok(Self { path: path.to_path_buf(), identity: (data.dev(), data.ino()) })
    }

    /// Keeps the file for another process that goes on listening.
    pub(crate) fn leave(self) {
        std::mem::forget(self);
    }

    /// Listens at `path`, unless a process listens there already.
    pub(crate) fn listen_alone(path: &Path) -> io::Result<(UnixListener, Self)> {
        match UnixStream::connect(path) {
            Ok(_) => {
                let what = "somebody listens there already";
                Err(io::Error::new(io::ErrorKind::AddrInUse, what))
            }
            Err(_) => Self::listen(path),
        }
    }

    /// Makes the folder of a socket. It may have been removed since the lease was taken.
    pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("/"));
        DirBuilder::new().recursive(true).mode(0o700).create(folder)
    }

    /// Removes the sockets that killed supervisors have left in the same folder.
    pub(super) fn sweep(path: &Path) {
        let beside = path.parent().and_then(|folder| fs::read_dir(folder).ok());
        for file in beside.into_iter().flatten().flatten() {
            let path = file.path();
            let ended = matches!(supervised_by(&path), Some((_, false)));
            // A process of another container may only seem to have ended.
            let refuses = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
            if ended && UnixStream::connect(&path).is_err_and(refuses) {
                let _ = fs::remove_file(path);
            }
        }
    }

    pub(super) fn is_there(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|data| (data.dev(), data.ino()) == self.identity)
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if self.is_there() {
            let _ = fs::remove_file(&self.path);
        }
    }
}
