//! Ended connections and servers leave no threads and descriptors. This file has only
//! one test, so that the threads of other tests are not counted.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod wire;

use std::fs;
use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::Instant;

use fake_herdr::FakeHerdr;
use serde_json::json;
use wire::{PATIENCE, connect, ping, rest, send, subscribe};

/// The numbers of threads and descriptors of this process.
fn resources() -> (usize, usize) {
    let count = |what| fs::read_dir(Path::new("/proc/self").join(what)).unwrap().count();
    (count("task"), count("fd"))
}

/// Waits for the expected numbers, because a joined thread is still listed for a moment.
fn wait_for_resources(expected: (usize, usize), what: &str) {
    let end = Instant::now() + PATIENCE;
    while resources() != expected {
        assert!(Instant::now() < end, "{what}: {expected:?} became {:?}", resources());
        thread::yield_now();
    }
}

#[test]
fn nothing_is_leaked() {
    let before = resources();
    let herdr = FakeHerdr::start().unwrap();
    let serving = resources();
    let path = herdr.socket_path();

    // 200 clients at once: answered, half written, streaming or silent. All leave.
    let mut clients = Vec::new();
    for number in 0..200 {
        let mut client = connect(path);
        match number % 4 {
            0 => client.write_all(&ping()).unwrap(),
            1 => client.write_all(b"{\"half").unwrap(),
            2 => drop(subscribe(path, &json!([]))),
            _ => {}
        }
        clients.push(client);
    }
    assert!(send(path, &ping()).contains("pong"));
    assert!(clients.iter().step_by(4).all(|client| rest(client).ends_with(b"\n")));
    drop(clients);
    // The server notices that its clients have left.
    wait_for_resources(serving, "a served server");
    // Clients also leave while they wait for an answer or have not read it.
    for fault in ["never", "late:60000", "byte-by-byte", "oversize", "half-line", "reset"] {
        herdr.fault(fault.parse().unwrap());
        let clients: Vec<UnixStream> = (0..20)
            .map(|_| {
                let mut client = connect(path);
                client.write_all(&ping()).unwrap();
                client
            })
            .collect();
        drop(clients);
        wait_for_resources(serving, fault);
        herdr.clear_faults();
    }
    drop(herdr);
    wait_for_resources(before, "a stopped server");

    // Servers end while clients are connected and faults are set.
    for fault in ["never", "late:60000", "slow:60000", "freeze", "oversize", "reset", "gone"] {
        let herdr = FakeHerdr::start().unwrap();
        let clients: Vec<UnixStream> = (0..20)
            .map(|_| {
                let mut client = connect(herdr.socket_path());
                let _ = client.write(&ping());
                client
            })
            .collect();
        herdr.fault(fault.parse().unwrap());
        for mut client in &clients {
            let _ = client.write(&ping());
        }
        drop(herdr);
        drop(clients);
        wait_for_resources(before, fault);
    }
}
