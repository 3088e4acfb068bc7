//! One request at a time (failure B07), however fast the host is.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use fake_herdr::FakeHerdr;
use herdr_reporter::Prompt;
use serde_json::Value;

use crate::support::{AMPLE, BUDGET, requests, seen, start, start_at};

#[test]
fn requests_arrive_one_by_one_with_rising_numbers() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let pane = pane.handle();
            scope.spawn(move || {
                for n in 0..20 {
                    let turn = pane.turn();
                    pane.set_title(format!("{thread} {n}")).set_session(format!("s{n}"));
                    let _ask = turn.prompt(Prompt::approval("x"));
                }
            });
        }
    });
    seen(&herdr, &pane);
    let is_held = |request: &str| request.contains("events.subscribe");
    // The held stream is opened at some time between the reports.
    let begun = Instant::now();
    while !herdr.log().iter().any(|exchange| is_held(&exchange.request)) && begun.elapsed() < AMPLE
    {
        std::thread::yield_now();
    }
    pane.close(BUDGET);

    let log = herdr.log();
    let held: Vec<_> = log.iter().filter(|exchange| is_held(&exchange.request)).collect();
    assert_eq!(held.len(), 1, "one held stream");
    assert!(held[0].request.contains(r#""subscriptions":[]"#), "{}", held[0].request);

    let reports: Vec<_> = log.iter().filter(|exchange| !is_held(&exchange.request)).collect();
    let connections: Vec<u64> = reports.iter().map(|exchange| exchange.connection).collect();
    assert!(connections.is_sorted(), "answered in the order of connecting: {connections:?}");
    assert_eq!(connections.iter().collect::<BTreeSet<_>>().len(), connections.len());

    let seqs: Vec<u64> =
        requests(&herdr).iter().filter_map(|request| request["params"]["seq"].as_u64()).collect();
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "{seqs:?}");
}

/// A server that counts how many connections are open at a time, and answers the first report only
/// when the test says so.
struct Counting {
    folder: tempfile::TempDir,
    arrived: Receiver<Value>,
    /// A message, or dropping it, lets the server answer.
    go: Option<Sender<()>>,
    most: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Counting {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("s")).unwrap();
        let (arrive, arrived) = channel();
        let (go, gone) = channel();
        let gone = Arc::new(Mutex::new(Some(gone)));
        let (open, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let stop = Arc::new(AtomicBool::new(false));
        let (counted, stopped) = (most.clone(), stop.clone());
        let thread = std::thread::spawn(move || {
            let mut connections = Vec::new();
            for stream in listener.incoming() {
                if stopped.load(Ordering::Acquire) {
                    break;
                }
                let (arrive, gone) = (arrive.clone(), gone.clone());
                let (open, most) = (open.clone(), counted.clone());
                connections.push(std::thread::spawn(move || {
                    serve(&stream.unwrap(), &arrive, &gone, &open, &most);
                }));
            }
            for connection in connections {
                connection.join().unwrap();
            }
        });
        Self { folder, arrived, go: Some(go), most, stop, thread: Some(thread) }
    }
}

fn serve(
    mut stream: &UnixStream,
    arrive: &Sender<Value>,
    gone: &Mutex<Option<Receiver<()>>>,
    open: &AtomicUsize,
    most: &AtomicUsize,
) {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    let request: Value = serde_json::from_str(&line).unwrap();
    let mut reply = |result: &str| {
        let _ = stream.write_all(format!("{{\"id\":\"r\",\"result\":{result}}}\n").as_bytes());
    };
    if request["method"] == "events.subscribe" {
        reply(r#"{"type":"subscription_started"}"#);
        let _ = BufReader::new(stream).read_line(&mut line);
        return;
    }
    most.fetch_max(open.fetch_add(1, Ordering::AcqRel) + 1, Ordering::AcqRel);
    let method = request["method"].as_str().unwrap().to_owned();
    arrive.send(request).unwrap();
    let wait = if method == "pane.report_agent" { gone.lock().unwrap().take() } else { None };
    if let Some(wait) = wait {
        // Returns when the test says so, or is over.
        let _ = wait.recv();
    }
    open.fetch_sub(1, Ordering::AcqRel);
    match method.as_str() {
        "pane.get" => reply(
            r#"{"type":"pane_info","pane":{"pane_id":"w1:p1","agent":"host","agent_status":"idle"}}"#,
        ),
        "pane.report_agent" | "pane.report_metadata" | "pane.release_agent" => {
            reply(r#"{"type":"ok"}"#);
        }
        // It refuses unknown methods, as an older server does.
        _ => {
            let refusal = r#"{"id":"","error":{"code":"invalid_request","message":""}}"#;
            let _ = stream.write_all(format!("{refusal}\n").as_bytes());
        }
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        self.go = None;
        self.stop.store(true, Ordering::Release);
        let _ = UnixStream::connect(self.folder.path().join("s"));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[test]
fn b07_a_slow_answer_holds_back_what_follows_and_the_newest_is_last() {
    let server = Counting::start();
    let pane = start_at(&server.folder.path().join("s"));
    let turn = pane.turn();
    while server.arrived.recv_timeout(AMPLE).unwrap()["params"]["state"] != "working" {}

    // All of this happens while the first report is not answered.
    pane.set_session("s").set_title("T");
    drop(turn.prompt(Prompt::approval("never seen")));
    drop(turn);
    let handle = pane.handle();
    let flush = std::thread::spawn(move || handle.flush(AMPLE));
    server.go.as_ref().unwrap().send(()).unwrap();
    assert_eq!(flush.join().unwrap(), herdr_reporter::Flushed::Delivered);

    let later: Vec<Value> = server.arrived.try_iter().collect();
    let states: Vec<&str> = later.iter().filter_map(|r| r["params"]["state"].as_str()).collect();
    assert_eq!(states, ["idle"], "the states in between are superseded");
    let said = later.iter().any(|request| request["params"]["agent_session_id"] == "s");
    assert!(said, "{later:?}");
    assert_eq!(server.most.load(Ordering::Acquire), 1, "never two at a time");
    pane.close(BUDGET);
}
