//! The whole line is with the server before anything else can happen
//! (failure B57). That it is one system call, the unit tests of the dial count.

#![cfg(unix)]

mod support;

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::pin::pin;

use herdr_proto::Ping;
use herdr_socket_transport::{Client, Options};
use support::{PONG, poll_once};

#[tokio::test]
async fn the_first_poll_delivers_the_whole_line() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("herdr.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    listener.set_nonblocking(true).unwrap();
    let client = Client::new(&socket, Options::default());

    let ping = Ping::default();
    let mut call = pin!(client.call(&ping));
    assert!(poll_once(&mut call).await.is_none());

    // The future is not polled again until the server has read: an await
    // between connecting and writing would leave nothing here to read.
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_nonblocking(true).unwrap();
    let mut line = [0; 4096];
    let length = stream.read(&mut line).unwrap();
    let line = std::str::from_utf8(&line[..length]).unwrap();
    assert!(line.ends_with("}\n"), "{line:?}");
    assert_eq!(line.matches('\n').count(), 1);

    stream.write_all(PONG).unwrap();
    assert_eq!(call.await.unwrap().protocol, 20);
}

#[tokio::test]
async fn a_line_over_the_socket_buffer_arrives_whole() {
    let mut line: Vec<u8> =
        (0..1024 * 1024).map(|n| b'a' + u8::try_from(n % 26).unwrap()).collect();
    line.push(b'\n');
    let expected = line.clone();
    let server = support::Server::start(move |stream| {
        let same = support::read_line(&stream) == expected;
        support::write(&stream, if same { b"same\n" } else { b"other\n" });
    });
    assert_eq!(server.client().exchange(&line).await.unwrap(), "same");
}

#[tokio::test]
async fn requests_have_the_published_shape_and_ids_of_their_own() {
    let (sender, lines) = std::sync::mpsc::channel();
    let server = support::Server::start(move |stream| {
        sender.send(support::read_line(&stream)).unwrap();
        support::write(&stream, PONG);
    });
    let client = server.client();
    client.call(&Ping::default()).await.unwrap();
    client.clone().call(&Ping::default()).await.unwrap();
    client.with_deadline(support::AMPLE).call(&Ping::default()).await.unwrap();
    let lines: Vec<Vec<u8>> = lines.try_iter().collect();
    let expected = [1, 2, 3]
        .map(|n| format!("{{\"id\":\"t{n}\",\"method\":\"ping\",\"params\":{{}}}}\n").into_bytes());
    assert_eq!(lines, expected);
}

#[test]
fn the_futures_may_move_between_threads() {
    fn movable<T: Send>(_: T) {}
    let client = Client::new("/nowhere", Options::default());
    movable(client.call(&Ping::default()));
    movable(client.exchange(b"{}\n"));
    movable(client.hold());
}
