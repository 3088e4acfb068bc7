//! Servers that do what a script says, each on a socket in a folder of its own.

#![allow(dead_code, reason = "every test file uses another part of this")]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::future::poll_fn;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::thread::JoinHandle;
use std::time::Duration;

use herdr_socket_transport::{Client, Options};
use tempfile::TempDir;

/// Long enough for any machine to answer in, short enough to fail in.
pub(crate) const AMPLE: Duration = Duration::from_secs(20);

/// Short enough to wait for, long enough that a healthy server is not missed.
pub(crate) const SHORT: Duration = Duration::from_millis(150);

/// A reply to `ping`.
pub(crate) const PONG: &[u8] =
    b"{\"id\":\"t1\",\"result\":{\"type\":\"pong\",\"version\":\"0.8.2\",\"protocol\":20}}\n";

/// What a stream begins with.
pub(crate) const STARTED: &[u8] =
    b"{\"id\":\"t1\",\"result\":{\"type\":\"subscription_started\"}}\n";

/// A server that hands each connection to a script, one after the other.
pub(crate) struct Server {
    socket: PathBuf,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    _folder: TempDir,
}

impl Server {
    /// Listens before it returns. A script that waits has to end when its
    /// client goes away.
    pub(crate) fn start(mut script: impl FnMut(UnixStream) + Send + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("herdr.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::Acquire) {
                    break;
                }
                script(stream.unwrap());
            }
        });
        Self { socket, stop, thread: Some(thread), _folder: folder }
    }

    /// Reads the request, writes these bytes, closes.
    pub(crate) fn answering(reply: impl Into<Vec<u8>>) -> Self {
        let reply = reply.into();
        Self::start(move |stream| {
            read_line(&stream);
            write(&stream, &reply);
        })
    }

    /// Accepts, and does nothing else for as long as it lives.
    pub(crate) fn silent() -> Self {
        let mut kept = Vec::new();
        Self::start(move |stream| kept.push(stream))
    }

    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(&self.socket, Options::default().deadline(AMPLE))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // Wakes the accept; it is fine if the script has ended already.
        let _ = UnixStream::connect(&self.socket);
        let ended = self.thread.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            assert!(matches!(ended, Some(Ok(()))), "the script of the server failed");
        }
    }
}

/// The request line with its newline.
pub(crate) fn read_line(stream: &UnixStream) -> Vec<u8> {
    let mut line = Vec::new();
    BufReader::new(stream).read_until(b'\n', &mut line).unwrap();
    line
}

/// Writes to a client that may have seen enough.
pub(crate) fn write(mut stream: &UnixStream, bytes: &[u8]) {
    let _ = stream.write_all(bytes);
}

/// Waits until the client has closed, and gives what it sent until then.
pub(crate) fn drain(mut stream: &UnixStream) -> Vec<u8> {
    let mut rest = Vec::new();
    // A client that closed with our bytes unread resets the connection.
    let _ = stream.read_to_end(&mut rest);
    rest
}

/// Polls once; `None` means that it waits.
pub(crate) async fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    poll_fn(|context| {
        Poll::Ready(match Pin::new(&mut *future).poll(context) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        })
    })
    .await
}

/// Runs on a thread that is not root, even if root runs the tests, so that file
/// modes apply.
#[cfg(target_os = "linux")]
pub(crate) fn without_privileges<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        scope
            .spawn(|| {
                if rustix::process::geteuid().is_root() {
                    let nobody = rustix::process::Uid::from_raw(65534);
                    // This changes the calling thread only.
                    rustix::thread::set_thread_uid(nobody).unwrap();
                }
                work()
            })
            .join()
            .unwrap()
    })
}

/// Runs a future to its end on a runtime of its own.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
