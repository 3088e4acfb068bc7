//! `pane.report_metadata` and `workspace.report_metadata` (protocol 5.6 and 5.7).

use serde_json::json;

use crate::support::Herdr;

/// D5: a report with a `clear_*` flag keeps the other fields, and can add a guard.
#[test]
fn metadata_patch_mode() {
    let mut herdr = Herdr::new();
    herdr.report("custom:bot", "bot", "working", Some(1));
    herdr.metadata("custom:bot", json!({ "title": "A", "display_agent": "D", "ttl_ms": 1000 }));
    herdr.metadata("custom:bot", json!({ "clear_state_labels": true }));
    herdr.pass(999);
    assert_eq!(herdr.see().title.as_deref(), Some("A"), "nothing set and no ttl: the ttl stays");
    herdr.metadata("custom:bot", json!({ "clear_display_agent": true, "title": "B" }));
    herdr.pass(5000);
    assert_eq!(herdr.see().title.as_deref(), Some("B"), "a set without a ttl ends the ttl");
    herdr.metadata("custom:bot", json!({ "clear_display_agent": true, "agent": "other" }));
    assert_eq!(herdr.see().title, None, "the guard was added");
    herdr.metadata("custom:bot", json!({ "clear_display_agent": true, "agent": "bot" }));
    assert_eq!(herdr.see().title.as_deref(), Some("B"));
}

/// D4: the newest report of each field wins. When it expires, the one before shows
/// again.
#[test]
fn newest_wins_per_field() {
    let mut herdr = Herdr::new();
    herdr.metadata(
        "custom:a",
        json!({ "title": "A", "state_labels": { "idle": "a", "done": "a" } }),
    );
    herdr.metadata("custom:b", json!({ "display_agent": "B", "state_labels": { "idle": "b" } }));
    let seen = herdr.see();
    assert_eq!((seen.title.as_deref(), seen.display_agent.as_deref()), (Some("A"), Some("B")));
    assert_eq!(
        (seen.state_labels["idle"].as_str(), seen.state_labels["done"].as_str()),
        ("b", "a")
    );
    herdr.metadata("custom:c", json!({ "title": "C", "ttl_ms": 50 }));
    assert_eq!(herdr.see().title.as_deref(), Some("C"));
    herdr.pass(150);
    assert_eq!(herdr.see().title.as_deref(), Some("A"));
}

/// A metadata report is checked in this order.
#[test]
fn the_first_error_wins() {
    let mut herdr = Herdr::new();
    let mut all = json!({
        "pane_id": "w9:p9", "source": "bad source", "agent": " ", "tokens": { "bad key": "v" },
        "ttl_ms": 0, "applies_to_source": "", "state_labels": { "busy": "x" },
        "title": "T", "clear_title": true,
    });
    for (field, good, code) in [
        ("pane_id", json!("w1:p1"), "pane_not_found"),
        ("agent", json!("bot"), "invalid_agent"),
        ("source", json!("custom:a"), "invalid_metadata_source"),
        ("tokens", json!({ "key": "v" }), "invalid_metadata_token"),
        ("ttl_ms", json!(1), "invalid_metadata_ttl"),
        ("applies_to_source", json!("custom:a"), "invalid_metadata_source"),
        ("state_labels", json!({ "idle": "x" }), "invalid_state_label"),
        ("clear_title", json!(false), "invalid_metadata_request"),
    ] {
        assert_eq!(herdr.code("pane.report_metadata", all.clone()), code);
        all[field] = good;
    }
    assert_eq!(herdr.code("pane.report_metadata", all), "ok");
}

/// D2: a stale number is checked before the limits.
#[test]
fn stale_reports_are_not_checked_for_limits() {
    let mut herdr = Herdr::new();
    let tokens = |from: usize| -> serde_json::Value {
        (from..from + 16)
            .map(|n| (format!("k{n}"), json!("v")))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    herdr.metadata("custom:a", json!({ "tokens": tokens(0), "seq": 5 }));
    herdr.metadata("custom:a", json!({ "tokens": tokens(16), "seq": 6 }));
    assert_eq!(herdr.metadata("custom:a", json!({ "tokens": { "x": "v" }, "seq": 6 })), "ok");
    assert_eq!(
        herdr.metadata("custom:a", json!({ "tokens": { "x": "v" }, "seq": 7 })),
        "metadata_token_limit"
    );
    assert_eq!(
        herdr.model.metadata_mark("w1:p1", "custom:a"),
        Some(6),
        "a refused report uses no number"
    );
}

/// 5.7: the sources of a workspace share its tokens, which have sequence marks of their
/// own and expire as those of a pane do.
#[test]
fn tokens_of_a_workspace() {
    let mut herdr = Herdr::new();
    let report = |herdr: &mut Herdr, source: &str, more: serde_json::Value| {
        let mut params = json!({ "workspace_id": "w1", "source": source });
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        herdr.code("workspace.report_metadata", params)
    };
    let tokens = |herdr: &mut Herdr| {
        let reply = herdr.call("workspace.get", json!({ "workspace_id": "w1" }));
        reply["result"]["workspace"].get("tokens").cloned().unwrap_or_default()
    };
    assert_eq!(report(&mut herdr, "custom:a", json!({ "tokens": {} })), "invalid_metadata_token");
    assert_eq!(report(&mut herdr, "custom:a", json!({ "tokens": { "k": "a" }, "seq": 3 })), "ok");
    assert_eq!(report(&mut herdr, "custom:b", json!({ "tokens": { "k": "b" } })), "ok");
    assert_eq!(tokens(&mut herdr), json!({ "k": "b" }), "any source overwrites");
    assert_eq!(report(&mut herdr, "custom:a", json!({ "tokens": { "k": "c" }, "seq": 3 })), "ok");
    assert_eq!(tokens(&mut herdr), json!({ "k": "b" }), "stale");
    let brief = json!({ "tokens": { "k": null, "t": "x" }, "ttl_ms": 1 });
    assert_eq!(report(&mut herdr, "custom:a", brief), "ok", "no number is never stale here");
    assert_eq!(tokens(&mut herdr), json!({ "t": "x" }));
    herdr.pass(1);
    assert_eq!(tokens(&mut herdr), json!(null));
    assert_eq!(herdr.metadata("custom:a", json!({ "title": "T", "seq": 1 })), "ok", "other marks");
}
