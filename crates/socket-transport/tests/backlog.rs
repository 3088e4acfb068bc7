//! A full backlog blocks nobody (failure B56). Only Linux tells it apart.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod support;

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::pin::pin;

use herdr_proto::Ping;
use herdr_socket_transport::{Client, ErrorKind, Options, Phase};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use support::{AMPLE, PONG, SHORT, poll_once};
use tempfile::TempDir;

/// A server that accepts nothing and has no room left.
struct Full {
    listener: UnixListener,
    socket: PathBuf,
    waiting: Vec<OwnedFd>,
    _folder: TempDir,
}

fn full() -> Full {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("herdr.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    rustix::net::listen(&listener, 1).unwrap();
    let address = SocketAddrUnix::new(&socket).unwrap();
    let mut waiting = Vec::new();
    loop {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let one =
            rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
        match rustix::net::connect(&one, &address) {
            Ok(()) => waiting.push(one),
            Err(Errno::AGAIN) => break,
            Err(error) => panic!("{error}"),
        }
        assert!(waiting.len() < 10, "the backlog has no end");
    }
    Full { listener, socket, waiting, _folder: folder }
}

#[tokio::test]
async fn it_ends_as_busy_and_the_runtime_goes_on_meanwhile() {
    let server = full();
    let client = Client::new(&server.socket, Options::default().deadline(SHORT));
    let ping = Ping::default();
    let mut call = pin!(client.call(&ping));
    let mut tick = tokio::time::interval(SHORT / 50);
    let mut ticks = 0;
    let error = loop {
        tokio::select! {
            biased;
            outcome = &mut call => break outcome.unwrap_err(),
            _ = tick.tick() => ticks += 1,
        }
    };
    assert_eq!((error.kind(), error.phase()), (ErrorKind::Busy, Some(Phase::Connect)));
    // Blocked for the deadline, the thread would have ticked once or twice.
    assert!(ticks > 5, "{ticks}");
}

#[tokio::test]
async fn it_is_waited_out_within_the_deadline() {
    let server = full();
    let client = Client::new(&server.socket, Options::default().deadline(AMPLE));
    let ping = Ping::default();
    let mut call = pin!(client.call(&ping));
    assert!(poll_once(&mut call).await.is_none());

    let expected = server.waiting.len() + 1;
    drop(server.waiting);
    let listener = server.listener;
    let serve = std::thread::spawn(move || {
        for _ in 0..expected {
            let (stream, _) = listener.accept().unwrap();
            if !support::read_line(&stream).is_empty() {
                support::write(&stream, PONG);
            }
        }
    });
    assert_eq!(call.await.unwrap().protocol, 20);
    serve.join().unwrap();
}
