//! What a guard writes into the lease that it holds: whom it guards.
//! [`LeaseFile::guarded`] reads it, also in a host that the guard watches over.

use std::fs;
use std::io;

use herdr_reporter::LeaseFile;
use rustix::process::getpid;

/// Notes that this process guards `pid`.
pub(super) fn write(lease: &LeaseFile, pid: i32) -> io::Result<()> {
    fs::write(lease.path(), format!("guard {} of {pid}\n", getpid().as_raw_nonzero()))
}

/// Takes the note away, while the lease is still held.
pub(super) fn clear(lease: &LeaseFile) {
    let _ = fs::write(lease.path(), "");
}
