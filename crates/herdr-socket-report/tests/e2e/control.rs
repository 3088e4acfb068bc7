//! The control socket: who may use it, what it accepts and what it withstands.

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};

use rustix::process::Signal;
use serde_json::json;

use crate::pane::{Pane, Started, poll};
use crate::support::requests;

const WORK: &str = r#"{"event": "agent_started"}"#;

fn running(pane: &Pane) -> Started {
    let mut run = pane.start(&["run"]);
    run.line(WORK);
    pane.wait_status("working");
    run
}

#[test]
fn b83_it_is_this_users_alone_and_goes_with_its_owner() {
    let pane = Pane::new();
    let mut run = running(&pane);
    let socket = pane.beside_the_lease("sock");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    poll(|| (mode(&socket) == 0o600).then_some(()));
    assert_eq!(mode(socket.parent().unwrap()), 0o700);
    assert_eq!(socket.with_extension("lock"), pane.beside_the_lease("lock"));
    assert_eq!(run.finish().code(), Some(0));
    assert!(!socket.exists());
    assert!(socket.with_extension("lock").exists(), "a lease is never removed");
}

#[test]
fn a_folder_that_is_too_open_is_closed() {
    let pane = Pane::new();
    std::fs::create_dir(pane.leases()).unwrap();
    std::fs::set_permissions(pane.leases(), PermissionsExt::from_mode(0o755)).unwrap();
    let _run = running(&pane);
    pane.client();
    assert_eq!(pane.leases().metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_host_may_keep_it_open() {
    let pane = Pane::new();
    let mut run = running(&pane);
    let mut client = pane.client();
    client
        .say(r#"{"event": "prompt_opened", "prompt_id": "p", "kind": "approval", "label": "Go?"}"#);
    pane.wait_status("blocked");
    client.until(|line| line["of"] == "state" && line["receipt"] == "applied");
    client.say(r#"{"event": "title_changed", "title": "From outside"}"#);
    client.say(r#"{"event": "flush", "id": "f"}"#);
    let flushed = client.until(|line| !line["flushed"].is_null());
    assert_eq!(flushed, json!({"flushed": "f", "ok": true}));
    assert_eq!(pane.now().title.as_deref(), Some("From outside"));

    // Errors are reported to the client that caused them.
    client.say("");
    client.say(r#"{"event": "nonsense"}"#);
    let wrong = client.until(|line| !line["diagnostic"].is_null());
    assert_eq!(
        wrong,
        json!({"diagnostic": "bad_line", "detail": "line 5: unknown event `nonsense`"})
    );

    // The connection ends with the owner, after its last lines.
    assert_eq!(run.finish().code(), Some(0));
    client.until(|line| line["of"] == "release");
    while client.next().is_some() {}
    assert_eq!(run.complaints(), "");
}

#[test]
fn who_has_the_answer_to_a_flush_has_heard_everything() {
    let pane = Pane::new();
    let _run = running(&pane);
    let mut client = pane.client();
    client.say(r#"{"event": "flush", "id": "start"}"#);
    client.until(|line| line["flushed"] == "start");
    for turn in 0..20 {
        let state = ["blocked", "working"][turn % 2];
        let event = json!({"event": "state_set", "state": state});
        let id = turn.to_string();
        client.say(&format!("{event}\n{}", json!({"event": "flush", "id": id})));
        let applied = Cell::new(0);
        client.until(|line| {
            let shows = line["of"] == "state" && line["receipt"] == "applied";
            applied.set(applied.get() + usize::from(shows));
            line["flushed"] == id
        });
        assert_eq!(applied.get(), 1, "turn {turn}");
    }
}

#[test]
fn b83_there_is_no_way_through_to_the_server() {
    let pane = Pane::new();
    let _run = running(&pane);
    let mut client = pane.client();
    client.say(
        r#"{"id": "1", "method": "pane.send_text", "params": {"pane_id": "w1:p1", "text": "x"}}"#,
    );
    let wrong = client.until(|line| line["diagnostic"] == "bad_line");
    assert!(wrong["detail"].as_str().unwrap().contains("`event` is missing"), "{wrong}");
    assert!(requests(&pane.herdr, "pane.send_text").is_empty());
}

#[test]
fn a_client_that_half_closes_is_read_to_its_end() {
    let pane = Pane::new();
    let _run = running(&pane);
    let mut client = pane.client();
    // The last line has no newline.
    client.stream.write_all(br#"{"event": "title_changed", "title": "Last"}"#).unwrap();
    client.stream.shutdown(Shutdown::Write).unwrap();
    while client.next().is_some() {}
    pane.wait(|seen| seen.title.as_deref() == Some("Last"));
}

#[test]
fn hostile_clients_hold_nobody_up() {
    let pane = Pane::new();
    let mut run = running(&pane);

    // An endless line, of which only a bounded part is kept.
    let mut endless = pane.client();
    let chunk = vec![b'x'; 64 * 1024];
    for _ in 0..48 {
        endless.stream.write_all(&chunk).unwrap();
    }
    // A client that asks and never reads.
    let mut deaf = pane.client();
    let flushes = "{\"event\": \"flush\"}\n".repeat(100);
    deaf.stream.write_all(flushes.as_bytes()).unwrap();
    // Bytes that mean nothing, and half a line.
    let mut noise = pane.client();
    noise.stream.write_all(&[0, 0xff, b'\n', b'{']).unwrap();
    drop(noise);
    // Connections that send nothing.
    let path = pane.beside_the_lease("sock");
    let idle: Vec<UnixStream> = (0..60).map(|_| UnixStream::connect(&path).unwrap()).collect();

    run.line(r#"{"event": "title_changed", "title": "Going on"}"#);
    pane.wait(|seen| seen.title.is_some());
    pane.quietly(&["state", "blocked", "--confirm"]);
    endless.say("");
    endless.say(WORK);
    let wrong = endless.until(|line| line["diagnostic"] == "bad_line");
    assert!(wrong["detail"].as_str().unwrap().contains("longer than 1048576"), "{wrong}");
    drop(idle);
    assert_eq!(run.finish().code(), Some(0));
    pane.wait_clean();
}

#[test]
fn one_that_does_not_read_gets_no_more_and_its_events_count() {
    let pane = Pane::new();
    let _run = running(&pane);
    let mut client = pane.client();
    let bad = "{\n".repeat(1000);
    // More than the kernel and the outbox can hold.
    for _ in 0..20 {
        client.stream.write_all(bad.as_bytes()).unwrap();
    }
    client.say(r#"{"event": "title_changed", "title": "Heard"}"#);
    pane.wait(|seen| seen.title.as_deref() == Some("Heard"));
    let mut rest = Vec::new();
    client.stream.read_to_end(&mut rest).unwrap();
    client.say(r#"{"event": "title_changed", "title": "Still heard"}"#);
    pane.wait(|seen| seen.title.as_deref() == Some("Still heard"));
}

#[test]
fn more_clients_than_fit_wait_for_their_turn() {
    let pane = Pane::new();
    let _run = running(&pane);
    let first = pane.client();
    let path = pane.beside_the_lease("sock");
    let many: Vec<UnixStream> = (0..200).map(|_| UnixStream::connect(&path).unwrap()).collect();
    let mut last = pane.client();
    last.say(r#"{"event": "title_changed", "title": "Patience"}"#);
    drop((first, many));
    pane.wait(|seen| seen.title.as_deref() == Some("Patience"));
}

#[test]
fn what_a_killed_owner_left_behind_is_replaced() {
    let pane = Pane::new();
    let mut run = running(&pane);
    pane.client();
    let socket = pane.beside_the_lease("sock");
    run.signal(Signal::KILL);
    run.finish();
    assert!(socket.exists());
    // Without an owner the report goes straight to the server.
    pane.quietly(&["title", "Meanwhile", "--strict"]);
    assert_eq!(pane.now().title.as_deref(), Some("Meanwhile"));
    // The next owner uses the same path.
    let mut next = running(&pane);
    poll(|| UnixStream::connect(&socket).ok());
    pane.quietly(&["state", "blocked", "--confirm"]);
    pane.wait_status("blocked");
    next.finish();
    assert!(!socket.exists());
}

#[test]
fn only_the_holder_of_the_lease_replaces_a_socket() {
    let pane = Pane::new();
    let _run = running(&pane);
    pane.client();
    let socket = pane.beside_the_lease("sock");
    let mut second = pane.start(&["run", "--agent", "second"]);
    second.line(WORK);
    assert!(second.complaint().contains("deferred"));
    assert_eq!(second.finish().code(), Some(0));
    assert!(UnixStream::connect(&socket).is_ok());
    pane.quietly(&["title", "The first one's", "--strict"]);
    assert_eq!(pane.now().agent.as_deref(), Some("agent"));
}

#[test]
fn something_else_in_its_place_is_left_there_and_reporting_goes_on() {
    let pane = Pane::new();
    let mut run = running(&pane);
    let socket = pane.beside_the_lease("sock");
    run.finish();
    std::fs::write(&socket, "a file").unwrap();
    let mut run = running(&pane);
    assert_eq!(run.finish().code(), Some(0));
    assert_eq!(std::fs::read_to_string(&socket).unwrap(), "a file");
    std::fs::remove_file(&socket).unwrap();

    // A dead socket that has been replaced stays when the owner ends.
    let mut run = running(&pane);
    pane.client();
    // At once, before the reporter makes its socket again.
    let beside = pane.path().join("other.sock");
    let other = UnixListener::bind(&beside).unwrap();
    std::fs::rename(&beside, &socket).unwrap();
    run.finish();
    assert!(socket.exists());
    drop(other);
}
