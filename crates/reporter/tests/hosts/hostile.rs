//! Servers that misbehave: host calls return at once, one diagnostic says what is wrong, and the
//! reporter ends in time (failures B56, B59, B60, B79).

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use herdr_reporter::{Diagnostic, DiagnosticKind, Flushed, Handle, Reporter};
use tempfile::TempDir;

use crate::processes::memory;
use crate::support::{AMPLE, BUDGET, start_at};

const CALLS: usize = 10_000;
/// For all calls together, on a busy machine.
const CALLS_WITHIN: Duration = Duration::from_secs(2);
/// How much the process may grow during a test, while other tests run.
const MEMORY: usize = 64 << 20;

/// A server that treats every connection in the same way.
struct Server {
    folder: TempDir,
    seen: Arc<Seen>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Seen {
    connections: Mutex<usize>,
    more: Condvar,
}

impl Server {
    fn start(mut treat: impl FnMut(UnixStream) + Send + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("s")).unwrap();
        let (seen, stop) = (Arc::new(Seen::default()), Arc::new(AtomicBool::new(false)));
        let (counted, stopped) = (seen.clone(), stop.clone());
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::Acquire) {
                    break;
                }
                *counted.connections.lock().unwrap() += 1;
                counted.more.notify_all();
                treat(stream.unwrap());
            }
        });
        Self { folder, seen, stop, thread: Some(thread) }
    }

    /// Reads the request, writes these bytes and closes.
    fn answering(reply: impl Into<Vec<u8>>) -> Self {
        let reply = reply.into();
        Self::start(move |mut stream| {
            let _ = read_line(&stream);
            let _ = stream.write_all(&reply);
        })
    }

    fn reporter(&self) -> Reporter {
        reporter(&self.folder.path().join("s"))
    }

    fn connections(&self) -> usize {
        *self.seen.connections.lock().unwrap()
    }

    fn wait_for_connections(&self, wanted: usize) {
        let seen = self.seen.connections.lock().unwrap();
        let (seen, patience) =
            self.seen.more.wait_timeout_while(seen, AMPLE, |seen| *seen < wanted).unwrap();
        assert!(!patience.timed_out(), "{seen} of {wanted} connections");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        let _ = UnixStream::connect(self.folder.path().join("s"));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn reporter(socket: &Path) -> Reporter {
    let pane = start_at(socket);
    assert!(pane.is_active());
    pane
}

fn read_line(stream: &UnixStream) -> String {
    let mut line = String::new();
    let _ = BufReader::new(stream).read_line(&mut line);
    line
}

fn call_often(pane: &Handle) {
    let begun = Instant::now();
    for n in 0..CALLS / 4 {
        let turn = pane.turn();
        pane.set_title(format!("title {n}")).set_token("n", n.to_string());
        drop(turn);
    }
    assert!(begun.elapsed() < CALLS_WITHIN, "{CALLS} calls in {:?}", begun.elapsed());
}

/// Checks what must hold with any server. Returns the diagnostic that was raised.
fn survive(pane: Reporter, attempts: impl FnOnce()) -> Diagnostic {
    let before = memory();
    let mut diagnostics = pane.diagnostics();
    call_often(&pane);
    let _turn = pane.turn();
    let raised = diagnostics.recv_timeout(AMPLE).expect("a diagnostic");
    attempts();
    call_often(&pane);
    assert!(memory() < before + MEMORY, "{} KiB more", (memory() - before) / 1024);

    let handle = pane.handle();
    let begun = Instant::now();
    pane.close(BUDGET);
    assert!(begun.elapsed() < BUDGET * 2, "closed in {:?}", begun.elapsed());
    let further: Vec<_> = std::iter::from_fn(|| diagnostics.recv_timeout(AMPLE)).collect();
    assert_eq!(further, [], "after {raised:?}");
    let counters = handle.counters();
    assert!(counters.add_up() && counters.pending == 0, "{counters:?}");
    assert!(counters.offered > 0, "{counters:?}");
    raised
}

#[test]
fn one_that_never_answers() {
    let mut kept = Vec::new();
    let server = Server::start(move |stream| kept.push(stream));
    let raised = survive(server.reporter(), || server.wait_for_connections(2));
    assert_eq!(raised.kind, DiagnosticKind::Timeout, "{raised:?}");
}

#[test]
fn one_that_never_accepts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let _full = UnixStream::connect(&path).unwrap();
    let raised = survive(reporter(&path), || {});
    assert_eq!(raised.kind, DiagnosticKind::ConnectFailed, "{raised:?}");
}

#[test]
fn one_that_closes_at_once() {
    let server = Server::start(drop);
    let raised = survive(server.reporter(), || server.wait_for_connections(4));
    assert_eq!(raised.kind, DiagnosticKind::ConnectFailed, "{raised:?}");
}

#[test]
fn one_that_answers_half_a_line() {
    let server = Server::answering(&br#"{"id":"r","result":{"ty"#[..]);
    let raised = survive(server.reporter(), || server.wait_for_connections(4));
    assert_eq!(raised.kind, DiagnosticKind::ConnectFailed, "{raised:?}");
}

#[test]
fn one_that_answers_ten_megabytes_without_an_end() {
    let server = Server::answering(vec![b'x'; 10 << 20]);
    let raised = survive(server.reporter(), || server.wait_for_connections(4));
    assert_eq!(raised.kind, DiagnosticKind::ConnectFailed, "{raised:?}");
    assert!(raised.detail.len() < 500, "{}", raised.detail.len());
}

#[test]
fn one_that_refuses_with_an_empty_id() {
    let refusal = r#"{"id":"","error":{"code":"invalid_request","message":"secret"}}"#;
    let server = Server::answering(format!("{refusal}\n"));
    let raised = survive(server.reporter(), || server.wait_for_connections(2));
    assert_eq!(raised.kind, DiagnosticKind::ProtocolRejected, "{raised:?}");
    assert!(raised.detail.contains("invalid_request") && !raised.detail.contains("secret"));
    // After a refusal, each part waits.
    assert!(server.connections() < 20, "{}", server.connections());
}

#[test]
fn b79_one_that_speaks_json_rpc_is_left_alone() {
    let refusal = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"m"}}"#;
    let server = Server::answering(format!("{refusal}\n"));
    let pane = server.reporter();
    let mut diagnostics = pane.diagnostics();
    call_often(&pane);
    let _turn = pane.turn();
    let raised = diagnostics.recv_timeout(AMPLE).expect("a diagnostic");
    assert_eq!(raised.kind, DiagnosticKind::NotPaneApi, "{raised:?}");
    let asked = server.connections();
    // Neither calls of the host nor time make it try again.
    call_often(&pane);
    assert_eq!(pane.flush(Duration::from_millis(300)), Flushed::TimedOut);
    assert_eq!(server.connections(), asked);
    let raised = survive(pane, || {});
    assert_eq!(raised.kind, DiagnosticKind::NotPaneApi);
}

#[test]
fn one_whose_answers_come_byte_by_byte_is_fine() {
    let server = Server::start(|mut stream| {
        let request = read_line(&stream);
        let result = if request.contains("pane.get") {
            r#"{"type":"pane_info","pane":{"pane_id":"w1:p1","agent":"host","agent_status":"working"}}"#
        } else {
            r#"{"type":"ok"}"#
        };
        for byte in format!("{{\"id\":\"\",\"result\":{result}}}\n").bytes() {
            let _ = stream.write_all(&[byte]);
        }
    });
    let pane = server.reporter();
    let _turn = pane.turn();
    assert_eq!(pane.flush(AMPLE), Flushed::Delivered);
    assert_eq!(pane.close(BUDGET), herdr_reporter::Ended::Released);
}
