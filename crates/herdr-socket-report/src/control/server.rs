//! The thread that serves the control socket.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustix::process::geteuid;
use tokio::net::UnixStream;
use tokio::sync::oneshot;
use tokio::task::{JoinSet, LocalSet};

use super::client::serve;
use super::intake::Intake;
use super::socket_file::SocketFile;

/// Most clients at a time. Each may hold a line of 1 MiB.
const CLIENTS_MAX: usize = 128;
/// How long the removal of the file is waited for. It may come later as well:
/// a successor's file is not taken for ours.
const CLOSING: Duration = Duration::from_millis(50);
/// How long the clients of a reporter that has ended are waited for.
const FAREWELL: Duration = Duration::from_millis(300);

/// A control socket, from the moment its reporter holds the lease on. Reporting
/// never waits for it.
pub(crate) struct Control {
    opened: Receiver<io::Result<()>>,
    stop: Option<oneshot::Sender<()>>,
    /// Hangs up when the socket's file is gone.
    closed: Receiver<()>,
    /// Hangs up when the thread has ended.
    ended: Receiver<()>,
}

impl Control {
    /// Serves `path` as soon as the reporter behind `intake` holds the lease.
    pub(crate) fn start(path: PathBuf, intake: Intake) -> Self {
        let (say_opened, opened) = mpsc::channel();
        let (say_closed, closed) = mpsc::channel();
        let (say_ended, ended) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let server = Server { path, intake, opened: say_opened, closed: Some(say_closed), stopped };
        let thread = thread::Builder::new().name("control".to_owned()).spawn(move || {
            server.run();
            drop(say_ended);
        });
        if let Err(error) = thread {
            tracing::warn!(%error, "no control socket: its thread cannot start");
        }
        Self { opened, stop: Some(stop), closed, ended }
    }

    /// Waits until clients can connect; `None` if that takes longer.
    pub(crate) fn wait_open(&self, timeout: Duration) -> Option<io::Result<()>> {
        match self.opened.recv_timeout(timeout) {
            Ok(outcome) => Some(outcome),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                Some(Err(io::Error::other("the reporter ended before it had the pane")))
            }
        }
    }

    /// Takes no more clients and removes the socket's file. For the end, while
    /// the lease is still held; the clients that are there stay.
    pub(crate) fn close(&mut self) {
        drop(self.stop.take());
        let _ = self.closed.recv_timeout(CLOSING);
    }

    /// Waits for the clients to get the last words of a reporter that has
    /// ended.
    pub(crate) fn finish(mut self) {
        self.close();
        let _ = self.ended.recv_timeout(FAREWELL);
    }
}

struct Server {
    path: PathBuf,
    intake: Intake,
    opened: mpsc::Sender<io::Result<()>>,
    closed: Option<mpsc::Sender<()>>,
    stopped: oneshot::Receiver<()>,
}

impl Server {
    fn run(self) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        match runtime {
            Ok(runtime) => LocalSet::new().block_on(&runtime, self.serve()),
            Err(error) => drop(self.opened.send(Err(error))),
        }
    }

    async fn serve(mut self) {
        tokio::select! {
            held = self.intake.lease_held() => if !held { return },
            _ = &mut self.stopped => return,
        }
        let (listener, file) = match SocketFile::listen(&self.path) {
            Ok(open) => open,
            Err(error) => {
                tracing::warn!(%error, "no control socket");
                drop(self.opened.send(Err(error)));
                return;
            }
        };
        drop(self.opened.send(Ok(())));
        let mut clients = JoinSet::new();
        loop {
            tokio::select! {
                _ = &mut self.stopped => break,
                Some(_) = clients.join_next(), if !clients.is_empty() => {}
                accepted = listener.accept(), if clients.len() < CLIENTS_MAX => match accepted {
                    Ok((stream, _)) if is_ours(&stream) => {
                        clients.spawn_local(serve(stream, self.intake.clone()));
                    }
                    Ok(_) => tracing::warn!("another user's connection was refused"),
                    // Out of descriptors, most likely: others go on.
                    Err(error) => {
                        tracing::debug!(%error, "a connection cannot be accepted");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                },
            }
        }
        drop((listener, file));
        drop(self.closed.take());
        while clients.join_next().await.is_some() {}
    }
}

/// Whether this user, or the superuser, is at the other end.
pub(crate) fn is_ours(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == geteuid().as_raw() || peer.uid() == 0)
}
