//! The folder for what the processes of one user have to find: leases and control sockets.

use std::io;
use std::path::{Path, PathBuf};

/// The folder's name in the runtime folder, and how its name begins in a temporary folder.
const FOLDER: &str = "herdr-socket-report";
/// How many names are tried in a temporary folder, where other users may have taken a name.
const NAMES: u32 = 4;
/// The longest name of a file in the folder: a pane, a process, its start, and `.sock`.
const NAME_MAX: usize = 16 + 1 + 10 + 1 + 16 + 5;
/// The longest path of a Unix socket.
const PATH_MAX: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// The first folder that can be used: in `$XDG_RUNTIME_DIR`, or in a temporary folder. Every
/// process of this user finds the same one. If none can be used, it is the last one, and an
/// attempt to use it says why it cannot be used.
pub(crate) fn folder() -> PathBuf {
    let mut candidates = candidates(std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from));
    let usable = candidates.iter().position(|folder| make(folder, false).is_ok());
    candidates.swap_remove(usable.unwrap_or(candidates.len() - 1))
}

/// The folders to try, the best first.
fn candidates(runtime: Option<PathBuf>) -> Vec<PathBuf> {
    let runtime = runtime.filter(|folder| folder.is_absolute());
    let mut folders: Vec<PathBuf> = runtime.map(|folder| folder.join(FOLDER)).into_iter().collect();
    let mut temporary = vec![std::env::temp_dir()];
    if cfg!(unix) && temporary[0] != Path::new("/tmp") {
        temporary.push("/tmp".into());
    }
    for parent in temporary {
        folders.extend((1..=NAMES).map(|number| {
            let user = user();
            parent.join(match number {
                1 => format!("{FOLDER}-{user}"),
                _ => format!("{FOLDER}-{user}-{number}"),
            })
        }));
    }
    folders.retain(|folder| folder.as_os_str().len() + 1 + NAME_MAX <= PATH_MAX);
    // A path that is too long for a socket can still hold a lease.
    if folders.is_empty() {
        folders.push(std::env::temp_dir().join(format!("{FOLDER}-{}", user())));
    }
    folders
}

/// Makes the folder, and its parents if `whole_path`, or makes sure that it is this user's alone:
/// in a temporary folder another user may have made it first. Another user's folder is left as it
/// is.
pub(crate) fn make(folder: &Path, whole_path: bool) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(whole_path);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => made?,
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};

        let data = std::fs::symlink_metadata(folder)?;
        if !data.is_dir() || data.uid() != user() || data.mode() & 0o022 != 0 {
            let what = "the folder for leases is not this user's alone";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
        }
        if data.mode() & 0o077 != 0 {
            std::fs::set_permissions(folder, PermissionsExt::from_mode(0o700))?;
        }
        rustix::fs::access(folder, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK)?;
    }
    Ok(())
}

#[cfg(unix)]
fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn user() -> u32 {
    0
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    #[test]
    fn one_that_others_can_read_is_closed_and_what_is_not_ours_alone_is_left() {
        let parent = tempfile::tempdir().unwrap();
        let open = parent.path().join("open");
        std::fs::create_dir(&open).unwrap();
        let mode = |mode| std::fs::set_permissions(&open, PermissionsExt::from_mode(mode)).unwrap();
        mode(0o777);
        make(&open, false).unwrap_err();
        mode(0o755);
        make(&open, false).unwrap();
        assert_eq!(open.metadata().unwrap().mode() & 0o777, 0o700);

        let file = parent.path().join("file");
        std::fs::write(&file, "kept").unwrap();
        let link = parent.path().join("link");
        symlink(&open, &link).unwrap();
        for other in [&file, &link, &parent.path().join("no/parent"), &file.join("below")] {
            make(other, false).unwrap_err();
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
        make(&parent.path().join("no/parent"), true).unwrap();
    }

    #[test]
    fn f42_what_no_socket_fits_into_is_passed_over() {
        let long = PathBuf::from(format!("/{}", "x".repeat(60)));
        let found = candidates(Some(long.clone()));
        assert!(!found.is_empty() && found.iter().all(|folder| !folder.starts_with(&long)));
        assert!(candidates(Some("relative".into())).iter().all(|folder| folder.is_absolute()));
        assert_eq!(
            candidates(Some("/run/user/1".into()))[0],
            Path::new("/run/user/1").join(FOLDER)
        );
    }
}
