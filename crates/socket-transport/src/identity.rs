use std::path::Path;

/// Identifies the socket at a path. Compare identities to notice another socket.
///
/// A server that restarts or hands over binds a new socket at the same path (protocol.md
/// section 7.6). If [`inode`] returns another identity than before, reports to the old server
/// may be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SocketIdentity {
    device: u64,
    inode: u64,
    // File systems reuse a freed inode number at once, so the number alone would not tell a new
    // socket from an unlinked one.
    modified: (i64, i64),
}

/// The identity of the file at `path`, following symbolic links; `None` if there is none or it
/// cannot be seen.
///
/// This is one `stat` call without a connection. Changing the mode of the file does not change
/// its identity. Two sockets that are bound within one tick of the file system's clock, which
/// is some milliseconds, may have the same identity.
#[cfg(unix)]
pub fn inode(path: impl AsRef<Path>) -> Option<SocketIdentity> {
    use std::os::unix::fs::MetadataExt;

    let data = std::fs::metadata(path).ok()?;
    Some(SocketIdentity {
        device: data.dev(),
        inode: data.ino(),
        modified: (data.mtime(), data.mtime_nsec()),
    })
}

/// Always `None`: there are no sockets on this platform.
#[cfg(not(unix))]
pub fn inode(_path: impl AsRef<Path>) -> Option<SocketIdentity> {
    None
}
