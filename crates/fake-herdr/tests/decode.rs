//! Which lines are requests (protocol 2.1).
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support;

use std::time::Duration;

use fake_herdr::{Answer, Model, Profile};
use serde_json::Value;

fn answer(model: &mut Model, line: &str) -> Option<Value> {
    model
        .request(Duration::ZERO, line.as_bytes())
        .line()
        .map(|reply| serde_json::from_str(reply).unwrap())
}

const REFUSED: &[&str] = &[
    "nope",
    "[]",
    r#"["1","ping",{}]"#,
    r#"{"method":"ping","params":{}}"#,
    r#"{"id":"1","params":{}}"#,
    r#"{"id":"1","method":"ping"}"#,
    r#"{"id":1,"method":"ping","params":{}}"#,
    r#"{"id":null,"method":"ping","params":{}}"#,
    r#"{"id":"1","method":"ping","params":null}"#,
    r#"{"id":"1","method":"ping","params":[]}"#,
    r#"{"id":"1","method":"ping","params":"x"}"#,
    r#"{"id":"1","id":"1","method":"ping","params":{}}"#,
    r#"{"id":"1","method":"ping","params":{},"params":{}}"#,
    r#"{"id":"1","method":"ping","params":{}} x"#,
    r#"{"id":"1","method":"pane.nope","params":{}}"#,
    r#"{"id":"1","method":"pane.get","params":{}}"#,
    r#"{"id":"1","method":"pane.get","params":{"pane_id":1}}"#,
    r#"{"id":"1","method":"pane.get","params":{"pane_id":"w1:p1","pane_id":"w1:p1"}}"#,
    r#"{"id":"1","method":"pane.get","params":["w1:p1"]}"#,
    // Unknown keys must have valid JSON values as well.
    r#"{"id":"1","method":"ping","params":{"x":1e999}}"#,
    r#"{"id":"1","method":"ping","params":{"x":"\ud800"}}"#,
    r#"{"id":"1","method":"pane.read","params":{"pane_id":"w1:p1","source":"visible","strip_ansi":5}}"#,
    r#"{"id":"1","method":"events.subscribe","params":{"subscriptions":[{"type":"pane.x"}]}}"#,
    r#"{"id":"1","method":"events.subscribe","params":{"subscriptions":[{"type":"pane.output_matched","pane_id":"w1:p1","match":{"type":"substring","value":"x"}}]}}"#,
    r#"{"id":"1","method":"events.subscribe","params":{"subscriptions":[{"type":"pane.agent_status_changed"}]}}"#,
];

const ACCEPTED: &[&str] = &[
    r#"{"id":"1","method":"ping","params":{}}"#,
    r#"  {"id":"1","method":"ping","params":{}}  "#,
    "\u{a0}\u{b}{\"id\":\"1\",\"method\":\"ping\",\"params\":{}}\u{c}",
    r#"{"id":"1","method":"events.subscribe","params":{"subscriptions":[{"type":"pane.created","pane_id":5}]}}"#,
    r#"{"jsonrpc":"2.0","params":{"x":[1,{}]},"method":"ping","id":"1"}"#,
    r#"{"id":"1","method":"pane.get","params":{"pane_id":"w1:p1","more":null,"more":1}}"#,
    r#"{"id":"1","method":"pane.current","params":{"caller_pane_id":null}}"#,
];

#[test]
fn decoding_is_as_strict_as_on_the_server() {
    let mut model = Model::new();
    for line in REFUSED {
        let reply = answer(&mut model, line).unwrap();
        assert_eq!(reply["error"]["code"], "invalid_request", "{line}");
        assert_eq!(reply["id"], "", "{line}");
    }
    for line in ACCEPTED {
        let reply = answer(&mut model, line).unwrap();
        assert_eq!((reply["id"].as_str(), reply.get("error")), (Some("1"), None), "{line}");
    }
}

#[test]
fn numbers_are_whole_and_fit() {
    let mut model = Model::new();
    for (seq, fine) in [
        ("18446744073709551615", true),
        ("null", true),
        ("0", true),
        ("18446744073709551616", false),
        ("-1", false),
        ("1.0", false),
        ("1e3", false),
        ("\"1\"", false),
        ("true", false),
    ] {
        let line = format!(
            r#"{{"id":"1","method":"pane.report_agent","params":{{"pane_id":"w1:p1","source":"s","agent":"a","state":"idle","seq":{seq}}}}}"#
        );
        let reply = answer(&mut model, &line).unwrap();
        assert_eq!(reply.get("error").is_none(), fine, "{seq}");
    }
}

/// Parameters that have no effect are checked for their type as well. `null` is not
/// accepted for maps and flags.
#[test]
fn values_without_effect_have_their_types() {
    let mut model = Model::new();
    let read = |more| format!(r#"{{"pane_id":"w1:p1","source":"visible",{more}}}"#);
    let report = |more| format!(r#"{{"pane_id":"w1:p1","source":"s","title":"t",{more}}}"#);
    for (method, params, taken) in [
        ("notification.show", r#"{"title":"t","body":"b","sound":"request"}"#.to_owned(), true),
        ("notification.show", r#"{"title":"t","sound":"loud"}"#.to_owned(), false),
        ("notification.show", r#"{"title":"t","body":1}"#.to_owned(), false),
        ("pane.read", read(r#""strip_ansi":true,"lines":null"#), true),
        ("pane.read", read(r#""strip_ansi":"yes""#), false),
        ("pane.report_metadata", report(r#""ttl_ms":null,"agent":null"#), true),
        ("pane.report_metadata", report(r#""tokens":null"#), false),
        ("pane.report_metadata", report(r#""state_labels":null"#), false),
        ("pane.report_metadata", report(r#""clear_title":null"#), false),
    ] {
        let line = format!(r#"{{"id":"t","method":"{method}","params":{params}}}"#);
        let reply = answer(&mut model, &line).unwrap();
        let refused = reply["error"]["code"] == "invalid_request" && reply["id"] == "";
        assert_eq!(refused, !taken, "{line} {reply}");
        assert_eq!(reply.get("result").is_some(), taken, "{line} {reply}");
    }
}

#[test]
fn an_unknown_method_is_answered_with_the_known_ones() {
    let reply = answer(&mut Model::new(), r#"{"id":"1","method":"x","params":{}}"#).unwrap();
    let message = reply["error"]["message"].as_str().unwrap();
    assert!(message.contains("`pane.report_agent`") && message.contains("`ping`"), "{message}");
}

#[test]
fn blank_broken_and_long_lines_get_no_answer() {
    let mut model = Model::new();
    for line in [&b""[..], b"  \t", b"\r", b"\n{}", b"\xff\xfe", &vec![b' '; 1 << 21]] {
        assert!(matches!(model.request(Duration::ZERO, line), Answer::Silence));
    }
}

/// From 0.9.2 on an error has the request's id if the line has exactly one.
#[test]
fn newer_servers_echo_the_id() {
    let mut model = Model::with_profile(Profile::herdr_0_9_3());
    for (line, id, code) in [
        (r#"{"id":"7","method":"ping"}"#, "7", "invalid_request"),
        (r#"{"id":"7","method":"x","params":{}}"#, "7", "unknown_method"),
        (r#"{"id":7,"method":"ping","params":{}}"#, "", "invalid_request"),
        (r#"{"id":"7","id":"8","method":"ping","params":{}}"#, "", "invalid_request"),
        ("nope", "", "invalid_request"),
    ] {
        let reply = answer(&mut model, line).unwrap();
        assert_eq!(
            (reply["id"].as_str(), reply["error"]["code"].as_str()),
            (Some(id), Some(code)),
            "{line}"
        );
    }
}
