//! What a line costs: writing a request, reading a reply, cleaning a text.

#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use divan::Bencher;
use divan::counter::BytesCount;
use herdr_proto::{
    Ack, AgentLabel, PaneGet, PaneId, PaneInfoReply, PresentationText, ReportAgent, ReportMetadata,
    ReportState, Seq, SourceId, StateKey, TokenEdit, TokenKey, Ttl, decode, encode, strip_controls,
};

fn main() {
    divan::main();
}

fn pane() -> PaneId {
    PaneId::parse("w1:p1").unwrap()
}

fn source() -> SourceId {
    SourceId::parse("custom:my-agent").unwrap()
}

fn text(text: &str) -> PresentationText {
    PresentationText::normalize(text).unwrap()
}

#[divan::bench]
fn encode_state(bencher: Bencher<'_, '_>) {
    let agent = AgentLabel::parse("my-agent").unwrap();
    let mut report = ReportAgent::new(pane(), source(), agent, ReportState::Blocked);
    report.seq = Some(Seq::new(1_796_007_876_646_345));
    report.message = Some(text("Run cargo test?"));
    bencher.bench_local(|| encode("r", &report).unwrap());
}

#[divan::bench]
fn encode_title_labels_and_tokens(bencher: Bencher<'_, '_>) {
    let mut report = ReportMetadata::new(pane(), source());
    report.title = Some(text("Fix the login redirect"));
    report.state_labels.insert(StateKey::Blocked, text("Run cargo test?"));
    report.ttl_ms = Some(Ttl::from_millis(180_000).unwrap());
    for key in ["model", "ctx", "branch"] {
        let value = TokenEdit::Set(text("34k/200k"));
        report.tokens.edit(TokenKey::parse(key).unwrap(), value);
    }
    bencher.bench_local(|| encode("r", &report).unwrap());
}

#[divan::bench]
fn encode_look() -> Vec<u8> {
    encode("r", &PaneGet::new(pane())).unwrap()
}

#[divan::bench]
fn decode_ok() -> Ack {
    decode(divan::black_box(br#"{"id":"r","result":{"type":"ok"}}"#)).unwrap().unwrap()
}

#[divan::bench]
fn decode_refusal() -> bool {
    let line = br#"{"id":"","error":{"code":"pane_not_found","message":"pane w9:p9 not found"}}"#;
    decode::<Ack>(divan::black_box(line)).unwrap().is_err()
}

#[divan::bench]
fn decode_pane() -> PaneInfoReply {
    let line = br#"{"id":"r","result":{"type":"pane_info","pane":{"pane_id":"w1:p1","terminal_id":"t-1","workspace_id":"w1","tab_id":"w1:t1","focused":true,"cwd":"/home/ada/project","agent":"my-agent","title":"Fix the login redirect","agent_status":"blocked","state_labels":{"blocked":"Run cargo test?"},"tokens":{"model":"large-2","ctx":"34k/200k","branch":"main"},"revision":7,"state_change_seq":12}}}"#;
    decode(divan::black_box(line)).unwrap().unwrap()
}

/// Texts as hosts give them, from the usual to the hostile.
const TEXTS: [(&str, &str); 4] = [
    ("plain", "Fix the login redirect"),
    ("escapes", "\u{1b}[31mred\u{1b}[0m and \u{1b}]0;a title\u{7}then\nmore\tof it"),
    ("emoji", "👩\u{200d}👩\u{200d}👧\u{200d}👦 deploys ❤\u{fe0f} to production 🚀"),
    ("long", "word "),
];

fn sample(name: &str) -> String {
    let (_, text) = TEXTS.iter().find(|(known, _)| *known == name).unwrap();
    if name == "long" { text.repeat(20_000) } else { (*text).to_owned() }
}

#[divan::bench(args = TEXTS.map(|(name, _)| name))]
fn normalize(bencher: Bencher<'_, '_>, name: &str) {
    let text = sample(name);
    bencher.bench_local(|| PresentationText::normalize(divan::black_box(&text)));
}

#[divan::bench(args = TEXTS.map(|(name, _)| name))]
fn strip(bencher: Bencher<'_, '_>, name: &str) {
    let text = sample(name);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| strip_controls(divan::black_box(&text)));
}
