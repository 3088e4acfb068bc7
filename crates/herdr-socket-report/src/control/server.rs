//! The thread that serves the control sockets.

use std::future::pending;
use std::io;
use std::os::unix::net::UnixListener as StdListener;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::geteuid;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::oneshot;
use tokio::task::{JoinSet, LocalSet};

use super::admission::{Address, Admission};
use super::client::{Caller, serve};
use super::file_checks::FileChecks;
use super::intake::Intake;
use super::socket_file::SocketFile;
use crate::wait::runtime;

/// The most clients at a time. Each may hold a line of 1 MiB.
const CLIENTS_MAX: usize = 128;
/// The time limit for removing the files. The removal may also come later, since a successor's
/// file is left alone.
const REMOVAL_LIMIT: Duration = Duration::from_millis(50);
/// The time limit for telling the clients how the reporter ended.
const LAST_LINES_LIMIT: Duration = Duration::from_millis(300);

/// The addresses of an owner.
pub(crate) struct Addresses {
    /// Beside the lease. The owner listens there from the moment its reporter holds the lease.
    pub(crate) pane: PathBuf,
    pub(crate) own: Option<PathBuf>,
    /// A listener that the launcher already bound to the own address.
    pub(crate) begun: Option<StdListener>,
}

/// The control sockets of a reporter. Reporting never waits for them.
pub(crate) struct Control {
    opened: Receiver<(Address, io::Result<()>)>,
    intake: Intake,
    stop: Option<oneshot::Sender<()>>,
    /// Disconnected when the files have been removed.
    closed: Receiver<()>,
    /// Disconnected when the thread has ended.
    ended: Receiver<()>,
}

impl Control {
    pub(crate) fn start(addresses: Addresses, intake: &Intake, admission: Admission) -> Self {
        let (say_opened, opened) = mpsc::channel();
        let (say_closed, closed) = mpsc::channel();
        let (say_ended, ended) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let server = Server { intake: intake.clone(), admission, opened: say_opened };
        let thread = thread::Builder::new().name("control".to_owned()).spawn(move || {
            server.run(addresses, stopped, say_closed);
            drop(say_ended);
        });
        if let Err(error) = thread {
            tracing::warn!(%error, "no control socket: its thread cannot start");
        }
        Self { opened, intake: intake.clone(), stop: Some(stop), closed, ended }
    }

    /// Waits until clients can connect to this address; `None` if that takes longer than
    /// `timeout`.
    pub(crate) fn wait_open(&self, address: Address, timeout: Duration) -> Option<io::Result<()>> {
        let end = Instant::now() + timeout;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.opened.recv_timeout(left) {
                Ok((opened, outcome)) if opened == address => return Some(outcome),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => {
                    return Some(Err(io::Error::other(
                        "the reporter ended before it had the pane",
                    )));
                }
            }
        }
    }

    /// Accepts no more clients and removes the files. It is called while the lease is still
    /// held. The present clients stay connected.
    pub(crate) fn close(&mut self) {
        drop(self.stop.take());
        let _ = self.closed.recv_timeout(REMOVAL_LIMIT);
    }

    /// Waits until the clients have been told how the reporter ended.
    pub(crate) fn finish(mut self) {
        self.close();
        self.intake.end();
        let _ = self.ended.recv_timeout(LAST_LINES_LIMIT);
    }
}

struct Server {
    intake: Intake,
    admission: Admission,
    opened: mpsc::Sender<(Address, io::Result<()>)>,
}

/// An address and its listener, once there is one.
struct Listening {
    at: Address,
    path: PathBuf,
    open: Option<(UnixListener, SocketFile)>,
}

impl Server {
    fn run(self, addresses: Addresses, stopped: oneshot::Receiver<()>, closed: mpsc::Sender<()>) {
        match runtime() {
            Ok(runtime) => {
                let serve = self.serve(addresses, stopped, closed);
                LocalSet::new().block_on(&runtime, serve);
            }
            Err(error) => drop(self.opened.send((Address::Own, Err(error)))),
        }
    }

    async fn serve(
        self,
        addresses: Addresses,
        mut stopped: oneshot::Receiver<()>,
        closed: mpsc::Sender<()>,
    ) {
        let mut pane = Listening { at: Address::Pane, path: addresses.pane, open: None };
        let has_own = addresses.own.is_some();
        let path = addresses.own.unwrap_or_default();
        let mut own = Listening { at: Address::Own, path, open: None };
        if has_own {
            let outcome = own.listen(|path| match addresses.begun {
                Some(listener) => Ok((listener, SocketFile::at(path)?)),
                None => SocketFile::listen_alone(path),
            });
            drop(self.opened.send((Address::Own, outcome)));
            SocketFile::sweep(&own.path);
        }
        let mut may_open = true;
        let mut file_checks = FileChecks::new(has_own);
        let mut clients = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                _ = &mut stopped => break,
                Some(_) = clients.join_next(), if !clients.is_empty() => continue,
                () = self.intake.lease_held(), if pane.open.is_none() && may_open => {
                    let outcome = pane.listen(SocketFile::listen);
                    // If this failed, it is tried again after the next check.
                    may_open = outcome.is_ok();
                    drop(self.opened.send((Address::Pane, outcome)));
                    file_checks.soon();
                    continue;
                }
                () = self.intake.lease_lost(), if pane.open.is_some() => {
                    pane.open = None;
                    continue;
                }
                () = file_checks.due() => {
                    may_open = true;
                    file_checks.watch([&own, &pane].into_iter().filter_map(Listening::file));
                    if own.restore() | pane.restore() {
                        file_checks.soon();
                    }
                    continue;
                }
                accepted = pane.accept(), if clients.len() < CLIENTS_MAX => accepted,
                accepted = own.accept(), if clients.len() < CLIENTS_MAX => accepted,
            };
            match accepted {
                Ok((stream, at)) if is_ours(&stream) => {
                    file_checks.soon();
                    let caller = Caller { stream, at, admission: self.admission.clone() };
                    clients.spawn_local(serve(caller, self.intake.clone()));
                }
                Ok(_) => tracing::warn!("another user's connection was refused"),
                // Most likely there are no free descriptors. The present clients are still
                // served.
                Err(error) => {
                    tracing::debug!(%error, "a connection cannot be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
        drop((pane, own));
        drop(closed);
        while clients.join_next().await.is_some() {}
    }
}

impl Listening {
    fn listen(
        &mut self,
        listen: impl FnOnce(&Path) -> io::Result<(StdListener, SocketFile)>,
    ) -> io::Result<()> {
        let open = SocketFile::make_folder(&self.path)
            .and_then(|()| listen(&self.path))
            .and_then(|(listener, file)| Ok((UnixListener::from_std(listener)?, file)));
        self.open = Some(open.inspect_err(|error| tracing::warn!(%error, "no control socket"))?);
        Ok(())
    }

    fn file(&self) -> Option<&Path> {
        self.open.as_ref().map(|_| &*self.path)
    }

    /// Listens again if the file has been removed, and says whether it was. If that fails, the
    /// next check tries again.
    fn restore(&mut self) -> bool {
        let lost = self.open.as_ref().is_some_and(|(_, file)| !file.is_there());
        if lost {
            drop(self.listen(SocketFile::listen_alone));
        }
        lost
    }

    async fn accept(&self) -> io::Result<(UnixStream, Address)> {
        match &self.open {
            Some((listener, _)) => Ok((listener.accept().await?.0, self.at)),
            None => pending().await,
        }
    }
}

/// Whether the peer is this user or the superuser.
pub(crate) fn is_ours(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == geteuid().as_raw() || peer.uid() == 0)
}
