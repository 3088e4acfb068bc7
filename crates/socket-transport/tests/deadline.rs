//! One deadline covers the whole exchange, and the error says how far it came
//! (failures B56 and B60).

#![cfg(unix)]

mod support;

use std::time::{Duration, Instant};

use herdr_proto::Ping;
use herdr_socket_transport::{ErrorKind, Phase};
use support::{AMPLE, SHORT, Server, drain, read_line, write};

#[tokio::test]
async fn a_server_that_never_answers() {
    let server = Server::start(|stream| drop(drain(&stream)));
    let client = server.client().with_deadline(SHORT);
    let error = client.call(&Ping::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout(Phase::Read));
    assert_eq!(error.phase(), Some(Phase::Read));
    assert_eq!(client.hold().await.unwrap_err().kind(), ErrorKind::Timeout(Phase::Read));
}

#[tokio::test]
async fn a_server_that_never_accepts() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("herdr.sock");
    let _listening = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let options = herdr_socket_transport::Options::default().deadline(SHORT);
    let client = herdr_socket_transport::Client::new(&socket, options);
    let error = client.call(&Ping::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout(Phase::Read));
}

#[tokio::test]
async fn a_server_that_never_reads() {
    let server = Server::silent();
    let mut line = vec![b'x'; 1024 * 1024];
    line.push(b'\n');
    let error = server.client().with_deadline(SHORT).exchange(&line).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout(Phase::Write));
}

#[tokio::test]
async fn bytes_that_trickle_in_do_not_extend_it() {
    let server = Server::start(|stream| {
        read_line(&stream);
        // One byte at a time for as long as the client is there. The socket's
        // own read limit is the pace.
        stream.set_read_timeout(Some(SHORT / 10)).unwrap();
        let gone = || matches!(std::io::Read::read(&mut &stream, &mut [0]), Ok(0));
        while !gone() {
            write(&stream, b"x");
        }
    });
    let started = Instant::now();
    let error = server.client().with_deadline(SHORT).call(&Ping::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout(Phase::Read));
    assert!(started.elapsed() < AMPLE);
}

#[tokio::test]
async fn the_extremes_are_no_trouble() {
    let server = Server::answering(support::PONG);
    server.client().with_deadline(Duration::MAX).call(&Ping::default()).await.unwrap();
    let silent = Server::silent();
    let error =
        silent.client().with_deadline(Duration::ZERO).call(&Ping::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout(Phase::Read));
}

#[tokio::test]
async fn a_dropped_request_closes_its_connection() {
    let (sender, closed) = std::sync::mpsc::channel();
    let server = Server::start(move |stream| {
        read_line(&stream);
        sender.send(drain(&stream)).unwrap();
    });
    let client = server.client();
    let ping = Ping::default();
    {
        let mut call = std::pin::pin!(client.call(&ping));
        assert!(support::poll_once(&mut call).await.is_none());
    }
    assert_eq!(closed.recv_timeout(AMPLE).unwrap(), b"");
}
