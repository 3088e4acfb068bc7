use std::path::Path;

/// Which socket lies at a path right now: comparable, nothing else.
///
/// A server that restarts or hands over binds a new socket at the same path
/// (protocol.md section 7.6). When [`inode`] gives another identity than
/// before, what was reported to the old server may be gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SocketIdentity {
    device: u64,
    inode: u64,
    // File systems hand a freed inode number out again at once, so the number
    // alone would not notice a socket that was unlinked and bound anew.
    modified: (i64, i64),
}

/// The identity of what lies at `path`, following symbolic links, or `None`
/// when nothing can be seen there.
///
/// This is one `stat`, no connection. Changing the mode of the file does not
/// change its identity. Two sockets bound within one tick of the file system's
/// clock, some milliseconds, may look the same.
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

/// Always `None`: no path is a socket here.
#[cfg(not(unix))]
pub fn inode(_path: impl AsRef<Path>) -> Option<SocketIdentity> {
    None
}
