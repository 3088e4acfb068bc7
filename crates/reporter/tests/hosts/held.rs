//! The held stream: there is one, nothing is written to it, and it is not reopened in a loop.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use fake_herdr::FakeHerdr;
use herdr_proto::ReportState;
use herdr_reporter::Reporter;
use serde_json::json;
use tempfile::TempDir;

use crate::processes::{count, requests, runtime};
use crate::support::{AMPLE, builder, builder_at, flushed};

#[test]
fn b72_there_is_one_subscription_and_it_is_to_nothing() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = builder(&herdr).start();
    for n in 0..4 {
        pane.set_state([ReportState::Working, ReportState::Blocked][n % 2]);
        pane.set_title(format!("title {n}"));
        flushed(&pane);
    }
    let subscribed = |n| {
        herdr.wait_for_log(AMPLE, |log| {
            log.iter().filter(|exchange| exchange.request.contains("events.subscribe")).count() >= n
        })
    };
    assert!(subscribed(1));
    herdr.live_handoff();
    assert!(subscribed(2), "the new server's");
    flushed(&pane);
    drop(pane);
    assert_eq!(count(&herdr, "events.subscribe"), 2);
    for request in requests(&herdr) {
        if request["method"] == "events.subscribe" {
            assert_eq!(request["params"], json!({ "subscriptions": [] }));
        }
        assert_ne!(request["method"], "events.wait");
    }
}

/// A server that hands each held stream to the test.
struct Server {
    folder: TempDir,
    /// Each held stream, and when it was answered.
    streams: Receiver<(Instant, UnixStream)>,
    /// The number of connections.
    asked: Arc<AtomicUsize>,
}

impl Server {
    fn start() -> Self {
        let folder = runtime();
        let listener = UnixListener::bind(folder.path().join("s")).unwrap();
        let (subscribed, streams) = channel();
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = asked.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                counted.fetch_add(1, Ordering::AcqRel);
                let mut stream = stream.unwrap();
                let mut request = String::new();
                let _ = BufReader::new(&stream).read_line(&mut request);
                let begun = Instant::now();
                let answer = format!("{{\"id\":\"r\",\"result\":{}}}\n", result_of(&request));
                let _ = stream.write_all(answer.as_bytes());
                let is_held = request.contains("events.subscribe");
                if is_held && subscribed.send((begun, stream)).is_err() {
                    return;
                }
            }
        });
        Self { folder, streams, asked }
    }

    fn reporter(&self) -> Reporter {
        builder_at(&self.folder.path().join("s")).start()
    }
}

/// The answers of a server whose pane shows that our agent is working.
fn result_of(request: &str) -> &'static str {
    if request.contains("events.subscribe") {
        r#"{"type":"subscription_started"}"#
    } else if request.contains("pane.get") {
        r#"{"type":"pane_info","pane":{"pane_id":"w1:p1","agent":"host","agent_status":"working"}}"#
    } else if request.contains("pane.process_info") {
        r#"{"type":"pane_process_info","process_info":{"pane_id":"w1:p1","foreground_processes":[]}}"#
    } else {
        r#"{"type":"ok"}"#
    }
}

#[test]
fn b73_the_held_stream_stays_and_carries_nothing_from_us() {
    let server = Server::start();
    let pane = server.reporter();
    let _turn = pane.turn();
    let (_, mut stream) = server.streams.recv_timeout(AMPLE).unwrap();
    // This is longer than any request may take, and reports are sent meanwhile.
    stream.set_read_timeout(Some(Duration::from_millis(2200))).unwrap();
    for n in 0..2 {
        pane.set_title(format!("title {n}"));
        flushed(&pane);
    }
    let read = stream.read(&mut [0; 16]);
    let kind = read.map_err(|error| error.kind());
    assert_eq!(kind, Err(ErrorKind::WouldBlock), "neither a byte nor the end");
    assert!(server.streams.try_recv().is_err(), "and there is no other");

    drop(stream);
    assert!(server.streams.recv_timeout(AMPLE).is_ok(), "a closed one is opened again");
}

#[test]
fn b73_a_stream_that_always_ends_is_reopened_after_longer_and_longer_waits() {
    let server = Server::start();
    let pane = server.reporter();
    let _turn = pane.turn();
    let mut begun = Vec::new();
    for _ in 0..6 {
        let (at, stream) = server.streams.recv_timeout(AMPLE).unwrap();
        begun.push(at);
        drop(stream);
    }
    // The first end may be a handoff. After that, each wait is twice the last one.
    for (wait, pair) in [100, 200, 400, 800].into_iter().zip(begun[1..].windows(2)) {
        let waited = pair[1] - pair[0];
        assert!(waited >= Duration::from_millis(wait), "{waited:?} of {wait} ms");
    }
}

#[test]
fn b73_a_server_that_ends_every_stream_at_once_is_not_asked_in_a_loop() {
    let server = Server::start();
    let pane = server.reporter();
    let _turn = pane.turn();
    let begun = Instant::now();
    while let Some(left) = Duration::from_secs(1).checked_sub(begun.elapsed()) {
        drop(server.streams.recv_timeout(left));
    }
    let asked = server.asked.load(Ordering::Acquire);
    assert!((4..50).contains(&asked), "{asked} connections in a second");
}
