//! The stream that is only there to end (failures B72, B73 and B75).

#![cfg(unix)]

mod support;

use std::pin::pin;
use std::sync::mpsc::channel;

use herdr_socket_transport::{Ended, ErrorKind};
use support::{AMPLE, SHORT, STARTED, Server, drain, poll_once, read_line, write};
use tokio::time::timeout;

#[tokio::test]
async fn it_asks_for_nothing_and_ends_with_the_server() {
    let (request, requests) = channel();
    let (stop, stopped) = channel::<()>();
    let server = Server::start(move |stream| {
        request.send(read_line(&stream)).unwrap();
        write(&stream, STARTED);
        let _ = stopped.recv();
    });
    let mut held = server.client().hold().await.unwrap();
    let line = String::from_utf8(requests.recv().unwrap()).unwrap();
    assert_eq!(
        line,
        "{\"id\":\"t1\",\"method\":\"events.subscribe\",\"params\":{\"subscriptions\":[]}}\n"
    );
    assert_eq!(held.peer().uid(), rustix::process::geteuid().as_raw());
    #[cfg(target_os = "linux")]
    assert_eq!(held.peer().pid(), Some(std::process::id()));

    assert!(poll_once(&mut pin!(held.ended())).await.is_none());
    drop(stop);
    assert_eq!(timeout(AMPLE, held.ended()).await.unwrap(), Ended::Closed);
    // It stays ended.
    assert_eq!(timeout(AMPLE, held.ended()).await.unwrap(), Ended::Closed);
}

#[tokio::test]
async fn the_deadline_is_for_the_acknowledgement_alone() {
    let (stop, stopped) = channel::<()>();
    let server = Server::start(move |stream| {
        read_line(&stream);
        write(&stream, STARTED);
        let _ = stopped.recv();
    });
    let mut held = server.client().hold().await.unwrap();
    // Waiting past the deadline, and giving up waiting, does it no harm.
    tokio::time::pause();
    assert!(timeout(2 * AMPLE, held.ended()).await.is_err());
    tokio::time::resume();
    drop(stop);
    assert_eq!(timeout(AMPLE, held.ended()).await.unwrap(), Ended::Closed);
}

#[tokio::test]
async fn no_byte_follows_the_request() {
    let (sender, rest) = channel();
    let server = Server::start(move |stream| {
        read_line(&stream);
        write(&stream, STARTED);
        sender.send(drain(&stream)).unwrap();
    });
    let mut held = server.client().hold().await.unwrap();
    // The server sees neither a byte nor a half-close while it is waited for.
    assert!(timeout(SHORT, held.ended()).await.is_err());
    assert!(rest.try_recv().is_err());
    drop(held);
    assert_eq!(rest.recv_timeout(AMPLE).unwrap(), b"");
}

#[tokio::test]
async fn what_is_said_on_it_is_passed_over() {
    let mut noise = STARTED.to_vec();
    noise.extend_from_slice(b"{\"event\":\"server_news\",\"data\":{}}\nwhat?\n\nhalf a li");
    let server = Server::answering(noise);
    let mut held = server.client().hold().await.unwrap();
    assert_eq!(timeout(AMPLE, held.ended()).await.unwrap(), Ended::Closed);
}

#[tokio::test]
async fn a_line_without_an_end_is_not_kept() {
    let server = Server::answering([STARTED, &vec![b'x'; 4 * 1024 * 1024]].concat());
    let mut held = server.client().hold().await.unwrap();
    let ended = timeout(AMPLE, held.ended()).await.unwrap();
    assert_eq!(ended, Ended::Failed(ErrorKind::Oversize));
}

#[tokio::test]
async fn a_refusal_is_no_stream() {
    let server = Server::answering(
        "{\"id\":\"t1:sub:0:probe\",\"error\":{\"code\":\"server_unavailable\"}}\n",
    );
    let error = server.client().hold().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Rejected);
    let closing = Server::answering("");
    let error = closing.client().hold().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ClosedWithoutReply);
}
