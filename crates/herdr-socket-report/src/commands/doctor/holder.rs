//! Who has the pane's lease, and whether they take what hooks say.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use herdr_reporter::LeaseFile;

use super::check::Check;
use crate::control::{Call, Hello, is_timeout};
use crate::wait::wait_for;

const NAME: &str = "lease";

/// How long a control socket may take to let somebody in and out again.
const CONTROL: Duration = Duration::from_secs(1);
/// How long hooks that report are waited for.
const HOOKS: Duration = Duration::from_millis(400);
/// How long the lease's file system may take.
const DISK: Duration = Duration::from_secs(2);

/// Who has the pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// Nobody.
    Nobody,
    /// A reporter that takes what hooks say.
    Reporter,
    /// A reporter that takes nothing from others, or does not answer.
    Closed,
    /// Hooks report right now, or no lease can be kept at all.
    Unknown,
}

/// What becomes of who speaks to a control socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ear {
    /// A reporter listens.
    Open,
    /// One is there and does not answer.
    Silent,
    /// Nobody is there.
    None,
}

/// What brings a silent reporter back.
pub(super) const WAKE: &str = "let it go on if it was stopped (fg, or kill -CONT and its process id), \
                               or end it; until then hooks wait for it and say nothing";

/// What the lease says.
#[derive(Debug)]
pub(super) struct Tenure {
    pub(super) hold: Hold,
    pub(super) check: Check,
    /// Nobody else gets a pane that nobody has while this is kept.
    pub(super) kept: Option<File>,
}

impl Tenure {
    fn of_others(hold: Hold, check: Check) -> Self {
        Self { hold, check, kept: None }
    }
}

/// Looks at the lease. Takes it if nobody has it. A disk that hangs hangs only
/// a thread, which ends with the process.
pub(super) fn look(lease: LeaseFile) -> Tenure {
    let folder = lease.path().parent().map(|folder| folder.display().to_string());
    within(DISK, move || look_at(&lease)).unwrap_or_else(|| {
        let folder = folder.unwrap_or_default();
        let check = Check::open(NAME, format!("the folder {folder:?} does not answer"));
        let remedy = "its disk hangs; set XDG_RUNTIME_DIR to a folder of this machine's own";
        Tenure::of_others(Hold::Unknown, check.remedy(remedy))
    })
}

/// What comes of it, if it comes within this time.
fn within<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, result) = mpsc::sync_channel(1);
    let thread = thread::Builder::new().name("lease".to_owned());
    thread.spawn(move || sender.send(work())).ok()?;
    result.recv_timeout(limit).ok()
}

fn look_at(lease: &LeaseFile) -> Tenure {
    let tenure = wait_for(HOOKS, || {
        match lease.try_take() {
            Ok(Some(file)) => {
                let check = Check::fine(NAME, "nobody has the pane");
                return Some(Tenure { hold: Hold::Nobody, check, kept: Some(file) });
            }
            Ok(None) => {}
            Err(error) => {
                let check = Check::open(NAME, format!("no lease can be kept: {error}"));
                let remedy = "reports go out all the same, but two reporters may fight; make sure \
                              that XDG_RUNTIME_DIR is a folder of this user's alone";
                return Some(Tenure::of_others(Hold::Unknown, check.remedy(remedy)));
            }
        }
        match lease.try_share() {
            Ok(None) => Some(held(lease)),
            _ => None,
        }
    });
    tenure.unwrap_or_else(|| {
        let check = Check::open(NAME, "hooks report to the pane right now");
        Tenure::of_others(Hold::Unknown, check)
    })
}

/// Whether a reporter listens at this control socket. One that was stopped, as
/// by Ctrl-Z, still lets people in, so it has to take its leave as well.
pub(super) fn ear(socket: &Path) -> Ear {
    let called = Call::to(socket, CONTROL);
    match called.and_then(|call| call.tell(&Hello::default(), &[], false)) {
        Ok(_) => Ear::Open,
        Err(error) if is_timeout(&error) => Ear::Silent,
        Err(_) => Ear::None,
    }
}

fn held(lease: &LeaseFile) -> Tenure {
    let mut finding = "a reporter has the pane".to_owned();
    if let Some(pid) = holder(lease.path()) {
        let _ = write!(finding, ": process {pid}");
        if let Some(name) = name_of(pid) {
            let _ = write!(finding, " ({name})");
        }
    }
    let socket = lease.control_socket();
    match ear(&socket) {
        Ear::Open => {
            let socket = socket.display().to_string();
            let _ = write!(finding, "; it takes what hooks say at {socket:?}");
            Tenure::of_others(Hold::Reporter, Check::fine(NAME, finding))
        }
        Ear::Silent => {
            finding.push_str("; it does not answer");
            Tenure::of_others(Hold::Closed, Check::wrong(NAME, finding).remedy(WAKE))
        }
        Ear::None => {
            finding.push_str(" and takes nothing from others");
            let remedy =
                "leave the pane to it, or end it; reports of others are put off until then";
            Tenure::of_others(Hold::Closed, Check::wrong(NAME, finding).remedy(remedy))
        }
    }
}

/// What a process calls itself. The kernel cuts that after 15 bytes, which the
/// name of its program may complete.
fn name_of(pid: u32) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?.trim_end().to_owned();
    let program = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
    let program = program.as_deref().and_then(Path::file_name).map(OsStr::to_string_lossy);
    let whole = program.filter(|program| !name.is_empty() && program.starts_with(&name));
    Some(whole.map_or(name, Into::into))
}

/// The process that holds the lock, as the kernel lists it. Elsewhere than on
/// Linux, and on file systems that number their files twice, nobody is named.
fn holder(lease: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;

    let inode = std::fs::metadata(lease).ok()?.ino();
    holder_in(&std::fs::read_to_string("/proc/locks").ok()?, inode)
}

/// `1: FLOCK  ADVISORY  WRITE 4711 00:2d:1234 0 EOF`, one lock a line; a waiter's
/// line has an arrow in it.
fn holder_in(locks: &str, inode: u64) -> Option<u32> {
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, pid, file, ..] = words[..] else { return None };
        let (_, number) = file.rsplit_once(':')?;
        // A process of another namespace has the number 0.
        let pid = pid.parse().ok().filter(|pid| *pid != 0)?;
        (number.parse() == Ok(inode)).then_some(pid)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hangs_is_not_waited_for() {
        let (hold, stuck) = mpsc::channel::<()>();
        assert_eq!(within(Duration::from_millis(1), move || stuck.recv().is_ok()), None);
        drop(hold);
        assert_eq!(within(Duration::from_secs(20), || 5), Some(5));
    }

    #[test]
    fn the_holder_is_found_among_the_kernels_locks() {
        let locks = "1: POSIX  ADVISORY  WRITE 11 00:2d:77 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 12 00:2d:78 0 EOF\n\
                     3: -> FLOCK  ADVISORY  WRITE 13 00:2d:77 0 EOF\n\
                     4: FLOCK  ADVISORY  WRITE 0 00:2d:79 0 EOF\n\
                     5: FLOCK  ADVISORY  WRITE 14 00:2d:77 0 EOF\n";
        assert_eq!(holder_in(locks, 77), Some(14));
        assert_eq!(holder_in(locks, 78), Some(12));
        assert_eq!(holder_in(locks, 79), None);
        assert_eq!(holder_in("nonsense", 1), None);
    }
}
