//! The server on real sockets (protocol 7.3 and 7.5).
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod wire;

use std::fs;
use std::io::{BufReader, ErrorKind, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use fake_herdr::FakeHerdr;
use serde_json::json;
use wire::{PATIENCE, connect, line, send, subscribe};

fn rest(connection: &UnixStream) -> String {
    String::from_utf8(wire::rest(connection)).unwrap()
}

#[test]
fn a_connection_has_one_request_and_one_answer() {
    let herdr = FakeHerdr::start().unwrap();
    let ping = line("ping", &json!({}));
    let reply = send(herdr.socket_path(), &ping);
    assert!(reply.ends_with('\n') && reply.lines().count() == 1, "{reply}");
    // The second line of a packet is never read.
    assert_eq!(send(herdr.socket_path(), &[ping.clone(), ping].concat()), reply);
    let log = herdr.log();
    assert_eq!(log.iter().map(|entry| entry.connection).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(log[0].reply.as_deref(), Some(reply.trim_end()));
}

#[test]
fn lines_that_get_no_answer() {
    let herdr = FakeHerdr::start().unwrap();
    for bytes in [&b"\n"[..], b"   \n", b"\n{}\n", b"\xff\n", b"\r\n"] {
        assert_eq!(send(herdr.socket_path(), bytes), "");
        // The next client is served.
        assert!(send(herdr.socket_path(), &line("ping", &json!({}))).contains("pong"));
    }
    let mut connection = connect(herdr.socket_path());
    connection.write_all(b"{\"id\":\"no newline\"}").unwrap();
    connection.shutdown(Shutdown::Write).unwrap();
    assert_eq!(rest(&connection), "");
}

#[test]
fn a_half_close_after_the_line_is_fine() {
    let herdr = FakeHerdr::start().unwrap();
    let mut connection = connect(herdr.socket_path());
    connection.write_all(&line("ping", &json!({}))).unwrap();
    connection.shutdown(Shutdown::Write).unwrap();
    assert!(rest(&connection).contains("pong"));
}

#[test]
fn the_line_limit_is_one_mebibyte() {
    let herdr = FakeHerdr::start().unwrap();
    let padded = |length: usize| {
        let head = br#"{"id":"t","method":"ping","params":{},"pad":""#.to_vec();
        let mut line = [head, vec![b'x'; length]].concat();
        let tail = b"\"}\n";
        line.truncate(length + 1 - tail.len());
        [line, tail.to_vec()].concat()
    };
    let fits = padded(1 << 20);
    assert_eq!(fits.len(), (1 << 20) + 1);
    let mut connection = connect(herdr.socket_path());
    connection.write_all(&fits).unwrap();
    assert!(rest(&connection).contains("pong"));

    let mut connection = connect(herdr.socket_path());
    // The server may be gone before the last byte is written.
    let _ = connection.write_all(&padded((1 << 20) + 1));
    assert_eq!(rest(&connection), "");
}

#[test]
fn the_socket_is_private_and_goes_with_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("herdr.sock");
    let herdr = FakeHerdr::builder().socket_path(&path).start().unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    // The path of a running server is taken.
    let second = FakeHerdr::builder().socket_path(&path).start();
    assert_eq!(second.unwrap_err().kind(), ErrorKind::AddrInUse);
    drop(herdr);
    assert!(!path.exists());

    // The socket of a dead server is replaced; any other file is not.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    drop(FakeHerdr::builder().socket_path(&path).start().unwrap());
    fs::write(&path, "a file").unwrap();
    let onto_file = FakeHerdr::builder().socket_path(&path).start();
    assert_eq!(onto_file.unwrap_err().kind(), ErrorKind::AddrInUse);
    assert_eq!(fs::read_to_string(&path).unwrap(), "a file");
}

#[test]
fn streams_end_by_a_byte_a_half_close_or_the_server() {
    let herdr = FakeHerdr::start().unwrap();
    let ends = |stream: &mut BufReader<UnixStream>| {
        let mut left = String::new();
        stream.read_to_string(&mut left).unwrap();
        assert_eq!(left, "");
    };
    let mut written = subscribe(herdr.socket_path(), &json!([]));
    written.get_mut().write_all(b"\n").unwrap();
    // The unread byte may reset the connection, which ends it as well.
    assert_eq!(rest(written.get_ref()), "");
    let mut closed = subscribe(herdr.socket_path(), &json!([{ "type": "pane.moved" }]));
    closed.get_mut().shutdown(Shutdown::Write).unwrap();
    ends(&mut closed);
    let mut held = subscribe(herdr.socket_path(), &json!([]));
    drop(herdr);
    ends(&mut held);
}

#[test]
fn a_handoff_ends_streams_and_moves_the_socket_to_a_new_inode() {
    let herdr = FakeHerdr::start().unwrap();
    let before = fs::metadata(herdr.socket_path()).unwrap().ino();
    let mut held = subscribe(herdr.socket_path(), &json!([]));
    herdr.with_model(|model| model.split_pane(Duration::ZERO, "w1:p1"));
    let report = json!({
        "pane_id": "w1:p1", "source": "custom:a", "agent": "bot", "state": "working", "seq": 9,
    });
    send(herdr.socket_path(), &line("pane.report_agent", &report));
    assert_eq!(herdr.observe("w1:p1").unwrap().agent.as_deref(), Some("bot"));
    let reply = send(herdr.socket_path(), &line("server.live_handoff", &json!({})));
    assert!(reply.contains("\"ok\""), "{reply}");
    let mut left = String::new();
    held.read_to_string(&mut left).unwrap();
    // The new socket may not be bound yet when the old stream has ended.
    let end = Instant::now() + PATIENCE;
    while fs::metadata(herdr.socket_path()).unwrap().ino() == before {
        assert!(Instant::now() < end, "no new socket");
        std::thread::yield_now();
    }
    assert!(send(herdr.socket_path(), &line("ping", &json!({}))).contains("pong"));
    assert_eq!(herdr.observe("w1:p1").unwrap().agent, None);
}

#[test]
fn a_stop_ends_everything() {
    let herdr = FakeHerdr::start().unwrap();
    let path = herdr.socket_path().to_owned();
    let mut held = subscribe(&path, &json!([]));
    assert!(send(&path, &line("server.stop", &json!({}))).contains("\"ok\""));
    let mut left = String::new();
    held.read_to_string(&mut left).unwrap();
    herdr.wait();
    assert!(!path.exists());
}

/// A line in two parts can cost 100 ms until the server looks again. This depends on when
/// its thread runs, so at least one of several tries has to show it.
#[test]
fn the_poll_costs_100_ms_when_the_line_is_late() {
    let herdr = FakeHerdr::builder().poll(true).start().unwrap();
    let line = line("ping", &json!({}));
    let slowest = (0..6).map(|_| {
        let mut connection = connect(herdr.socket_path());
        connection.write_all(&line[..5]).unwrap();
        connection.set_read_timeout(Some(Duration::from_millis(15))).unwrap();
        assert!(connection.read(&mut [0; 1]).is_err(), "half a line is not a request");
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        let began = Instant::now();
        connection.write_all(&line[5..]).unwrap();
        assert!(rest(&connection).contains("pong"));
        began.elapsed()
    });
    assert!(slowest.max().unwrap() >= Duration::from_millis(50));
}

/// A stopping server closes all connections at once.
#[test]
fn a_drop_does_not_wait_for_clients() {
    let herdr = FakeHerdr::start().unwrap();
    let held: Vec<_> = (0..50).map(|_| connect(herdr.socket_path())).collect();
    let began = Instant::now();
    drop(herdr);
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    assert!(held.iter().all(|connection| rest(connection).is_empty()));
}

#[test]
fn waits_see_changes_and_expiries() {
    let herdr = FakeHerdr::start().unwrap();
    let path = herdr.socket_path();
    let metadata = json!({
        "pane_id": "w1:p1", "source": "custom:a", "title": "T", "ttl_ms": 50,
    });
    send(path, &line("pane.report_metadata", &metadata));
    let seen = herdr.wait_until(PATIENCE, |pane| pane.title.is_none()).unwrap();
    assert_eq!(seen.agent_status, "unknown");
    let error =
        herdr.wait_until(Duration::from_millis(20), |pane| pane.agent.is_some()).unwrap_err();
    assert_eq!(error.last().agent, None);
    assert!(!herdr.wait_for_log(Duration::ZERO, |log| log.len() > 5));
}

#[test]
fn the_environment_of_a_pane() {
    let herdr = FakeHerdr::builder().panes(2).start().unwrap();
    let env = herdr.env_of("w1:p2").unwrap();
    let value = |name: &str| {
        env.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str()).unwrap()
    };
    assert_eq!(value("HERDR_ENV"), "1");
    assert_eq!(Path::new(value("HERDR_SOCKET_PATH")), herdr.socket_path());
    assert_eq!(value("HERDR_PANE_ID"), "w1:p2");
    assert_eq!(value("HERDR_TAB_ID"), "w1:t1");
    assert_eq!(value("HERDR_WORKSPACE_ID"), "w1");
    assert_eq!((env.len(), herdr.env_of("w9:p1")), (6, None));
}
