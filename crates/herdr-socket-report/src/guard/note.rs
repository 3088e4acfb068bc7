//! What a guard writes into the lease that it holds: whom it guards. It only
//! counts while the lease is held and the guard lives.

use std::fs;
use std::io;

use reporter::LeaseFile;
use rustix::process::{Pid, getpid, test_kill_process};

/// Notes that this process guards `pid`.
pub(super) fn write(lease: &LeaseFile, pid: i32) -> io::Result<()> {
    fs::write(lease.path(), format!("guard {} of {pid}\n", getpid().as_raw_nonzero()))
}

/// Takes the note away, while the lease is still held.
pub(super) fn clear(lease: &LeaseFile) {
    let _ = fs::write(lease.path(), "");
}

/// Whether a living guard of `pid` holds the lease.
pub(crate) fn is_guarded(lease: &LeaseFile, pid: i32) -> bool {
    if !matches!(lease.try_share(), Ok(None)) {
        return false;
    }
    let note = fs::read_to_string(lease.path()).unwrap_or_default();
    let words: Vec<&str> = note.split_whitespace().collect();
    let ["guard", guard, "of", guarded] = words[..] else { return false };
    let guard = guard.parse().ok().and_then(Pid::from_raw);
    guarded.parse() == Ok(pid) && guard.is_some_and(|guard| test_kill_process(guard).is_ok())
}
