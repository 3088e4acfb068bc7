//! The controlling terminal of a process, and never another one.

use std::fs::{File, OpenOptions};
use std::io::IsTerminal;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use herdr_reporter::sidecar::{ancestors, session_of};
use rustix::fs::OFlags;

/// The terminal of a process of this user.
pub(super) fn of(process: u32) -> Option<File> {
    // A session has one terminal, so this process can open it as its own.
    if session_of(process).is_some_and(|session| session_of(std::process::id()) == Some(session)) {
        return open(Path::new("/dev/tty"));
    }
    of_another_session(process)
}

/// The terminal of this process, or of the process that started it in another session, as hosts
/// often do with hooks.
pub(super) fn of_caller() -> Option<File> {
    let own = std::process::id();
    let session = session_of(own);
    of(own).or_else(|| of(ancestors(own).find(|ancestor| session_of(*ancestor) != session)?))
}

/// Finds the terminal among the open files of the process. A path could lead to another
/// terminal if the process sees other files than this one.
#[cfg(target_os = "linux")]
fn of_another_session(process: u32) -> Option<File> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};

    use herdr_reporter::sidecar::Process;
    use rustix::fs::{major, minor};

    /// How many open files of a process are checked. A terminal is usually among the first.
    const FILES_MAX: usize = 64;

    let terminal = Process::of(process)?.terminal?.cast_unsigned();
    let is_it = |file: &Path| {
        let Ok(data) = file.metadata() else { return false };
        // The kernel's number for the terminal of a process.
        let (major, minor) = (major(data.rdev()), minor(data.rdev()));
        let number = (minor & 0xff) | (major << 8) | ((minor & !0xff) << 12);
        data.file_type().is_char_device() && number == terminal
    };
    let files = std::fs::read_dir(format!("/proc/{process}/fd")).ok()?.flatten().take(FILES_MAX);
    let mut files = files.map(|file| file.path());
    files.find(|file| is_it(file)).and_then(|file| open(&file))
}

/// There is no way to tell on this system.
#[cfg(not(target_os = "linux"))]
fn of_another_session(_: u32) -> Option<File> {
    None
}

fn open(path: &Path) -> Option<File> {
    let flags = i32::try_from(OFlags::NOCTTY.bits()).ok()?;
    let file = OpenOptions::new().write(true).custom_flags(flags).open(path).ok()?;
    file.is_terminal().then_some(file)
}
