//! Streams of events, known ones and others.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod support;

use std::pin::pin;

use herdr_proto::{ErrorCode, EventData, EventKind, PaneId, Subscription};
use herdr_socket_transport::{ErrorKind, EventStream};
use support::{STARTED, Server, poll_once, read_line, write};

/// A stream on which the server says all of this after its acknowledgement.
async fn stream(events: impl AsRef<[u8]>) -> (Server, EventStream) {
    let server = Server::answering([STARTED, events.as_ref()].concat());
    let stream = server.client().subscribe(vec![Subscription::Moved]).await.unwrap();
    (server, stream)
}

const DETECTED: &str = "{\"data\":{\"agent\":\"hostbot\",\"pane_id\":\"w1:p1\",\
    \"type\":\"pane_agent_detected\"},\"event\":\"pane_agent_detected\"}\n";
const UNKNOWN: &str = "{\"event\":\"pane.levitated\",\"data\":{\"height\":[1,2]},\"more\":1}\n";

#[tokio::test]
async fn unknown_kinds_come_through_between_known_ones() {
    let (_server, mut events) = stream([UNKNOWN, DETECTED].concat()).await;
    let unknown = events.next().await.unwrap().unwrap();
    assert_eq!(unknown.kind.as_str(), "pane.levitated");
    assert!(matches!(unknown.data, EventData::Other(_)));
    let known = events.next().await.unwrap().unwrap();
    assert_eq!(known.kind, EventKind::PANE_AGENT_DETECTED);
    let EventData::AgentDetected(detected) = known.data else { panic!("{:?}", known.data) };
    assert_eq!(detected.agent.as_deref(), Some("hostbot"));
    assert!(events.next().await.unwrap().is_none());
    assert!(events.next().await.unwrap().is_none());
}

#[tokio::test]
async fn what_was_asked_for_is_on_the_wire() {
    let (sender, requests) = std::sync::mpsc::channel();
    let server = Server::start(move |stream| {
        sender.send(read_line(&stream)).unwrap();
        write(&stream, STARTED);
    });
    let pane = PaneId::parse("w1:p1").unwrap();
    let wanted = vec![
        Subscription::Closed,
        Subscription::StatusChanged { pane_id: pane, agent_status: None },
    ];
    let _events = server.client().subscribe(wanted).await.unwrap();
    let line = String::from_utf8(requests.recv().unwrap()).unwrap();
    assert_eq!(
        line,
        "{\"id\":\"t1\",\"method\":\"events.subscribe\",\"params\":{\"subscriptions\":[\
         {\"type\":\"pane.closed\"},\
         {\"type\":\"pane.agent_status_changed\",\"pane_id\":\"w1:p1\"}]}}\n"
    );
}

#[tokio::test]
async fn a_line_that_is_no_event_does_not_end_the_stream() {
    let lines: [&[u8]; 4] = [
        b"nonsense\n",
        b"\n",
        b"{\"x\":\"\xff\",\"event\":\"e\",\"data\":{}}\n",
        DETECTED.as_bytes(),
    ];
    let (_server, mut events) = stream(lines.concat()).await;
    for _ in 0..3 {
        assert_eq!(events.next().await.unwrap_err().kind(), ErrorKind::Malformed);
    }
    assert!(events.next().await.unwrap().is_some());
}

#[tokio::test]
async fn an_error_in_the_stream_is_the_servers_own() {
    let lost = "{\"id\":\"t1\",\"error\":{\"code\":\"events_lost\",\"message\":\"behind\"}}\n";
    let (_server, mut events) = stream([DETECTED, lost].concat()).await;
    assert!(events.next().await.unwrap().is_some());
    let error = events.next().await.unwrap_err();
    assert_eq!(error.rejection().unwrap().code, ErrorCode::EVENTS_LOST);
    assert!(events.next().await.unwrap().is_none());
}

#[tokio::test]
async fn half_an_event_before_the_end_is_a_broken_end() {
    let (_server, mut events) = stream(&DETECTED[..DETECTED.len() - 1]).await;
    assert_eq!(events.next().await.unwrap_err().kind(), ErrorKind::ClosedMidReply);
    assert!(events.next().await.unwrap().is_none());
}

#[tokio::test]
async fn an_event_over_the_cap_ends_the_stream() {
    let (_server, mut events) = stream(vec![b'x'; 2 * 1024 * 1024]).await;
    assert_eq!(events.next().await.unwrap_err().kind(), ErrorKind::Oversize);
}

#[tokio::test]
async fn giving_up_waiting_loses_nothing() {
    let (go, gone) = std::sync::mpsc::channel::<()>();
    let server = Server::start(move |stream| {
        read_line(&stream);
        let (first, second) = DETECTED.split_at(DETECTED.len() / 2);
        write(&stream, &[STARTED, first.as_bytes()].concat());
        gone.recv().unwrap();
        write(&stream, second.as_bytes());
    });
    let mut events = server.client().subscribe(vec![Subscription::Moved]).await.unwrap();
    assert!(poll_once(&mut pin!(events.next())).await.is_none());
    go.send(()).unwrap();
    let event = events.next().await.unwrap().unwrap();
    assert_eq!(event.kind, EventKind::PANE_AGENT_DETECTED);
}
