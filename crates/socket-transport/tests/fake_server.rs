//! The whole crate against a server that behaves as Herdr does.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::ffi::OsString;
use std::time::Duration;

use fake_herdr::FakeHerdr;
use herdr_proto::{
    AgentLabel, ErrorCode, PaneGet, PaneId, Ping, ReportAgent, ReportState, Seq, SourceId,
};
use herdr_socket_transport::{Client, Discovery, Ended, Endpoint, ErrorKind, Options, inode};
use tokio::time::timeout;

const AMPLE: Duration = Duration::from_secs(20);

fn client(herdr: &FakeHerdr) -> Client {
    Client::new(herdr.socket_path(), Options::default().deadline(AMPLE))
}

fn report(pane: PaneId, seq: u64) -> ReportAgent {
    let source = SourceId::parse("custom:hostbot").unwrap();
    let agent = AgentLabel::parse("hostbot").unwrap();
    let mut report = ReportAgent::new(pane, source, agent, ReportState::Working);
    report.seq = Some(Seq::new(seq));
    report
}

#[tokio::test]
async fn what_a_pane_has_in_its_environment_leads_to_its_server() {
    let herdr = FakeHerdr::start().unwrap();
    let variables = herdr.env();
    let lookup = |name: &str| {
        variables.iter().find(|(known, _)| known == name).map(|(_, value)| OsString::from(value))
    };
    let Discovery::Found(endpoint) = Endpoint::from_env(lookup) else {
        panic!("{variables:?}");
    };
    let client = Client::new(endpoint.socket(), Options::default().deadline(AMPLE));
    client.call(&report(endpoint.pane().clone(), 1)).await.unwrap();
    let pane = client.call(&PaneGet::new(endpoint.pane().clone())).await.unwrap().pane;
    assert_eq!(pane.agent.as_deref(), Some("hostbot"));
    // One connection for each request.
    assert_eq!(herdr.connections(), 2);
}

#[tokio::test]
async fn a_handoff_ends_the_held_stream_and_the_next_request_goes_to_the_new_server() {
    let herdr = FakeHerdr::start().unwrap();
    let client = client(&herdr);
    let mut held = client.hold().await.unwrap();
    let before = inode(herdr.socket_path()).unwrap();
    herdr.live_handoff();
    assert_eq!(timeout(AMPLE, held.ended()).await.unwrap(), Ended::Closed);
    // The path may be free for a moment between the two.
    let reached = async {
        while client.call(&Ping::default()).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    timeout(AMPLE, reached).await.unwrap();
    assert_ne!(inode(herdr.socket_path()), Some(before));
}

#[tokio::test]
async fn refusals_come_with_their_code_whatever_the_id_of_the_reply() {
    let herdr = FakeHerdr::start().unwrap();
    let client = client(&herdr);
    let nowhere = PaneId::parse("w9:p9").unwrap();
    let error = client.call(&PaneGet::new(nowhere)).await.unwrap_err();
    assert_eq!(error.rejection().unwrap().code, ErrorCode::PANE_NOT_FOUND);
    // The reply to this one has an empty id.
    let line = b"{\"id\":\"x\",\"method\":\"no.such\",\"params\":{}}\n";
    let reply = client.exchange(line).await.unwrap();
    let reply = std::str::from_utf8(&reply).unwrap();
    assert!(reply.contains("\"id\":\"\"") && reply.contains("invalid_request"), "{reply}");
}

#[tokio::test]
async fn a_line_that_the_server_drops_ends_without_an_answer() {
    let herdr = FakeHerdr::start().unwrap();
    let error = client(&herdr).exchange(b"\xff\xfe\n").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ClosedWithoutReply);
}

#[tokio::test]
async fn many_requests_at_once_each_get_their_own_reply() {
    let herdr = FakeHerdr::start().unwrap();
    let client = client(&herdr);
    let mut requests = tokio::task::JoinSet::new();
    for number in 0..100 {
        let client = client.clone();
        requests.spawn(async move {
            let line = format!("{{\"id\":\"n{number}\",\"method\":\"ping\",\"params\":{{}}}}\n");
            let reply = client.exchange(line.as_bytes()).await.unwrap();
            let id = format!("\"id\":\"n{number}\"");
            assert!(std::str::from_utf8(&reply).unwrap().contains(&id));
        });
    }
    while let Some(outcome) = requests.join_next().await {
        outcome.unwrap();
    }
    assert_eq!(herdr.connections(), 100);
}
