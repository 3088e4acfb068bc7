//! Leases: at most one reporter for each pane among the processes of this machine.

use std::fs::{File, OpenOptions, TryLockError};
use std::hash::Hasher;
use std::io;
use std::path::{Path, PathBuf};

use fnv::FnvHasher;
use herdr_socket_transport::Endpoint;

use crate::config::Config;
#[cfg(unix)]
use crate::process::{Process, ancestors, lives};
use crate::runtime;

/// The file by which the processes of this machine agree on who reports for a pane. A reporter
/// holds its lock alone; one-shots share the lock with each other while they report.
///
/// The file is never removed: a process that holds the lock of a removed file would share the pane
/// with a process that made a new file. The kernel drops the lock when its holder dies, however it
/// dies.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeaseFile {
    path: PathBuf,
}

impl LeaseFile {
    /// The lease of a pane, in [`Config::runtime_folder`]. If that is not set, the first usable
    /// folder is used, and made if it is missing: `herdr-socket-report` in `$XDG_RUNTIME_DIR`, or a
    /// folder of this user's own in the temporary folder.
    ///
    /// The name contains the pane's id in the environment, because the processes of a moved pane
    /// keep that id.
    pub fn of_pane(config: &Config, pane: &Endpoint) -> Self {
        let folder = config.runtime_folder.clone().unwrap_or_else(runtime::folder);
        let (socket, pane) = (real(pane.socket()), pane.pane().as_str());
        let name = stable_hash(&[socket.as_os_str().as_encoded_bytes(), pane.as_bytes()]);
        Self { path: folder.join(format!("{name:016x}.lock")) }
    }

    /// Where the file is. Everything else that belongs to the pane's reporter lies next to it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The control socket of the owner.
    pub fn control_socket(&self) -> PathBuf {
        self.path.with_extension("sock")
    }

    /// The control socket of the supervisor that watches `process`, if there is such a supervisor.
    /// It does not depend on who holds the lease. The name contains the start time of the process,
    /// so no later process gets the same name.
    #[cfg(unix)]
    pub fn supervisor_socket(&self, process: u32) -> PathBuf {
        let started = Process::of(process).map_or(0, |process| process.started);
        let pane = self.path.file_stem().unwrap_or_default().to_string_lossy();
        self.path.with_file_name(format!("{pane}-{process}-{started:x}.sock"))
    }

    /// The control socket for this pane of the supervisor that watches the nearest ancestor of
    /// `process`; `None` if no ancestor has a supervisor here.
    #[cfg(unix)]
    pub fn supervisor_above(&self, process: u32) -> Option<PathBuf> {
        let files = std::fs::read_dir(self.path.parent()?).ok()?;
        let sockets = files.filter_map(|file| Some(file.ok()?.path()));
        let sockets = sockets.filter(|socket| self.is_of_this_pane(socket) == Some(true));
        let watched = sockets.filter_map(|socket| match supervised_by(&socket)? {
            (process, true) => Some((process, socket)),
            _ => None,
        });
        let watched: Vec<(u32, PathBuf)> = watched.collect();
        if watched.is_empty() {
            return None;
        }
        ancestors(process).find_map(|ancestor| {
            let (_, socket) = watched.iter().find(|(process, _)| *process == ancestor)?;
            Some(socket.clone())
        })
    }

    /// Whether a supervisor's socket belongs to this pane; `None` if its name does not tell.
    pub fn is_of_this_pane(&self, supervisor_socket: &Path) -> Option<bool> {
        let (pane, ..) = named(supervisor_socket)?;
        Some(self.path.file_stem().is_some_and(|own| own == pane))
    }

    /// Whether the locked file is still the one that other processes would lock.
    #[cfg(unix)]
    pub fn is_in_place(&self, held: &File) -> bool {
        use std::os::unix::fs::MetadataExt;

        let identity = |data: std::fs::Metadata| (data.dev(), data.ino());
        let held = held.metadata().map(identity).ok();
        held.is_some() && std::fs::symlink_metadata(&self.path).map(identity).ok() == held
    }

    /// Takes the lease for this process alone; `None` if another process has it. May block on a
    /// disk that hangs, never on another holder.
    ///
    /// # Errors
    ///
    /// If the folder or the file cannot be made, or the folder is not this user's alone.
    pub fn try_take(&self) -> io::Result<Option<File>> {
        Self::unless_taken(self.open()?, File::try_lock)
    }

    /// Shares the lease with other one-shots; `None` if a reporter has it. May block on a disk that
    /// hangs, never on another holder.
    ///
    /// # Errors
    ///
    /// As for [`try_take`](Self::try_take).
    pub fn try_share(&self) -> io::Result<Option<File>> {
        Self::unless_taken(self.open()?, File::try_lock_shared)
    }

    fn unless_taken(
        file: File,
        lock: impl FnOnce(&File) -> Result<(), TryLockError>,
    ) -> io::Result<Option<File>> {
        match lock(&file) {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn open(&self) -> io::Result<File> {
        if let Some(folder) = self.path.parent() {
            runtime::make(folder, true)?;
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&self.path)
    }
}

/// The path without symbolic links. For a socket that does not exist yet, only the links of its
/// folder are resolved, so that the lease's name stays the same when the socket is made.
fn real(socket: &Path) -> PathBuf {
    let canonical = |path: &Path| std::fs::canonicalize(path).ok();
    let in_folder = || Some(canonical(socket.parent()?)?.join(socket.file_name()?));
    canonical(socket).or_else(in_folder).unwrap_or_else(|| socket.to_path_buf())
}

/// The process that the supervisor with this socket watches, and whether that process still lives;
/// `None` if the socket's name does not tell.
#[cfg(unix)]
pub fn supervised_by(socket: &Path) -> Option<(u32, bool)> {
    let (_, process, started) = named(socket)?;
    let same = Process::of(process).is_none_or(|it| started == 0 || it.started == started);
    Some((process, same && lives(process)))
}

fn named(socket: &Path) -> Option<(&str, u32, u64)> {
    let mut parts = socket.file_name()?.to_str()?.strip_suffix(".sock")?.split('-');
    let (pane, process, started) = (parts.next()?, parts.next()?, parts.next()?);
    let started = u64::from_str_radix(started, 16).ok()?;
    parts.next().is_none().then_some((pane, process.parse().ok()?, started))
}

/// The process that holds the lock of this file, as the kernel lists it. `None` on other systems
/// than Linux, and on file systems that give a file two inode numbers.
pub fn owner_of(lease: &Path) -> Option<u32> {
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let inode = inode(lease)?;
    // One lock a line, such as `1: FLOCK  ADVISORY  WRITE 4711 00:2d:1234 0 EOF`. The line of a
    // process that waits for a lock has an arrow in it.
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, pid, file, ..] = words[..] else { return None };
        let (_, number) = file.rsplit_once(':')?;
        // The kernel lists a process of another namespace as 0.
        let pid = pid.parse().ok().filter(|pid| *pid != 0)?;
        (number.parse() == Ok(inode)).then_some(pid)
    })
}

#[cfg(unix)]
fn inode(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().map(|data| std::os::unix::fs::MetadataExt::ino(&data))
}

#[cfg(not(unix))]
fn inode(_path: &Path) -> Option<u64> {
    None
}

/// A hash that is the same in every build and release, since two programs have to agree on the
/// names made from it.
pub(crate) fn stable_hash(parts: &[&[u8]]) -> u64 {
    let mut hasher = FnvHasher::default();
    for part in parts {
        hasher.write(part);
        hasher.write_u8(0);
    }
    hasher.finish()
}
