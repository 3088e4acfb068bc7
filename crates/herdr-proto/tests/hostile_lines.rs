//! What a server may say instead of a reply or an event: everything ends as a
//! typed error (failures B59, B60, B79), nothing as a panic.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use herdr_proto::{
    Ack, AgentListReply, Error, ErrorCode, ErrorKind, PaneInfoReply, PaneListReply, Pong,
    ProcessInfoReply, Reply, SnapshotReply, SubscriptionStarted, decode,
};
use proptest::collection::{hash_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

fn kind<T: std::fmt::Debug>(read: Result<Reply<T>, Error>) -> ErrorKind {
    read.unwrap_err().kind()
}

fn decode_as_everything(line: &[u8]) {
    let _ = decode::<Ack>(line);
    let _ = decode::<Pong>(line);
    let _ = decode::<PaneInfoReply>(line);
    let _ = decode::<PaneListReply>(line);
    let _ = decode::<ProcessInfoReply>(line);
    let _ = decode::<AgentListReply>(line);
    let _ = decode::<SnapshotReply>(line);
    let _ = decode::<SubscriptionStarted>(line);
}

/// JSON that is made of the words of the wire.
fn json() -> impl Strategy<Value = Value> {
    let name = || {
        select(vec![
            "id",
            "result",
            "error",
            "event",
            "data",
            "type",
            "code",
            "message",
            "pane",
            "panes",
            "pane_id",
            "agent",
            "agents",
            "agent_status",
            "tokens",
            "process_info",
            "snapshot",
            "previous_pane_id",
            "version",
            "protocol",
            "capabilities",
            "jsonrpc",
            "else",
        ])
        .prop_map(str::to_owned)
    };
    let word = select(vec![
        "ok",
        "pong",
        "subscription_started",
        "pane_updated",
        "pane_moved",
        "pane_closed",
        "pane.agent_status_changed",
        "w1:p1",
        "",
        "working",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            1 => vec(inner.clone(), 0..4).prop_map(Value::from),
            3 => hash_map(name(), inner, 0..6)
                .prop_map(|fields| Value::from(serde_json::Map::from_iter(fields))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn arbitrary_bytes_do_not_panic(line in vec(any::<u8>(), 0..200)) {
        decode_as_everything(&line);
    }

    #[test]
    fn arbitrary_json_does_not_panic(line in json()) {
        decode_as_everything(line.to_string().as_bytes());
    }

    #[test]
    fn a_damaged_line_does_not_panic(line in json(), at in any::<prop::sample::Index>(), byte: u8) {
        let mut line = line.to_string().into_bytes();
        let at = at.index(line.len());
        line[at] = byte;
        decode_as_everything(&line);
        decode_as_everything(&line[..at]);
    }

    #[test]
    fn only_an_object_is_a_reply(line in json()) {
        if !line.is_object() {
            let line = line.to_string();
            prop_assert_eq!(kind(decode::<Ack>(line.as_bytes())), ErrorKind::Malformed);
        }
    }

    #[test]
    fn only_an_object_is_a_result_or_an_error(part in json()) {
        let result = format!(r#"{{"id":"t","result":{part}}}"#);
        prop_assert_eq!(decode::<Ack>(result.as_bytes()).is_ok(), part.is_object());
        let error = format!(r#"{{"id":"t","error":{part}}}"#);
        if !part.is_object() {
            prop_assert_eq!(kind(decode::<Ack>(error.as_bytes())), ErrorKind::Malformed);
        }
    }

    #[test]
    fn invalid_utf_8_is_never_a_reply(at in 0..3_usize, bytes in vec(0x80..=0xff_u8, 1..4)) {
        prop_assume!(std::str::from_utf8(&bytes).is_err());
        let text = ["id", "extra", "type"];
        let mut line = Vec::new();
        for (n, name) in text.iter().enumerate() {
            line.extend_from_slice(if n == 0 { b"{\"" } else { b",\"" });
            line.extend_from_slice(name.as_bytes());
            line.extend_from_slice(b"\":\"");
            if n == at { line.extend_from_slice(&bytes) }
            line.push(b'"');
        }
        line.extend_from_slice(br#","result":{"type":"ok"},"event":"x","data":{}}"#);
        prop_assert_eq!(kind(decode::<Ack>(&line)), ErrorKind::Malformed);
    }
}

#[test]
fn b59_a_refusal_is_known_whatever_its_id() {
    for id in [r#""""#, "null", r#""other""#, r#""t:sub:0:probe""#, "7", "[]", "{}"] {
        let line = format!(r#"{{"id":{id},"error":{{"code":"pane_not_found","message":"m"}}}}"#);
        let refusal = decode::<PaneInfoReply>(line.as_bytes()).unwrap().unwrap_err();
        assert_eq!(refusal.code, ErrorCode::PANE_NOT_FOUND);
    }
    let both = br#"{"result":{"type":"ok"},"error":{"code":"pane_not_found"}}"#;
    assert!(decode::<Ack>(both).unwrap().is_err(), "the error counts");
}

#[test]
fn b60_what_is_no_reply_is_malformed() {
    for line in [
        &b""[..],
        b" ",
        b"null",
        b"[]",
        b"[1,2]",
        br#"["2.0",{"code":"pane_not_found"},{}]"#,
        b"{}",
        b"{\"id\":\"1\"",
        b"{\"id\":\"1\",\"result\":7}",
        b"{\"id\":\"1\",\"result\":null}",
        b"{\"id\":\"1\",\"result\":[]}",
        b"{\"id\":\"1\",\"error\":{}}",
        b"{\"id\":\"1\",\"error\":[\"pane_not_found\",\"m\"]}",
        b"{\"id\":\"1\",\"error\":\"pane_not_found\"}",
        b"{\"id\":\"1\",\"error\":{\"code\":null}}",
        b"{\"id\":\"1\",\"error\":{\"code\":[-32601]}}",
        b"{\"id\":\"1\",\"result\":{}}{\"id\":\"2\",\"result\":{}}",
        b"\xff\xfe",
        b"{\"id\":\"\xff\",\"result\":{}}",
        b"{\"result\":{\"type\":\"\xff\"}}",
    ] {
        assert_eq!(kind(decode::<Ack>(line)), ErrorKind::Malformed, "{}", line.escape_ascii());
    }
}

#[test]
fn b79_json_rpc_is_told_apart() {
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"result":{"type":"pong"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"m","data":{"kind":"unknown_method"}}}"#,
        r#"{"id":1,"error":{"code":-32601,"message":"m"}}"#,
        r#"{"id":1,"error":{"code":4,"message":"m"}}"#,
    ] {
        assert_eq!(kind(decode::<Pong>(line.as_bytes())), ErrorKind::NotPaneApi, "{line}");
    }
}

#[test]
fn b81_what_is_new_is_kept_or_skipped() {
    let refusal = decode::<Ack>(br#"{"error":{"code":"brand_new","message":7,"extra":1},"x":[]}"#);
    let refusal = refusal.unwrap().unwrap_err();
    assert_eq!((refusal.code.as_str(), refusal.message.as_str()), ("brand_new", ""));

    let ack = br#"{"id":"1","result":{"type":"report_taken","more":[1]},"x":1,"jsonrpc":null}"#;
    assert!(decode::<Ack>(ack).unwrap().is_ok());

    let pane = br#"{"result":{"type":"pane_details","pane":{"pane_id":"w1:p1","agent_status":
        "pondering","program_status":{"v":1},"tokens":{"k":"v"}}}}"#;
    let pane = decode::<PaneInfoReply>(pane).unwrap().unwrap().pane;
    assert_eq!(pane.agent_status.as_str(), "pondering");
    assert_eq!(pane.tokens["k"], "v");
}

#[test]
fn a_result_that_only_its_name_tells_apart_must_have_that_name() {
    for name in ["ok", "pane_info", "subscription_started", "PONG", ""] {
        let line = format!(r#"{{"result":{{"type":"{name}","version":"0.8.2"}}}}"#);
        assert_eq!(kind(decode::<Pong>(line.as_bytes())), ErrorKind::Malformed, "{name}");
    }
    assert_eq!(kind(decode::<Pong>(br#"{"result":{}}"#)), ErrorKind::Malformed);
    assert_eq!(
        kind(decode::<SubscriptionStarted>(br#"{"result":{"type":"ok"}}"#)),
        ErrorKind::Malformed
    );
    assert_eq!(
        kind(decode::<PaneInfoReply>(br#"{"result":{"type":"pong"}}"#)),
        ErrorKind::Malformed,
        "the others are known by their fields"
    );
}

#[test]
fn an_error_names_the_place_and_no_payload() {
    for line in [
        r#"{"result":{"type":"hunter2","pane":{"pane_id":"w1:p1","focused":"hunter2"}}}"#,
        r#"{"result":{"pane":{"pane_id":["hun ter2"]}}}"#,
        r#"{"result":"hunter2"}"#,
        r#"{"error":{"code":["hunter2"]}}"#,
        r#"{"hunter2"}"#,
    ] {
        let error = decode::<PaneInfoReply>(line.as_bytes()).unwrap_err();
        for words in [error.to_string(), format!("{error:?}")] {
            assert!(!words.contains("ter2"), "{words}");
        }
        assert!(std::error::Error::source(&error).is_none());
    }
    let error = decode::<PaneInfoReply>(br#"{"result":{"pane":7}}"#).unwrap_err();
    assert_eq!(error.to_string(), "the result is not what this method answers (at its byte 9)");
}
