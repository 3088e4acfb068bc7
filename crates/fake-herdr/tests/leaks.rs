//! Nothing stays of connections and servers that are gone. One test, so that no
//! other one's threads are counted.
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

/// Threads and descriptors of this process.
fn held() -> (usize, usize) {
    let count = |what| fs::read_dir(Path::new("/proc/self").join(what)).unwrap().count();
    (count("task"), count("fd"))
}

/// A thread that was joined is listed a moment longer.
fn settle(expected: (usize, usize), what: &str) {
    let end = Instant::now() + PATIENCE;
    while held() != expected {
        assert!(Instant::now() < end, "{what}: {expected:?} became {:?}", held());
        thread::yield_now();
    }
}

#[test]
fn nothing_stays() {
    let before = held();
    let herdr = FakeHerdr::start().unwrap();
    let serving = held();
    let path = herdr.socket_path();

    // 200 at once: answered, half written, streaming, silent; all abandoned.
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
    // The server notices the ends by itself.
    settle(serving, "a served server");
    // Also those who wait for what never comes, or do not read what does.
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
        settle(serving, fault);
        herdr.clear_faults();
    }
    drop(herdr);
    settle(before, "a stopped server");

    // Servers that end while clients and faults hold on.
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
        settle(before, fault);
    }
}
