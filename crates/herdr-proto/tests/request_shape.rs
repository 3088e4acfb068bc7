//! Failure B81: every request has the published shape (protocol §2.1, §2.2).
//! The server refuses a missing or mistyped part, and passes over a field that
//! it does not know without a word, which would hide a typing error of ours.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::collections::BTreeSet;
use std::fmt::Debug;

use herdr_proto::limits::REQUEST_LINE_MAX;
use herdr_proto::{Call, encode};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::Value;
use support::calls::{Check, any_call};

/// Method, what it must have, what it may have.
const PUBLISHED: [(&str, &[&str], &[&str]); 20] = [
    ("ping", &[], &[]),
    (
        "pane.report_agent",
        &["pane_id", "source", "agent", "state"],
        &["message", "seq", "agent_session_id", "agent_session_path", "resume_argv"],
    ),
    (
        "pane.report_agent_session",
        &["pane_id", "source", "agent"],
        &["seq", "agent_session_id", "agent_session_path", "session_start_source", "resume_argv"],
    ),
    (
        "pane.report_metadata",
        &["pane_id", "source"],
        &[
            "agent",
            "applies_to_source",
            "title",
            "display_agent",
            "state_labels",
            "tokens",
            "clear_title",
            "clear_display_agent",
            "clear_state_labels",
            "seq",
            "ttl_ms",
        ],
    ),
    ("pane.release_agent", &["pane_id", "source", "agent"], &["seq"]),
    ("pane.clear_agent_authority", &["pane_id"], &["source", "seq"]),
    ("pane.get", &["pane_id"], &[]),
    ("pane.current", &[], &["caller_pane_id"]),
    ("pane.list", &[], &["workspace_id"]),
    ("pane.process_info", &[], &["pane_id"]),
    ("agent.get", &["target"], &[]),
    ("agent.list", &[], &[]),
    ("session.snapshot", &[], &[]),
    ("events.subscribe", &["subscriptions"], &[]),
    ("pane.send_text", &["pane_id", "text"], &[]),
    ("pane.send_keys", &["pane_id", "keys"], &[]),
    ("pane.send_input", &["pane_id"], &["text", "keys"]),
    ("pane.read", &["pane_id", "source"], &["lines", "format"]),
    ("agent.read", &["target", "source"], &["lines", "format"]),
    ("agent.prompt", &["target", "text"], &[]),
];

struct Shape;

impl Check for Shape {
    fn check<C>(&self, call: &C)
    where
        C: Call + DeserializeOwned + PartialEq + Debug,
    {
        let line = encode("r\n1", call).unwrap();
        assert!(line.len() <= REQUEST_LINE_MAX);
        let newline = line.iter().position(|byte| *byte == b'\n');
        assert_eq!(newline, Some(line.len() - 1), "the only newline is at the end");

        let request: Value = serde_json::from_slice(&line).unwrap();
        let names = |value: &Value| -> BTreeSet<String> {
            value.as_object().expect("an object").keys().cloned().collect()
        };
        assert_eq!(names(&request), ["id", "method", "params"].map(str::to_owned).into());
        assert!(request["id"].is_string());

        let (_, must, may) = PUBLISHED
            .iter()
            .find(|(method, ..)| *method == C::METHOD)
            .expect("every method is in the table");
        let params = names(&request["params"]);
        for name in *must {
            assert!(params.contains(*name), "{} lacks {name}", C::METHOD);
        }
        for name in &params {
            let known = must.contains(&name.as_str()) || may.contains(&name.as_str());
            assert!(known, "{} knows no {name}", C::METHOD);
            assert!(!request["params"][name].is_null(), "{name} is left out, not null");
        }
    }
}

proptest! {
    #[test]
    fn b81_every_request_has_the_published_shape(call in any_call()) {
        call.check(&Shape);
    }
}
