//! A host that has a supervisor reports through it, and reports by itself once the supervisor is
//! gone.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use fake_herdr::FakeHerdr;
use herdr_proto::PaneId;
use herdr_reporter::sidecar::LeaseFile;
use herdr_reporter::{AgentEvent, Ended, Prompt, Reporter};
use herdr_socket_transport::Endpoint;
use serde_json::Value;

use crate::support::{AMPLE, BUDGET, builder, config, requests};

/// The held lease and the socket of a supervisor of this process.
fn supervisor(herdr: &FakeHerdr) -> (std::fs::File, UnixListener) {
    let config = config(herdr.socket_path());
    let pane = Endpoint::new(herdr.socket_path(), PaneId::parse(herdr.pane_id()).unwrap());
    let lease = LeaseFile::of_pane(&config, &pane);
    let held = lease.try_take().unwrap().expect("the lease is free");
    let socket = lease.supervisor_socket(std::process::id());
    (held, UnixListener::bind(socket).unwrap())
}

fn until_event(lines: &mut impl Iterator<Item = Value>, event: &str) -> Value {
    lines.find(|line| line["event"] == event).expect("the event comes")
}

fn lines(stream: &UnixStream) -> impl Iterator<Item = Value> + use<> {
    stream.set_read_timeout(Some(AMPLE)).unwrap();
    let lines = BufReader::new(stream.try_clone().unwrap()).lines();
    lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap())
}

#[test]
fn events_go_to_the_supervisor_and_nothing_to_the_server() {
    let herdr = FakeHerdr::start().unwrap();
    let (_held, listener) = supervisor(&herdr);
    let pane = builder(&herdr).start();
    pane.set_session("s").set_title("T");
    let turn = pane.turn();
    let (mut stream, _) = listener.accept().unwrap();
    let mut received = lines(&stream);
    assert_eq!(until_event(&mut received, "session_started")["session_id"], "s");
    let _ask = turn.prompt(Prompt::approval("Run it?"));
    let blocked = received.find(|line| line["state"] == "blocked").unwrap();
    assert_eq!(blocked["label"], "Run it?");

    let closing = std::thread::spawn(move || pane.close(AMPLE));
    until_event(&mut received, "release");
    let flush = until_event(&mut received, "flush");
    let answer = format!("{{\"flushed\":{},\"ok\":true}}\n", flush["id"]);
    // The answer is one write: the reporter may close the connection once it has read the id.
    stream.write_all(answer.as_bytes()).unwrap();
    assert_eq!(closing.join().unwrap(), Ended::Released);
    assert!(requests(&herdr).is_empty(), "the pane is the supervisor's");
}

/// A working host that reports through its supervisor: the server, the supervisor's lease, the
/// reporter, and the supervisor's listener and connection.
fn forwarding() -> (FakeHerdr, std::fs::File, Reporter, (UnixListener, UnixStream)) {
    let herdr = FakeHerdr::start().unwrap();
    let (held, listener) = supervisor(&herdr);
    let pane = builder(&herdr).start();
    pane.record(AgentEvent::agent_started()).unwrap();
    let (stream, _) = listener.accept().unwrap();
    until_event(&mut lines(&stream), "state_set");
    (herdr, held, pane, (listener, stream))
}

#[test]
fn when_the_supervisor_is_gone_the_host_reports_by_itself() {
    let (herdr, held, pane, connections) = forwarding();
    drop((held, connections));
    takes_over(&herdr, pane);
}

#[test]
fn the_host_waits_for_a_lease_that_outlives_the_supervisors_connections() {
    let (herdr, held, pane, connections) = forwarding();
    // No diagnostic says that another process has the pane, neither while the supervisor lives nor
    // while its lease is about to be released.
    let mut diagnostics = pane.diagnostics();
    assert_eq!(diagnostics.recv_timeout(Duration::from_millis(2100)), None);
    drop(connections);
    assert_eq!(diagnostics.recv_timeout(Duration::from_millis(300)), None);
    drop(held);
    takes_over(&herdr, pane);
}

fn takes_over(herdr: &FakeHerdr, pane: Reporter) {
    let seen = herdr.wait_until(AMPLE, |pane| pane.agent_status == "working").unwrap();
    assert_eq!(seen.agent.as_deref(), Some("host"));
    assert_eq!(pane.close(BUDGET), Ended::Released);
}
