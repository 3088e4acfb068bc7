//! `pane.report_agent_session` and what a session does to a pane (protocol 5.3, A1,
//! A2 and A9).

use serde_json::json;

use crate::support::Herdr;

/// B1: a session that cannot be resumed changes nothing and uses no number.
#[test]
fn unusable_sessions_leave_no_mark() {
    let mut herdr = Herdr::new();
    herdr.session("custom:a", "claude", "s-1", None, Some(5));
    herdr.session("herdr:claude", "codex", "s-1", None, Some(5));
    herdr.session("herdr:claude", "claude", "", None, Some(5));
    herdr.session("herdr:claude", "claude", "a\u{7}b", None, Some(5));
    assert_eq!(herdr.owner(), None);
    assert_eq!(herdr.model.mark("w1:p1", "custom:a"), None);
    assert_eq!(herdr.model.mark("w1:p1", "herdr:claude"), None);
}

/// B2: without its process, a full-lifecycle session is only announced.
#[test]
fn full_lifecycle_sessions_only_announce() {
    for agent in ["pi", "omp", "mastracode", "opencode", "kilo", "kimi"] {
        let mut herdr = Herdr::new();
        let source = format!("herdr:{agent}");
        for (start, seq, mark) in [
            (None, Some(1), None),
            (Some("nonsense"), Some(1), None),
            (Some("branch"), Some(1), None),
            (Some("startup"), None, None),
            (Some("startup"), Some(3), Some(3)),
            (Some("resume"), Some(3), Some(3)),
            (Some("select"), Some(4), Some(4)),
        ] {
            herdr.session(&source, agent, "s-1", start, seq);
            assert_eq!(herdr.model.mark("w1:p1", &source), mark, "{agent} {start:?} {seq:?}");
        }
        herdr.report(&source, agent, "working", Some(9));
        assert_eq!((herdr.row().as_str(), herdr.owner()), ("- unknown", None), "{agent}");
        assert_eq!(
            herdr.model.mark("w1:p1", &source),
            Some(4),
            "a report that waits uses no number"
        );
        // The mark belongs to the source, so a report with a custom label needs a
        // higher number.
        herdr.report(&source, "my-host", "working", Some(4));
        assert_eq!(herdr.row(), "- unknown");
        herdr.report(&source, "my-host", "working", Some(5));
        assert_eq!(herdr.row(), "my-host working");
    }
}

/// A1: of a screen-read source, only the session is used and not the state.
#[test]
fn screen_read_reports_bring_only_the_session() {
    for agent in
        ["claude", "codex", "copilot", "devin", "droid", "qodercli", "qwen", "cursor", "grok"]
    {
        let mut herdr = Herdr::new();
        let source = format!("herdr:{agent}");
        let params = json!({
            "pane_id": "w1:p1", "source": source, "agent": agent, "state": "working",
            "agent_session_id": "s-1", "seq": 1,
        });
        assert_eq!(herdr.code("pane.report_agent", params), "ok");
        assert_eq!(herdr.row(), "- unknown");
        assert_eq!(herdr.owner(), Some((source, "s-1".to_owned())));
    }
}

/// A2: hermes and agy report their session only with `report_agent_session`; a state
/// report of theirs is ignored. B6 keeps the first session while the process is absent.
#[test]
fn identity_only_sources() {
    for (source, agent, start) in [
        ("herdr:hermes", "hermes", Some("new")),
        ("herdr:antigravity_cli", "agy", None),
        ("herdr:qwen", "qwen", Some("startup")),
    ] {
        let mut herdr = Herdr::new();
        if agent != "qwen" {
            let params = json!({
                "pane_id": "w1:p1", "source": source, "agent": agent, "state": "working",
                "agent_session_id": "s-1", "seq": 1,
            });
            herdr.call("pane.report_agent", params);
            assert_eq!(herdr.owner(), None, "{agent}");
            assert_eq!(herdr.model.mark("w1:p1", source), None, "{agent}");
        }
        herdr.session(source, agent, "s-1", start, Some(1));
        herdr.session(source, agent, "s-2", start, Some(2));
        assert_eq!(herdr.owner(), Some((source.to_owned(), "s-1".to_owned())), "{agent}");
        assert_eq!(
            herdr.model.mark("w1:p1", source),
            Some(2),
            "the refused report used its number"
        );
        herdr.model.agent_appears(herdr.now, "w1:p1", agent, "idle");
        herdr.session(source, agent, "s-2", start, Some(3));
        assert_eq!(herdr.owner(), Some((source.to_owned(), "s-2".to_owned())), "{agent}");
    }
}

/// B8: the start sources that replace the session of the same source and label.
#[test]
fn own_session_replacement() {
    let starts = ["startup", "resume", "clear", "compact", "branch", "new", "fork", "select"];
    for (agent, allowed) in [
        ("claude", &["clear", "resume", "compact"][..]),
        ("codex", &["startup", "clear", "resume", "compact"]),
        ("copilot", &[]),
        ("devin", &[]),
        ("droid", &[]),
        ("qodercli", &[]),
        ("cursor", &[]),
        ("grok", &[]),
    ] {
        let source = format!("herdr:{agent}");
        for start in starts {
            let mut herdr = Herdr::new();
            herdr.session(&source, agent, "s-1", None, Some(1));
            herdr.session(&source, agent, "s-2", Some(start), Some(2));
            let expected = if allowed.contains(&start) { "s-2" } else { "s-1" };
            assert_eq!(herdr.owner().unwrap().1, expected, "{agent} {start}");
        }
    }
}

/// B7 and A9: the source whose session is on the pane owns it.
#[test]
fn a_session_locks_other_sources_out() {
    let mut herdr = Herdr::new();
    herdr.session("herdr:claude", "claude", "s-1", Some("startup"), Some(1));
    herdr.session("herdr:codex", "codex", "c-1", Some("startup"), Some(1));
    assert_eq!(herdr.owner().unwrap().1, "s-1");
    assert_eq!(herdr.model.mark("w1:p1", "herdr:codex"), Some(1), "B4 comes before B7");
    herdr.report("custom:bot", "bot", "working", Some(1));
    assert_eq!(herdr.row(), "- unknown");
    assert_eq!(herdr.model.mark("w1:p1", "custom:bot"), None, "A9 comes before A11");
    assert_eq!(herdr.metadata("custom:bot", json!({ "title": "T" })), "ok");
    assert_eq!(herdr.see().title.as_deref(), Some("T"));
}

/// A claim from before the session stays and can be released, but its source's next
/// report is ignored. A release keeps the session of the other source, and a clear
/// deletes it.
#[test]
fn a_session_over_a_custom_claim() {
    let mut herdr = Herdr::new();
    herdr.report("custom:bot", "bot", "working", Some(1));
    herdr.session("herdr:claude", "claude", "s-1", None, Some(1));
    assert_eq!(herdr.row(), "bot working");
    herdr.report("custom:bot", "bot", "idle", Some(2));
    assert_eq!(herdr.row(), "bot working");
    herdr.release("custom:bot", "bot", Some(3));
    assert_eq!(herdr.row(), "- unknown");
    assert_eq!(herdr.owner().unwrap().1, "s-1");
    // There is no claim, so there is nothing to clear (protocol 5.5).
    let clear = json!({ "pane_id": "w1:p1", "seq": 9 });
    assert_eq!(herdr.code("pane.clear_agent_authority", clear.clone()), "ok");
    assert!(herdr.owner().is_some());

    let mut herdr = Herdr::new();
    herdr.report("custom:bot", "bot", "working", Some(1));
    herdr.session("herdr:claude", "claude", "s-1", None, Some(1));
    assert_eq!(herdr.code("pane.clear_agent_authority", clear), "ok");
    assert_eq!((herdr.row().as_str(), herdr.owner()), ("- unknown", None));
    assert_eq!(herdr.model.mark("w1:p1", "custom:bot"), Some(9), "the holder's mark is used");
}
