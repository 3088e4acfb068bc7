//! When an engine asks for its pane's lease, and when it gives the lease up.

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
use super::owners::Inheritance;
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::lease::{LeaseFile, owner_of};
use crate::leavings::Leavings;
use crate::machine::{Lease, PredecessorClaim};

/// How long a new engine waits silently for an owner that may just be ending.
const PATIENCE: Duration = Duration::from_secs(2);
/// The interval between attempts during [`PATIENCE`].
const EARLY_INTERVAL: Duration = Duration::from_millis(50);
/// The interval between attempts after that: the pane is to be taken over within two seconds of the
/// owner's end.
const LATE_INTERVAL: Duration = Duration::from_secs(1);
/// How long a disk may hang before the engine reports without a lease.
const DISK_TIMEOUT: Duration = Duration::from_millis(500);
/// How long to wait until a predecessor in this process has stopped. Longer than the predecessor
/// waits for an answer.
const HANDOVER: Duration = Duration::from_millis(500);

/// The locked file of a pane's lease. Dropping it unlocks the file.
///
/// A copy of the process that `fork` makes shares the lock. Closing the file would not release the
/// lock as long as the copy has it open, so the file is unlocked explicitly. The copy itself does
/// not unlock it.
#[derive(Debug)]
pub(super) struct HeldLease {
    file: File,
    process: u32,
}

impl HeldLease {
    fn new(file: File) -> Self {
        Self { file, process: std::process::id() }
    }
}

impl Drop for HeldLease {
    fn drop(&mut self) {
        if self.process == std::process::id() {
            let _ = self.file.unlock();
        }
    }
}

/// The lease of the engine's pane.
///
/// The engine does not ask for the lease before [`seek`](Self::seek): a process that is proven not
/// to run in the pane must not keep others off it.
#[derive(Debug)]
pub(super) struct PaneLease {
    lease: LeaseFile,
    predecessor: Option<Arc<Shared>>,
    held: Option<HeldLease>,
    /// What the note in the lease's file says now.
    noted: Leavings,
    state: State,
    #[cfg(unix)]
    last_ask: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It is not known yet whether the pane is ours.
    Unsought,
    Sought {
        /// Until this time a refusal is not reported.
        patient_until: Instant,
        last_try: Option<Instant>,
    },
    /// The lease is ours, or no lease can be kept here at all.
    Settled,
}

impl PaneLease {
    pub(super) fn new(lease: LeaseFile, predecessor: Option<Arc<Shared>>) -> Self {
        Self {
            lease,
            predecessor,
            held: None,
            noted: Leavings::default(),
            state: State::Unsought,
            #[cfg(unix)]
            last_ask: None,
        }
    }

    /// Waits until the predecessor in this process has stopped, and takes over its lease and claim.
    pub(super) async fn wait_and_inherit(&mut self) -> Option<PredecessorClaim> {
        let predecessor = self.predecessor.as_ref()?;
        let _ = timeout(HANDOVER, predecessor.ended()).await;
        self.inherit()
    }

    /// Takes over the predecessor's lease and claim if it has stopped. A disk that hangs may delay
    /// it for longer than [`HANDOVER`]; it keeps the lease until it stops.
    pub(super) fn inherit(&mut self) -> Option<PredecessorClaim> {
        let predecessor = self.predecessor.take_if(|predecessor| !predecessor.is_active())?;
        let Inheritance { claim, lease } = predecessor.take_inheritance();
        if let Some(lease) = lease {
            self.noted = Leavings::noted_in(&lease.file);
            self.held = Some(lease);
            self.state = State::Settled;
        }
        claim
    }

    /// The pane may be claimed, so the engine starts to ask for the lease. At first it asks often:
    /// an owner that is just ending closes its connections before it gives up the lease.
    pub(super) fn seek(&mut self) {
        if self.state == State::Unsought {
            let patient_until = Instant::now() + PATIENCE;
            self.state = State::Sought { patient_until, last_try: None };
        }
    }

    /// The pane is not ours, so other processes may have it.
    pub(super) fn give_up(&mut self) {
        self.held = None;
        self.state = State::Unsought;
    }

    pub(super) fn hand_over(&mut self) -> Option<HeldLease> {
        self.held.take()
    }

    pub(super) fn is_settled(&self) -> bool {
        self.state == State::Settled
    }

    pub(super) fn is_unsought(&self) -> bool {
        self.state == State::Unsought
    }

    pub(super) fn next_try(&self) -> Option<Instant> {
        let State::Sought { patient_until, last_try } = self.state else { return None };
        let Some(last) = last_try else { return Some(Instant::now()) };
        Some(last + if last < patient_until { EARLY_INTERVAL } else { LATE_INTERVAL })
    }

    pub(super) async fn try_take(&mut self, shared: &Shared) -> Lease {
        let patient_until = match &mut self.state {
            State::Unsought => return Lease::Sought,
            State::Settled => return Lease::Held,
            State::Sought { patient_until, last_try } => {
                *last_try = Some(Instant::now());
                *patient_until
            }
        };
        let lease = self.lease.clone();
        match off_thread(move || lease.try_take()).await {
            Ok(None) if Instant::now() < patient_until => return Lease::Sought,
            Ok(None) => {
                shared.raise_once(&Diagnostic::new(
                    DiagnosticKind::Deferred,
                    "another process reports for this pane and keeps it; herdr-socket-report doctor \
                     says which",
                ));
                return Lease::Denied;
            }
            Ok(Some(file)) => self.held = Some(HeldLease::new(file)),
            Err(error) => shared.raise_once(&Diagnostic::new(
                DiagnosticKind::Misconfigured,
                format!("no lease can be kept, so other processes are not kept off: {error}"),
            )),
        }
        self.state = State::Settled;
        Lease::Held
    }

    /// What the last owner has left on the pane if it was killed.
    pub(super) fn left_behind(&mut self) -> Option<Leavings> {
        let held = self.held.as_ref()?;
        self.noted = Leavings::noted_in(&held.file);
        Some(self.noted.clone())
    }

    /// Notes what would stay on the pane if this process were killed now.
    pub(super) fn note(&mut self, leavings: Leavings) {
        let Some(held) = self.held.as_ref().filter(|_| leavings != self.noted) else { return };
        if leavings.note_in(&held.file).is_ok() {
            self.noted = leavings;
        }
    }

    pub(super) fn owner(&self) -> Option<u32> {
        owner_of(self.lease.path())
    }

    /// The control socket of this process's own supervisor, if it has one.
    #[cfg(unix)]
    pub(super) fn own_supervisor(&self) -> Option<std::path::PathBuf> {
        let socket = self.lease.supervisor_socket(std::process::id());
        (!self.is_settled() && socket.exists()).then_some(socket)
    }

    /// Makes the lease's file again if it was removed, so that no other process locks a new file.
    #[cfg(unix)]
    pub(super) fn keep_in_place(&mut self) {
        let lost = self.held.as_ref().is_some_and(|held| !self.lease.is_in_place(&held.file));
        if let Some(again) = lost.then(|| self.lease.try_take().ok().flatten()).flatten() {
            self.held = Some(HeldLease::new(again));
            self.noted = Leavings::default();
        }
    }

    /// Asks the owner for the pane. The owner gives it up if the owner's agent is stopped, or is in
    /// the background while ours is in the foreground.
    #[cfg(unix)]
    pub(super) async fn ask_for_it(&mut self, pane: &Endpoint, agent: Option<u32>) {
        if self.last_ask.is_some_and(|last| last.elapsed() < LATE_INTERVAL) {
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
        // The owner need not have a control socket, and may ignore the question.
        let _ = timeout(DISK_TIMEOUT, ask).await;
    }
}

/// Runs blocking work on a separate thread. If a disk hangs, that thread is abandoned.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    match timeout(DISK_TIMEOUT, tokio::task::spawn_blocking(work)).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Err(io::Error::other("the attempt failed")),
        Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "the disk does not answer")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::activity::Activity;
    use crate::config::Config;
    use crate::machine::Ended;

    /// The lease of a pane in a folder that does not exist yet, and the settings that name the
    /// folder.
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
        let held = lease.try_take().unwrap().map(HeldLease::new);
        let shared = || Shared::new(config.clone(), None, Activity::default(), None);
        let predecessor = shared();
        predecessor.retire();

        let mut successor = PaneLease::new(lease, Some(predecessor.clone()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            assert_eq!(successor.wait_and_inherit().await, None);
            successor.seek();
            assert_eq!(successor.try_take(&shared()).await, Lease::Sought);
            predecessor.leave_to_successor(PredecessorClaim::default(), held);
            predecessor.end(Ended::NothingToRelease);
            assert_eq!(successor.inherit(), Some(PredecessorClaim::default()));
        });
        assert!(successor.is_settled());
    }

    #[cfg(unix)]
    #[tokio::test(start_paused = true)]
    async fn f03_an_owner_that_stays_is_asked_for_every_second_and_one_that_goes_often() {
        let folder = tempfile::tempdir().expect("a folder");
        let (config, file) = lease_in(&folder);
        let held = file.try_take().unwrap();
        let shared = Shared::new(config, None, Activity::default(), None);
        let mut lease = PaneLease::new(file, None);
        assert_eq!((lease.next_try(), lease.try_take(&shared).await), (None, Lease::Sought));
        lease.seek();
        let mut tries = 0;
        while lease.try_take(&shared).await == Lease::Sought {
            assert!(lease.next_try() <= Some(Instant::now() + EARLY_INTERVAL));
            tokio::time::advance(EARLY_INTERVAL).await;
            tries += 1;
        }
        assert!((20..=60).contains(&tries), "{tries}");
        assert!(lease.next_try() <= Some(Instant::now() + LATE_INTERVAL));
        lease.give_up();
        lease.seek();
        assert!(lease.next_try() <= Some(Instant::now()));
        drop(held);
        assert_eq!(lease.try_take(&shared).await, Lease::Held);
        assert_eq!(lease.next_try(), None);
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
        // The engine ends in the same way; dropping the runtime would wait for the disk.
        runtime.shutdown_background();
        drop(thaw);
    }
}
