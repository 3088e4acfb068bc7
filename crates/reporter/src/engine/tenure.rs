//! Getting and keeping the lease.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Duration;

#[cfg(unix)]
use herdr_socket_transport::Endpoint;
#[cfg(unix)]
use tokio::io::AsyncWriteExt;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio::time::{Instant, timeout};

use super::Shared;
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::lease::LeaseFile;
use crate::machine::{Lease, PredecessorClaim};

/// How long a start waits for a holder that may just be ending.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between attempts in that time.
const RETRY: Duration = Duration::from_millis(50);
/// Between attempts after it, which only own changes bring about.
const LATER: Duration = Duration::from_secs(1);
/// A disk that hangs for longer is no reason to say nothing.
const DISK: Duration = Duration::from_millis(500);
/// How long a predecessor in this process may take to stop; longer than it
/// waits for an answer.
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
    last_ask: Option<Instant>,
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
            last_ask: None,
            settled: false,
        }
    }

    /// Waits for the predecessor of this process to stop, and takes its lease
    /// and what it leaves.
    pub(super) async fn succeed(&mut self) -> Option<PredecessorClaim> {
        let predecessor = self.predecessor.as_ref()?;
        let _ = timeout(HANDOVER, predecessor.ended()).await;
        self.inherit()
    }

    /// Takes what the predecessor has left, if it has stopped. One that a disk
    /// holds up stops later than it was waited for; until then it has the lease.
    pub(super) fn inherit(&mut self) -> Option<PredecessorClaim> {
        let predecessor = self.predecessor.take_if(|before| !before.is_active())?;
        if let Some(lease) = predecessor.take_lease() {
            self.file = Some(lease);
            self.settled = true;
        }
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

    /// Makes attempts by themselves again for a while: a holder that has just
    /// gone may have let go of its connections before the lease.
    #[cfg(unix)]
    pub(super) fn be_patient_again(&mut self) {
        self.patient_until = Instant::now() + PATIENCE;
    }

    pub(super) async fn try_take(&mut self, shared: &Shared) -> Lease {
        self.last_try = Some(Instant::now());
        let lease = self.lease.clone();
        match off_thread(move || lease.try_take()).await {
            Ok(None) => {
                if self.next_try().is_some() {
                    return Lease::Sought;
                }
                shared.raise_once(Diagnostic::new(
                    DiagnosticKind::Deferred,
                    "another process reports for this pane and keeps it; herdr-socket-report doctor \
                     says which",
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

    /// The control socket of this process's own supervisor, if it has one.
    #[cfg(unix)]
    pub(super) fn own_supervisor(&self) -> Option<std::path::PathBuf> {
        let socket = self.lease.supervisor_socket(std::process::id());
        (!self.settled && socket.exists()).then_some(socket)
    }

    /// Makes the lease's file again where somebody has removed it, so that
    /// nobody else takes another one for it.
    #[cfg(unix)]
    pub(super) fn keep_in_place(&mut self) {
        let lost = self.file.as_ref().is_some_and(|held| !self.lease.is_in_place(held));
        if let Some(again) = lost.then(|| self.lease.try_take().ok().flatten()).flatten() {
            self.file = Some(again);
        }
    }

    /// Asks the owner for the pane, which lets it go if its agent is behind ours:
    /// stopped, or in the background while ours is in front.
    #[cfg(unix)]
    pub(super) async fn ask_for_it(&mut self, pane: &Endpoint, agent: Option<u32>) {
        if self.last_ask.is_some_and(|last| last.elapsed() < LATER) {
            return;
        }
        self.last_ask = Some(Instant::now());
        let hello = serde_json::json!({"hello": {
            "socket": pane.socket(), "pane": pane.pane(),
            "seeks": agent.unwrap_or_else(std::process::id),
        }});
        let ask = async {
            let mut owner = UnixStream::connect(self.lease.control_socket()).await?;
            owner.write_all(format!("{hello}\n").as_bytes()).await
        };
        // Nobody may be there, and whoever is need not hear it.
        let _ = timeout(DISK, ask).await;
    }

    /// Gives the lease back for a successor of this process.
    pub(super) fn give_up(&mut self) -> Option<File> {
        self.file.take()
    }
}

/// Works on a thread of its own, because a disk may hang; then the thread is
/// left to itself.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    match timeout(DISK, tokio::task::spawn_blocking(work)).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Err(io::Error::other("the attempt failed")),
        Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "the disk does not answer")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::config::Config;
    use crate::machine::Ended;

    /// A pane's lease in a folder that is not there yet, and the settings that
    /// say so.
    fn lease_in(folder: &tempfile::TempDir) -> (Config, LeaseFile) {
        let leases = Some(folder.path().join("leases"));
        let config = Config { runtime_folder: leases, ..Config::default() };
        let pane = herdr_proto::PaneId::parse("w1:p1").expect("an id");
        let pane = Endpoint::new(folder.path().join("s"), pane);
        let lease = LeaseFile::of_pane(&config, &pane);
        (config, lease)
    }

    #[test]
    fn a_predecessor_that_stops_late_still_leaves_its_lease() {
        let folder = tempfile::tempdir().unwrap();
        let (config, lease) = lease_in(&folder);
        let held = lease.try_take().unwrap();
        let predecessor = Shared::new(config.clone(), true);
        predecessor.retire();

        let mut tenure = Tenure::new(lease, Some(predecessor.clone()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            assert_eq!(tenure.succeed().await, None);
            assert_eq!(tenure.try_take(&Shared::new(config, true)).await, Lease::Sought);
            predecessor.leave(PredecessorClaim::default(), held);
            predecessor.end(Ended::NothingToRelease);
            assert_eq!(tenure.inherit(), Some(PredecessorClaim::default()));
        });
        assert!(tenure.is_held());
    }

    #[cfg(unix)]
    #[tokio::test(start_paused = true)]
    async fn a_holder_that_seems_gone_is_waited_for_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut tenure = Tenure::new(lease_in(&folder).1, None);
        tokio::time::advance(PATIENCE + RETRY).await;
        tenure.last_try = Some(Instant::now());
        assert!(tenure.next_try().is_none() && !tenure.may_try());
        tenure.be_patient_again();
        assert!(tenure.next_try().is_some());
    }

    #[test]
    fn a_disk_that_hangs_holds_nothing_up() {
        let (thaw, frozen) = mpsc::channel::<()>();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let outcome = runtime.block_on(off_thread(move || {
            let _ = frozen.recv();
            Ok(())
        }));
        assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::TimedOut);
        // As the engine does when it ends; a plain drop would wait for the disk.
        runtime.shutdown_background();
        drop(thaw);
    }
}
