//! Every fault, as a client sees it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod wire;

use std::io::{BufRead as _, ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use fake_herdr::{FakeHerdr, Fault};
use serde_json::Value;
use wire::{PATIENCE, connect, ping, report, rest, send, subscribe};

fn with(fault: &str) -> FakeHerdr {
    FakeHerdr::builder().fault(fault.parse().unwrap()).start().unwrap()
}

fn applied(herdr: &FakeHerdr) -> bool {
    herdr.observe("w1:p1").unwrap().agent.is_some()
}

/// The bytes that a report gets, and whether it was applied.
fn outcome(fault: &str) -> (Vec<u8>, bool) {
    let herdr = with(fault);
    let mut connection = connect(herdr.socket_path());
    connection.write_all(&report("working")).unwrap();
    (rest(&connection), applied(&herdr))
}

#[test]
fn answers_that_are_cut_or_corrupted() {
    let answer = b"{\"id\":\"t\",\"result\":{\"type\":\"ok\"}}\n";
    assert_eq!(outcome("close"), (vec![], false));
    assert_eq!(outcome("reset"), (vec![], false));
    assert_eq!(outcome("half-line"), (answer[..16].to_vec(), true));
    assert_eq!(outcome("byte-by-byte"), (answer.to_vec(), true));
    let (two, _) = outcome("two-lines");
    assert!(two.starts_with(answer) && two.ends_with(b"\n") && two.len() > answer.len());
    let (bad, applied) = outcome("invalid-utf8");
    assert!(applied && bad.ends_with(b"\n") && String::from_utf8(bad).is_err());
    let (big, applied) = outcome("oversize");
    assert!(applied && big.len() >= 10 << 20 && big.ends_with(b"\n"));
}

#[test]
fn answers_with_the_wrong_id_or_shape() {
    for (fault, id) in [
        ("wrong-id", Value::from("of-another-request")),
        ("empty-id", Value::from("")),
        ("null-id", Value::Null),
    ] {
        let (reply, applied) = outcome(fault);
        let reply: Value = serde_json::from_slice(&reply).unwrap();
        assert_eq!((&reply["id"], &reply["result"]["type"]), (&id, &Value::from("ok")));
        assert!(applied);
    }
    let (reply, applied) = outcome("json-rpc");
    let reply: Value = serde_json::from_slice(&reply).unwrap();
    assert!(reply["jsonrpc"] == "2.0" && reply["error"]["code"] == -32601 && !applied);

    let herdr = with("unknown");
    let get = wire::line("pane.get", &serde_json::json!({ "pane_id": "w1:p1" }));
    let reply: Value = serde_json::from_str(&send(herdr.socket_path(), &get)).unwrap();
    assert_eq!(reply["result"]["pane"]["agent_status"], "of_the_future");
    assert!(reply["result"]["pane"]["of_the_future"].is_object());
}

#[test]
fn a_reset_is_a_reset() {
    let herdr = with("reset");
    let mut connection = connect(herdr.socket_path());
    connection.write_all(&ping()).unwrap();
    let error = connection.read(&mut [0; 1]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

#[test]
fn one_method_is_refused_and_the_rest_works() {
    let herdr = with("refuse:pane.report_agent:internal_error");
    assert!(send(herdr.socket_path(), &ping()).contains("pong"));
    let reply = send(herdr.socket_path(), &report("working"));
    assert!(reply.contains("\"id\":\"t\"") && reply.contains("internal_error"), "{reply}");
    assert!(!applied(&herdr));
}

#[test]
fn a_fault_for_one_request_lets_the_next_one_through() {
    let herdr = FakeHerdr::start().unwrap();
    herdr.fault_times(Fault::ClosesEarly, 1);
    assert_eq!(send(herdr.socket_path(), &ping()), "");
    assert!(send(herdr.socket_path(), &ping()).contains("pong"));
    assert_eq!(herdr.log()[0].reply, None, "the log has no answer");
}

#[test]
fn late_never_and_slow() {
    let herdr = with("late:60");
    let began = Instant::now();
    assert!(send(herdr.socket_path(), &report("working")).contains("ok"));
    assert!(began.elapsed() >= Duration::from_millis(60));

    let herdr = with("never");
    let mut connection = connect(herdr.socket_path());
    connection.write_all(&report("working")).unwrap();
    assert!(herdr.wait_for_log(PATIENCE, |log| log.len() == 1));
    connection.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    assert!(connection.read(&mut [0; 1]).is_err(), "neither an answer nor an end");
    assert!(!applied(&herdr));
    drop(herdr);
    connection.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(rest(&connection), b"");

    // Requests at the same time wait for each other.
    let herdr = with("slow:40");
    let began = Instant::now();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| assert!(send(herdr.socket_path(), &ping()).contains("pong")));
        }
    });
    assert!(began.elapsed() >= Duration::from_millis(120));
}

/// As after SIGSTOP and SIGCONT, clients can connect and write but get no answer. When the
/// server goes on, it applies their requests, even if the client has left.
#[test]
fn a_frozen_server_applies_what_it_received() {
    let herdr = with("freeze");
    let mut patient = connect(herdr.socket_path());
    patient.write_all(&ping()).unwrap();
    let mut hasty = connect(herdr.socket_path());
    hasty.write_all(&report("working")).unwrap();
    hasty.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    assert!(hasty.read(&mut [0; 1]).is_err());
    drop(hasty);
    assert!(!applied(&herdr));
    herdr.clear_faults();
    herdr.wait_until(PATIENCE, |pane| pane.agent_status == "working").unwrap();
    assert!(String::from_utf8(rest(&patient)).unwrap().contains("pong"));
}

#[test]
fn outages_end_streams_and_can_be_cleared() {
    for (fault, kind) in
        [(Fault::Gone, ErrorKind::NotFound), (Fault::Refusing, ErrorKind::ConnectionRefused)]
    {
        let herdr = FakeHerdr::start().unwrap();
        let path = herdr.socket_path();
        let mut held = subscribe(path, &serde_json::json!([]));
        herdr.fault(fault);
        let mut left = String::new();
        held.read_to_string(&mut left).unwrap();
        assert_eq!(UnixStream::connect(path).unwrap_err().kind(), kind);
        herdr.clear_faults();
        assert!(send(path, &ping()).contains("pong"));
        herdr.fault(Fault::Refusing);
        let path = path.to_owned();
        drop(herdr);
        assert!(!path.exists(), "no file is left, even during an outage");
    }
}

/// Connects without waiting.
#[cfg(target_os = "linux")]
fn connect_at_once(herdr: &FakeHerdr) -> rustix::io::Result<()> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

    let address = SocketAddrUnix::new(herdr.socket_path()).unwrap();
    let flags = SocketFlags::NONBLOCK;
    let socket =
        rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
    rustix::net::connect(&socket, &address)
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_backlog_takes_no_connection() {
    let herdr = FakeHerdr::start().unwrap();
    herdr.fault(Fault::FullBacklog);
    assert_eq!(connect_at_once(&herdr), Err(rustix::io::Errno::AGAIN));
    herdr.clear_faults();
    assert_eq!(connect_at_once(&herdr), Ok(()));
    assert!(send(herdr.socket_path(), &ping()).contains("pong"));
}

/// After half of an answer the connection closes, even if a stream would have begun.
#[test]
fn half_an_answer_does_not_start_a_stream() {
    let herdr = with("half-line");
    let subscribe = wire::line("events.subscribe", &serde_json::json!({ "subscriptions": [] }));
    let half = send(herdr.socket_path(), &subscribe);
    assert!(half.starts_with("{\"id\":\"t\"") && !half.contains('\n'), "{half}");
}

/// A stopped process does not refuse requests or close connections. If it is killed while
/// it is stopped, it does not apply the requests that it has received.
#[test]
fn a_frozen_server_has_no_other_fault() {
    for fault in ["close", "json-rpc", "refuse:pane.report_agent", "slow:1", "late:1", "never"] {
        let herdr = FakeHerdr::start().unwrap();
        let mut connection = connect(herdr.socket_path());
        // The connection is accepted before the freeze, so that its thread is running.
        while herdr.connections() == 0 {
            thread::yield_now();
        }
        herdr.fault(Fault::Frozen);
        herdr.fault(fault.parse().unwrap());
        connection.write_all(&report("working")).unwrap();
        connection.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        assert_eq!(connection.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::WouldBlock);
        herdr.restart();
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        assert_eq!(rest(&connection), b"", "{fault}");
        herdr.clear_faults();
        assert!(!applied(&herdr), "{fault}");
        assert!(herdr.log().is_empty(), "{fault}");
    }
}

#[test]
fn a_frozen_stream_goes_on_afterwards() {
    let herdr = FakeHerdr::start().unwrap();
    let moved = serde_json::json!([{ "type": "pane.agent_detected" }]);
    let mut held = subscribe(herdr.socket_path(), &moved);
    herdr.fault(Fault::Frozen);
    herdr.with_model(|model| model.agent_appears(herdr.now(), "w1:p1", "claude", "idle"));
    held.get_ref().set_read_timeout(Some(Duration::from_millis(150))).unwrap();
    let mut event = String::new();
    assert!(held.read_line(&mut event).is_err() && event.is_empty(), "{event}");
    herdr.clear_faults();
    held.get_ref().set_read_timeout(Some(PATIENCE)).unwrap();
    held.read_line(&mut event).unwrap();
    assert!(event.contains("pane_agent_detected"), "{event}");
}

/// Requests are handled one after the other, so a slow request delays those after it.
#[test]
fn a_slow_request_delays_the_others() {
    let herdr = FakeHerdr::start().unwrap();
    herdr.fault_times("slow:80".parse().unwrap(), 1);
    let began = Instant::now();
    let mut slow = connect(herdr.socket_path());
    slow.write_all(&report("working")).unwrap();
    // The first of the two requests gets the fault.
    assert!(send(herdr.socket_path(), &ping()).contains("pong"));
    assert!(began.elapsed() >= Duration::from_millis(80));
    assert!(rest(&slow).ends_with(b"\n") && applied(&herdr));
}

#[cfg(target_os = "linux")]
#[test]
fn a_backlog_stays_full_over_a_handoff_and_a_restart() {
    let herdr = FakeHerdr::start().unwrap();
    herdr.fault(Fault::FullBacklog);
    for next in [FakeHerdr::live_handoff, FakeHerdr::restart] {
        next(&herdr);
        assert_eq!(connect_at_once(&herdr), Err(rustix::io::Errno::AGAIN));
    }
    herdr.fault(Fault::Gone);
    herdr.fault_times(Fault::Gone, 0);
    assert_eq!(
        connect_at_once(&herdr),
        Err(rustix::io::Errno::AGAIN),
        "still full after an outage"
    );
    herdr.clear_faults();
    assert!(send(herdr.socket_path(), &ping()).contains("pong"));
    assert_eq!(herdr.connections(), 1, "the connections that filled the backlog do not count");
}

#[test]
fn a_restart_keeps_the_path_and_the_panes() {
    let herdr = FakeHerdr::builder().panes(2).start().unwrap();
    assert!(send(herdr.socket_path(), &report("working")).contains("ok"));
    let mut held = subscribe(herdr.socket_path(), &serde_json::json!([]));
    herdr.restart();
    let mut left = String::new();
    held.read_to_string(&mut left).unwrap();
    assert_eq!(herdr.with_model(|model| model.pane_ids()), ["w1:p1", "w1:p2"]);
    assert!(!applied(&herdr));
}
