//! Getting and keeping the lease.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::Shared;
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::lease::LeaseFile;
use crate::machine::{Lease, Legacy};

/// How long a start waits for a holder that may just be ending.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between attempts in that time.
const RETRY: Duration = Duration::from_millis(50);
/// Between attempts after it, which only own changes bring about.
const LATER: Duration = Duration::from_secs(1);
/// A disk that hangs for longer is no reason to say nothing.
const DISK: Duration = Duration::from_millis(500);
/// How long a predecessor in this process may take to stop.
const HANDOVER: Duration = Duration::from_millis(500);

/// This engine's hold on the lease.
#[derive(Debug)]
pub(super) struct Tenure {
    lease: LeaseFile,
    predecessor: Option<Arc<Shared>>,
    file: Option<File>,
    /// Attempts are made until then by themselves.
    patient_until: Instant,
    last_try: Option<Instant>,
    settled: bool,
}

impl Tenure {
    pub(super) fn new(lease: LeaseFile, predecessor: Option<Arc<Shared>>) -> Self {
        Self {
            lease,
            predecessor,
            file: None,
            patient_until: Instant::now() + PATIENCE,
            last_try: None,
            settled: false,
        }
    }

    /// Waits for the predecessor of this process to stop, and takes its lease
    /// and what it leaves.
    pub(super) async fn succeed(&mut self) -> Option<Legacy> {
        let predecessor = self.predecessor.take()?;
        let _ = timeout(HANDOVER, predecessor.ended()).await;
        self.file = predecessor.take_lease();
        self.settled = self.file.is_some();
        predecessor.take_legacy()
    }

    /// Whether the lease is ours, or cannot be had for reasons that are not
    /// another holder.
    pub(super) fn is_held(&self) -> bool {
        self.settled
    }

    /// When to try again without being asked.
    pub(super) fn next_try(&self) -> Option<Instant> {
        let next = self.last_try.map_or_else(Instant::now, |last| last + RETRY);
        (!self.settled && next <= self.patient_until).then_some(next)
    }

    /// Whether an own change is a reason to try again.
    pub(super) fn may_try(&self) -> bool {
        !self.settled && self.last_try.is_none_or(|last| last.elapsed() >= LATER)
    }

    pub(super) async fn try_take(&mut self, shared: &Shared) -> Lease {
        self.last_try = Some(Instant::now());
        match open(self.lease.clone()).await {
            Ok(None) => {
                if self.next_try().is_some() {
                    return Lease::Sought;
                }
                shared.raise_once(Diagnostic::new(
                    DiagnosticKind::Deferred,
                    "another process reports for this pane; it keeps it",
                ));
                return Lease::Denied;
            }
            Ok(Some(file)) => self.file = Some(file),
            Err(error) => shared.raise_once(Diagnostic::new(
                DiagnosticKind::Misconfigured,
                format!("no lease can be kept, so other processes are not kept off: {error}"),
            )),
        }
        self.settled = true;
        Lease::Held
    }

    /// The control socket of this process's own guard, if that is who has the
    /// lease.
    #[cfg(unix)]
    pub(super) fn own_guard(&self) -> Option<std::path::PathBuf> {
        let guarded = self.lease.guarded() == Some(std::process::id());
        (!self.settled && guarded).then(|| self.lease.control_socket())
    }

    /// Gives the lease back for a successor of this process.
    pub(super) fn give_up(&mut self) -> Option<File> {
        self.file.take()
    }
}

/// Opens and locks on a thread of its own: a disk may hang.
async fn open(lease: LeaseFile) -> io::Result<Option<File>> {
    let attempt = tokio::task::spawn_blocking(move || lease.try_take());
    match timeout(DISK, attempt).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Err(io::Error::other("the attempt failed")),
        Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "the disk does not answer")),
    }
}
