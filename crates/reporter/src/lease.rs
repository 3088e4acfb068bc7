//! Leases: one reporter per pane among the processes of this machine.

use std::fs::{File, OpenOptions, TryLockError};
use std::hash::Hasher;
use std::io;
use std::path::{Path, PathBuf};

use fnv::FnvHasher;
use herdr_proto::PaneId;
use herdr_socket_transport::Endpoint;

use crate::config::Config;

/// The folder in the runtime folder, and the name of one in the temporary
/// folder.
const FOLDER: &str = "herdr-socket-report";

/// The file by which the processes of this machine agree on who reports for a
/// pane. A reporter holds it alone; a process that reports once and goes shares
/// it with its like while it does.
///
/// It is never removed: a process that holds the lock of a removed file would
/// share the pane with one that made a new file. The kernel drops the lock when
/// its holder dies, however it dies.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeaseFile {
    path: PathBuf,
}

impl LeaseFile {
    /// The lease of a pane, in [`Config::runtime_folder`]. Nothing is opened or
    /// made yet.
    ///
    /// ```
    /// use herdr_proto::PaneId;
    /// use herdr_socket_transport::Endpoint;
    ///
    /// let mut config = herdr_reporter::Config::default();
    /// config.runtime_folder = Some("/run/user/1000/leases".into());
    /// let pane = Endpoint::new("/run/user/1000/herdr.sock", PaneId::parse("w1:p1")?);
    /// let lease = herdr_reporter::LeaseFile::of_pane(&config, &pane);
    /// assert!(lease.path().starts_with("/run/user/1000/leases"));
    /// # Ok::<(), herdr_proto::InvalidValue>(())
    /// ```
    pub fn of_pane(config: &Config, pane: &Endpoint) -> Self {
        let folder = config.runtime_folder.clone().unwrap_or_else(default_folder);
        Self::of(&folder, pane.socket(), pane.pane())
    }

    /// Where it is. What else belongs to the pane's reporter lies beside it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The control socket of whoever holds it.
    pub fn control_socket(&self) -> PathBuf {
        self.path.with_extension("sock")
    }

    /// The lease of a pane, by its id as the environment has it: a moved pane
    /// keeps that id for the processes in it.
    pub(crate) fn of(folder: &Path, socket: &Path, pane: &PaneId) -> Self {
        let socket = real(socket);
        let name = stable_hash(&[socket.as_os_str().as_encoded_bytes(), pane.as_str().as_bytes()]);
        Self { path: folder.join(format!("{name:016x}.lock")) }
    }

    /// Takes the lease for this process alone; `None` if another one has it.
    /// May block on a disk that hangs, never on another holder.
    ///
    /// # Errors
    ///
    /// If the folder or the file cannot be made or is not ours alone.
    pub fn try_take(&self) -> io::Result<Option<File>> {
        Self::unless_taken(self.open()?, File::try_lock)
    }

    /// Shares the lease with others that do so; `None` if a reporter has it.
    /// May block on a disk that hangs, never on the holder.
    ///
    /// # Errors
    ///
    /// As [`try_take`](Self::try_take).
    pub fn try_share(&self) -> io::Result<Option<File>> {
        Self::unless_taken(self.open()?, File::try_lock_shared)
    }

    /// The process that the lease's holder guards, by its pid; `None` if the
    /// holder is no living guard, or there is no lease yet. It believes what a
    /// guard has noted in the file; whether the lease is held shows
    /// [`try_share`](Self::try_share).
    pub fn guarded(&self) -> Option<u32> {
        let note = std::fs::read_to_string(&self.path).ok()?;
        let words: Vec<&str> = note.split_whitespace().collect();
        let ["guard", guard, "of", guarded] = words[..] else { return None };
        lives(guard.parse().ok()?).then(|| guarded.parse().ok())?
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
            private_folder(folder)?;
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&self.path)
    }
}

/// The path without symbolic links. A socket that is not there yet has its
/// folder's, so that the name does not change when it comes.
fn real(socket: &Path) -> PathBuf {
    let canonical = |path: &Path| std::fs::canonicalize(path).ok();
    let in_folder = || Some(canonical(socket.parent()?)?.join(socket.file_name()?));
    canonical(socket).or_else(in_folder).unwrap_or_else(|| socket.to_path_buf())
}

/// Where leases are kept if nothing else is said.
fn default_folder() -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from) {
        Some(folder) if folder.is_absolute() => folder.join(FOLDER),
        _ => std::env::temp_dir().join(format!("{FOLDER}-{}", user())),
    }
}

/// A hash that is the same in every build and release, for names that two
/// programs have to agree on.
pub(crate) fn stable_hash(parts: &[&[u8]]) -> u64 {
    let mut hasher = FnvHasher::default();
    for part in parts {
        hasher.write(part);
        hasher.write_u8(0);
    }
    hasher.finish()
}

#[cfg(unix)]
fn lives(pid: i32) -> bool {
    let pid = rustix::process::Pid::from_raw(pid);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}

#[cfg(not(unix))]
fn lives(_: i32) -> bool {
    false
}

#[cfg(unix)]
fn user() -> u32 {
    rustix::process::getuid().as_raw()
}

#[cfg(not(unix))]
fn user() -> u32 {
    0
}

/// Makes the folder, or makes sure that nobody else can write to it: in the
/// temporary folder somebody else may have made it first.
fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;

        let data = std::fs::symlink_metadata(folder)?;
        if !data.is_dir() || data.uid() != user() || data.mode() & 0o022 != 0 {
            let what = "the folder for leases is not this user's alone";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
        }
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// The lease of a pane in a folder that is not there yet.
    fn lease_of(folder: &tempfile::TempDir, pane: &str) -> LeaseFile {
        let pane = PaneId::parse(pane).expect("an id");
        LeaseFile::of(&folder.path().join("leases"), Path::new("/x/herdr.sock"), &pane)
    }

    #[test]
    fn one_holder_at_a_time_and_the_next_one_after() {
        let folder = tempfile::tempdir().unwrap();
        let lease = lease_of(&folder, "w1:p1");
        let held = lease.try_take().unwrap().unwrap();
        assert!(lease.try_take().unwrap().is_none());
        assert!(lease_of(&folder, "w1:p2").try_take().unwrap().is_some());
        drop(held);
        assert!(lease.try_take().unwrap().is_some());
    }

    #[test]
    fn those_that_share_it_keep_a_reporter_off_and_it_keeps_them_off() {
        let folder = tempfile::tempdir().unwrap();
        let lease = lease_of(&folder, "w1:p1");
        let one = lease.try_share().unwrap().unwrap();
        let other = lease.try_share().unwrap().unwrap();
        assert!(lease.try_take().unwrap().is_none());
        drop((one, other));
        let held = lease.try_take().unwrap().unwrap();
        assert!(lease.try_share().unwrap().is_none());
        drop(held);
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_refused() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        let pane = PaneId::parse("w1:p1").unwrap();
        let lease = LeaseFile::of(folder.path(), Path::new("/x/herdr.sock"), &pane);
        assert_eq!(lease.try_take().unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }
}
