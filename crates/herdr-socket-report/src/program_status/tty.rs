//! The controlling terminal of a process, and never another one.

use std::fs::{File, OpenOptions};
use std::io::IsTerminal;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use herdr_reporter::sidecar::{Process, ancestors, session_of};
use rustix::fs::{OFlags, major, minor};

/// Most open files of a process that are looked at; a terminal is among the
/// first.
const FILES_MAX: usize = 64;

/// The terminal of a process of this user.
pub(super) fn of(process: u32) -> Option<File> {
    // A session has one terminal, which is ours, too.
    if session_of(process).is_some_and(|session| session_of(std::process::id()) == Some(session)) {
        return open(Path::new("/dev/tty"));
    }
    // By what the process itself has open: a path may lead to another terminal
    // where it sees other files than we do.
    let terminal = Process::of(process)?.terminal?;
    let files = std::fs::read_dir(format!("/proc/{process}/fd")).ok()?.flatten().take(FILES_MAX);
    let mut files = files.map(|file| file.path());
    files.find(|file| is_device(file, terminal)).and_then(|file| open(&file))
}

/// The terminal of this process, or of the one that started it in a session of
/// its own, as hosts often do with hooks.
pub(super) fn of_caller() -> Option<File> {
    let own = std::process::id();
    let session = session_of(own);
    of(own).or_else(|| of(ancestors(own).find(|ancestor| session_of(*ancestor) != session)?))
}

fn open(path: &Path) -> Option<File> {
    let flags = i32::try_from((OFlags::NOCTTY).bits()).ok()?;
    let file = OpenOptions::new().write(true).custom_flags(flags).open(path).ok()?;
    file.is_terminal().then_some(file)
}

/// Whether this is the terminal with that number, as the kernel tells it of a
/// process.
fn is_device(path: &Path, terminal: i32) -> bool {
    let Ok(data) = path.metadata() else { return false };
    let (major, minor) = (major(data.rdev()), minor(data.rdev()));
    let number = (minor & 0xff) | (major << 8) | ((minor & !0xff) << 12);
    data.file_type().is_char_device() && number == terminal.cast_unsigned()
}
