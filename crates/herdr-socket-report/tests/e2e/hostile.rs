//! Servers that misbehave, and hosts that do not read.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use fake_herdr::FakeHerdr;
use tempfile::TempDir;

use crate::support::{PATIENCE, inside, is_clean, now, sidecar, status};

/// A server that does this with every connection.
struct Server {
    _folder: TempDir,
    path: PathBuf,
}

impl Server {
    fn start(answer: impl Fn(UnixStream) + Send + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("herdr.sock");
        let listener = UnixListener::bind(&path).unwrap();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(stream);
            }
        });
        Self { _folder: folder, path }
    }
}

fn read_request(stream: &mut UnixStream) {
    let mut request = Vec::new();
    let mut byte = [0];
    while let Ok(1) = stream.read(&mut byte) {
        request.push(byte[0]);
        if byte[0] == b'\n' {
            return;
        }
    }
}

fn replying(reply: &'static [u8]) -> impl Fn(UnixStream) + Send {
    move |mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(reply);
    }
}

/// Feeds far more than a pipe holds and wants a quick, orderly end.
fn check(what: &str, server: &Server, diagnostic: &str) {
    let socket = server.path.to_str().unwrap();
    let mut sidecar = sidecar(&["run", "--strict", "--socket", socket, "--pane", "w1:p1"]).start();
    let began = Instant::now();
    sidecar.line(r#"{"event": "agent_started"}"#);
    let line = r#"{"event": "usage_changed", "used": 5}"#;
    sidecar.write(format!("{line}\n").repeat(50_000));
    let complaint = sidecar.complaint();
    assert!(complaint.contains(diagnostic), "{what}: {complaint}");
    let ending = Instant::now();
    let output = sidecar.finish();
    assert!(ending.elapsed() < Duration::from_secs(3), "{what}: {:?}", ending.elapsed());
    assert!(began.elapsed() < PATIENCE, "{what}");
    assert!(matches!(output.code, Some(3 | 4)), "{what}: {output:?}");
    assert_eq!(output.stderr, "", "{what}: told once");
}

#[test]
fn servers_that_misbehave_cost_one_diagnostic() {
    let big: &'static [u8] = vec![b'x'; 10 * 1024 * 1024].leak();
    let refusal = b"{\"id\":\"\",\"error\":{\"code\":\"pane_not_found\",\"message\":\"no\"}}\n";
    let core = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"no\"}}\n";
    for (what, server, diagnostic) in [
        ("closes at once", Server::start(drop), "connect_failed"),
        ("half a line", Server::start(replying(b"{\"id\":\"t1\",\"res")), "connect_failed"),
        ("10 MB", Server::start(replying(big)), "connect_failed"),
        ("invalid UTF-8", Server::start(replying(b"\xff\xfe\n")), "connect_failed"),
        ("refuses with an empty id", Server::start(replying(refusal)), "pane_not_found"),
        ("speaks JSON-RPC", Server::start(replying(core)), "not_pane_api"),
    ] {
        check(what, &server, diagnostic);
    }
}

#[test]
fn a_server_that_never_answers_holds_nobody_up() {
    let (keep, held) = std::sync::mpsc::channel();
    let server = Server::start(move |stream| keep.send(stream).unwrap());
    check("never answers", &server, "timeout");
    drop(held);
}

#[test]
fn a_host_that_reads_nothing_is_not_held_up() {
    let herdr = FakeHerdr::start().unwrap();
    let mut setup = inside(&herdr, &["run", "--receipts"]);
    // The pipes stay open and are never read.
    let mut child = setup.command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all("{no\n".repeat(50_000).as_bytes()).unwrap();
    stdin.write_all(b"{\"event\": \"agent_started\"}\n").unwrap();
    status(&herdr, "working");
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(is_clean(&now(&herdr)));
}

#[test]
fn a_reader_that_went_away_does_not_end_the_reporting() {
    let herdr = FakeHerdr::start().unwrap();
    let mut setup = inside(&herdr, &["run", "--receipts"]);
    let mut child = setup.command.spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{no\n{\"event\": \"agent_started\"}\n").unwrap();
    status(&herdr, "working");
    stdin.write_all(b"{no\n{\"event\": \"agent_settled\"}\n").unwrap();
    status(&herdr, "idle");
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(is_clean(&now(&herdr)));
}
