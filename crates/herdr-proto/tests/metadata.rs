//! Titles, labels and tokens on the wire: what is empty is cleared and never
//! sent as an empty text (failure B45), and a record goes out whole (B42).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use herdr_proto::{
    PaneId, PresentationText, ReportMetadata, SourceId, StateKey, TokenEdit, TokenKey, Ttl, encode,
    limits,
};
use serde_json::{Value, json};

fn report() -> ReportMetadata {
    ReportMetadata::new(PaneId::parse("w1:p1").unwrap(), SourceId::parse("custom:host").unwrap())
}

fn params(report: &ReportMetadata) -> Value {
    let line = encode("r1", report).unwrap();
    serde_json::from_slice::<Value>(&line).unwrap()["params"].take()
}

fn key(key: &str) -> TokenKey {
    TokenKey::parse(key).unwrap()
}

fn edit(text: &str) -> TokenEdit {
    PresentationText::normalize(text).map_or(TokenEdit::Clear, TokenEdit::Set)
}

const EMPTY: [&str; 6] =
    ["", "  ", "\u{1b}\n", "\u{1b}[31m\u{1b}[0m", "\u{200b}", "\u{200d}\u{fe0f}"];

#[test]
fn b45_no_text_is_empty() {
    for empty in EMPTY {
        assert_eq!(PresentationText::normalize(empty), None, "{empty:?}");
        assert!(serde_json::from_value::<PresentationText>(json!(empty)).is_err(), "{empty:?}");
    }
}

#[test]
fn b45_an_empty_token_is_null() {
    for empty in EMPTY {
        let mut report = report();
        report.tokens.edit(key("k"), edit(empty));
        assert_eq!(params(&report)["tokens"], json!({"k": null}), "{empty:?}");
    }
}

#[test]
fn b45_without_a_title_the_record_is_the_rest() {
    let mut report = report();
    report.state_labels.insert(StateKey::Working, PresentationText::normalize("busy").unwrap());
    report.title = PresentationText::normalize("\u{1b}\n");
    let params = params(&report);
    assert_eq!(
        params,
        json!({
            "pane_id": "w1:p1",
            "source": "custom:host",
            "state_labels": {"working": "busy"},
        }),
        "no title, and no flag that would make it an edit"
    );
}

#[test]
fn b45_with_nothing_left_the_flags_clear() {
    let mut report = report();
    report.clear_title = true;
    report.clear_display_agent = true;
    report.clear_state_labels = true;
    let params = params(&report);
    for flag in ["clear_title", "clear_display_agent", "clear_state_labels"] {
        assert_eq!(params[flag], true);
    }
    assert_eq!(params.as_object().unwrap().len(), 5);
}

#[test]
fn b42_a_record_without_flags_goes_out_whole() {
    let mut report = report();
    report.title = PresentationText::normalize("Fix login");
    report.display_agent = PresentationText::normalize("Host");
    for label in StateKey::ALL {
        report.state_labels.insert(label, PresentationText::normalize(label.as_str()).unwrap());
    }
    let params = params(&report);
    assert_eq!(
        params["state_labels"],
        json!({
            "idle": "idle",
            "working": "working",
            "blocked": "blocked",
            "done": "done",
            "unknown": "unknown",
        })
    );
    assert!(params.as_object().unwrap().keys().all(|name| !name.starts_with("clear_")));
}

#[test]
fn a_token_is_set_cleared_or_left() {
    let mut report = report();
    report.tokens.edit(key("model"), edit("m-1"));
    report.tokens.edit(key("ctx"), edit("34k/1.0M"));
    report.tokens.edit(key("ctx"), TokenEdit::Clear);
    report.tokens.edit(key("other"), edit("x"));
    report.tokens.leave(&key("other"));
    assert_eq!(report.tokens.len(), 2);
    assert_eq!(params(&report)["tokens"], json!({"model": "m-1", "ctx": null}));

    for name in ["model", "ctx"] {
        report.tokens.leave(&key(name));
    }
    assert!(report.tokens.is_empty());
    assert_eq!(params(&report).get("tokens"), None, "nothing to say is not said");
}

#[test]
fn b52_the_servers_limits_are_named() {
    assert_eq!((limits::TOKENS_PER_REPORT, limits::TOKENS_PER_PANE), (16, 32));
    assert_eq!(limits::TOKEN_SOURCES_PER_PANE, 32);
}

#[test]
fn b55_a_time_to_live_is_in_milliseconds() {
    let mut report = report();
    report.ttl_ms = Ttl::from_millis(limits::TTL_MAX_MS).ok();
    assert_eq!(params(&report)["ttl_ms"], 86_400_000);
    for bad in [0, limits::TTL_MAX_MS + 1, u64::MAX] {
        let error = Ttl::from_millis(bad).unwrap_err();
        assert_eq!(error.field(), "ttl_ms");
        assert_eq!(Ttl::from_millis_const(bad), None);
    }
}
