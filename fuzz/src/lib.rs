//! The bodies of the fuzz targets. None of them may panic or grow without
//! bound, whatever comes in.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;
use std::time::Duration;

use arbitrary::Arbitrary;
use fake_herdr::{Answer, FakeHerdr, Model, Profile};
use herdr_proto::{Ack, PaneInfoReply, PresentationText, SnapshotReply};
use serde_json::{Value, json};

/// Lines of arbitrary bytes, for every server there is.
pub fn model_lines(bytes: &[u8]) {
    for profile in profiles() {
        let mut model = Model::with_profile(profile);
        let mut now = Duration::ZERO;
        for line in bytes.split(|byte| *byte == b'\n') {
            now += Duration::from_millis(10);
            if let Some(reply) = model.request(now, line).line() {
                serde_json::from_str::<Value>(reply).expect("an answer is JSON");
            }
        }
    }
}

/// One request, or something else that happens to a server.
#[derive(Debug, Arbitrary)]
pub enum Deed {
    /// A report, release, clear, metadata or session request.
    Request(Request),
    /// `pane.move` to a new workspace.
    Move(u8),
    /// `pane.split`.
    Split(u8),
    /// `pane.close`.
    Close(u8),
    /// Text and keys for a pane.
    Type(u8, String),
    /// A known agent's process.
    Appear(u8, u8),
    /// Its end.
    Exit(u8),
    /// Another process behind the socket.
    Handoff,
    /// Time.
    Wait(u16),
}

/// The fields of a request, each present or not.
#[derive(Debug, Arbitrary)]
pub struct Request {
    method: u8,
    pane: u8,
    source: u8,
    agent: u8,
    state: u8,
    seq: Option<u64>,
    session: Option<String>,
    start: u8,
    title: Option<String>,
    tokens: Vec<(String, Option<String>)>,
    flags: u8,
    ttl_ms: Option<u32>,
}

/// Sequences of requests that are well formed for the most part.
pub fn model_methods(deeds: &[Deed]) {
    for profile in profiles() {
        let mut model = Model::with_profile(profile);
        let mut now = Duration::ZERO;
        for deed in deeds.iter().take(300) {
            act(&mut model, &mut now, deed);
            assert!(model.pane_ids().len() <= 301);
            for pane in model.pane_ids() {
                let seen = model.observe(now, &pane).expect("a listed pane exists");
                assert!(seen.tokens.len() <= 32);
                assert!(seen.title.is_none_or(|title| title.chars().count() <= 80));
            }
        }
    }
}

fn act(model: &mut Model, now: &mut Duration, deed: &Deed) {
    let pane = |model: &Model, number: u8| {
        let panes = model.pane_ids();
        panes.get(usize::from(number) % panes.len().max(1)).cloned().unwrap_or_default()
    };
    let agents = ["bot", "claude", "pi", "opencode", "qwen", "hermes", " "];
    let agent = |number: u8| agents[usize::from(number) % agents.len()];
    match deed {
        Deed::Request(request) => {
            let line = line(request, &pane(model, request.pane), agent(request.agent));
            let answer = model.request(*now, line.as_bytes());
            assert!(matches!(answer, Answer::Reply(_)));
        }
        Deed::Move(number) => _ = model.move_pane(*now, &pane(model, *number)),
        Deed::Split(number) => _ = model.split_pane(*now, &pane(model, *number)),
        Deed::Close(number) => _ = model.close_pane(*now, &pane(model, *number)),
        Deed::Type(number, text) => {
            let params = json!({ "pane_id": pane(model, *number), "text": text });
            let line = json!({ "id": "t", "method": "pane.send_text", "params": params });
            model.request(*now, line.to_string().as_bytes());
        }
        Deed::Appear(number, name) => {
            model.agent_appears(*now, &pane(model, *number), agent(*name), "working");
        }
        Deed::Exit(number) => _ = model.agent_exits(*now, &pane(model, *number)),
        Deed::Handoff => model.live_handoff(*now),
        Deed::Wait(ms) => *now += Duration::from_millis(u64::from(*ms)),
    }
}

fn line(request: &Request, pane: &str, agent: &str) -> String {
    let methods = [
        "pane.report_agent",
        "pane.report_metadata",
        "pane.release_agent",
        "pane.report_agent_session",
        "pane.clear_agent_authority",
    ];
    let sources = ["custom:a", "custom:b", "herdr:claude", "herdr:pi", "herdr:opencode", ""];
    let states = ["idle", "working", "blocked", "unknown"];
    let starts = ["startup", "resume", "clear", "select", "odd"];
    fn at<'a>(list: &[&'a str], number: u8) -> &'a str {
        list[usize::from(number) % list.len()]
    }
    let tokens: serde_json::Map<String, Value> =
        request.tokens.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
    let params = json!({
        "pane_id": pane,
        "source": at(&sources, request.source),
        "agent": agent,
        "state": at(&states, request.state),
        "seq": request.seq,
        "agent_session_id": request.session,
        "session_start_source": at(&starts, request.start),
        "title": request.title,
        "tokens": tokens,
        "clear_title": request.flags & 1 > 0,
        "clear_state_labels": request.flags & 2 > 0,
        "ttl_ms": request.ttl_ms,
    });
    let method = at(&methods, request.method);
    json!({ "id": "t", "method": method, "params": params }).to_string()
}

fn profiles() -> [Profile; 4] {
    [Profile::herdr_0_8_2(), Profile::herdr_0_9_0(), Profile::herdr_0_9_3(), Profile::tuios()]
}

/// Bytes on the real socket, and the server answers the next client.
pub fn server_bytes(bytes: &[u8]) {
    static SERVER: OnceLock<FakeHerdr> = OnceLock::new();
    let herdr = SERVER.get_or_init(|| FakeHerdr::start().expect("a socket in a temporary folder"));
    // This one request would end the server, which is no news.
    if bytes.windows(11).any(|window| window == b"server.stop") {
        return;
    }
    let exchange = |bytes: &[u8]| {
        let mut client = UnixStream::connect(herdr.socket_path()).expect("the server is there");
        let _ = client.write_all(bytes);
        let _ = client.shutdown(std::net::Shutdown::Write);
        let mut reply = Vec::new();
        let _ = client.read_to_end(&mut reply);
        reply
    };
    exchange(bytes);
    let reply = exchange(b"{\"id\":\"1\",\"method\":\"ping\",\"params\":{}}\n");
    assert!(reply.windows(4).any(|window| window == b"pong"));
}

/// What a client makes of an answer or an event.
pub fn reply(bytes: &[u8]) {
    let _ = herdr_proto::decode::<Ack>(bytes);
    let _ = herdr_proto::decode::<PaneInfoReply>(bytes);
    let _ = herdr_proto::decode::<SnapshotReply>(bytes);
    let _ = herdr_proto::decode_event(bytes);
}

/// Texts become something that stays as it is, is short, and holds no control.
pub fn text(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Some(normal) = PresentationText::normalize(&text) else {
        return;
    };
    let normal = normal.as_str();
    assert!(normal.chars().count() <= 80 && !normal.chars().any(char::is_control));
    let again = PresentationText::normalize(normal);
    assert_eq!(again.as_ref().map(PresentationText::as_str), Some(normal));
}

#[cfg(test)]
mod tests {
    use arbitrary::Unstructured;

    use super::*;

    /// A few thousand inputs from a fixed seed, so that the targets are known
    /// to work before anybody fuzzes for hours.
    #[test]
    fn the_targets_hold_on_random_bytes() {
        let mut seed = 7u64;
        let mut random = move |most: u64| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % most
        };
        for round in 0..600 {
            let bytes: Vec<u8> = (0..random(600)).map(|_| random(256) as u8).collect();
            model_lines(&bytes);
            reply(&bytes);
            text(&bytes);
            if round % 20 == 0 {
                server_bytes(&bytes);
            }
            if let Ok(deeds) = Vec::<Deed>::arbitrary(&mut Unstructured::new(&bytes)) {
                model_methods(&deeds);
            }
        }
    }
}
