//! The conditions of protocol 5 one by one, also those that no recorded trace
//! exercises.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support;

use serde_json::json;
use support::Herdr;

/// B1: a session that nobody can resume changes nothing and uses no number.
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

/// B1: paths are for pi and omp, whose sessions wait for a process (B2), so on
/// a plain shell none ever shows.
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
        // The mark is the source's: a custom label under it has to be above.
        herdr.report(&source, "my-host", "working", Some(4));
        assert_eq!(herdr.row(), "- unknown");
        herdr.report(&source, "my-host", "working", Some(5));
        assert_eq!(herdr.row(), "my-host working");
    }
}

/// A1: screen-read sources bring their session and no state.
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

/// A2: hermes and agy lose even the session of a state report, and bring it by
/// `report_agent_session`; B6 keeps the first one while the process is absent.
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
        assert_eq!(herdr.model.mark("w1:p1", source), Some(2), "the refused one used its number");
        herdr.model.agent_appears(herdr.now, "w1:p1", agent, "idle");
        herdr.session(source, agent, "s-2", start, Some(3));
        assert_eq!(herdr.owner(), Some((source.to_owned(), "s-2".to_owned())), "{agent}");
    }
}

/// B8: which starts replace the pair's own session.
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

/// B7 and A9: whoever has the session has the pane.
#[test]
fn a_session_locks_everybody_else_out() {
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

/// A claim that was there first stays where it is and can be released, but its
/// own next report is locked out; a release keeps the foreign session, a clear
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
    // Nobody holds a claim, so there is nothing to clear (protocol 5.5).
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

/// C1: no official pair can release, and it uses no number.
#[test]
fn official_releases_are_no_ops() {
    let mut herdr = Herdr::new();
    herdr.session("herdr:claude", "claude", "s-1", None, Some(1));
    herdr.release("herdr:claude", "claude", Some(2));
    assert!(herdr.owner().is_some());
    assert_eq!(herdr.model.mark("w1:p1", "herdr:claude"), Some(1));
}

/// A8: a known label must be the detected agent's; an unknown one may be laid
/// over it, and a release gives the row back to it.
#[test]
fn known_labels_bow_to_the_detector() {
    let mut herdr = Herdr::new();
    herdr.model.agent_appears(herdr.now, "w1:p1", "claude", "idle");
    assert_eq!(herdr.row(), "claude idle");
    herdr.report("custom:bot", "codex", "working", Some(1));
    assert_eq!(herdr.row(), "claude idle");
    assert_eq!(herdr.model.mark("w1:p1", "custom:bot"), None);
    herdr.report("custom:bot", "Claude-Code", "working", Some(1));
    assert_eq!(herdr.row(), "claude working");
    herdr.release("custom:bot", "claude", Some(2));
    assert_eq!(herdr.row(), "claude idle", "the process keeps the row");
    herdr.report("custom:bot", "bot", "blocked", Some(3));
    assert_eq!(herdr.row(), "bot blocked");
}

/// A3 and D1, until the detector sees an agent again.
#[test]
fn an_agent_that_just_exited_is_not_reported_back() {
    let mut herdr = Herdr::new();
    herdr.model.agent_appears(herdr.now, "w1:p1", "claude", "working");
    herdr.report("custom:bot", "claude", "working", Some(7));
    let guarded = json!({ "agent": "claude", "title": "T", "seq": 3, "tokens": { "k": "v" } });
    assert_eq!(herdr.metadata("custom:bot", guarded), "ok");
    assert!(herdr.model.agent_exits(herdr.now, "w1:p1"));
    assert_eq!(herdr.row(), "- idle", "until the detector looks again");
    herdr.pass(300);
    herdr.report("custom:bot", "claude", "working", Some(8));
    assert_eq!(herdr.row(), "- unknown");
    assert_eq!(herdr.model.mark("w1:p1", "custom:bot"), None, "V6: the claim's mark goes with it");
    assert_eq!(herdr.model.metadata_mark("w1:p1", "custom:bot"), None, "D8");
    assert_eq!(herdr.see().tokens.len(), 1, "D8: tokens stay");
    herdr.report("custom:bot", "claude", "working", Some(8));
    assert_eq!(herdr.row(), "- unknown");
    assert_eq!(herdr.metadata("custom:bot", json!({ "agent": "claude", "title": "U" })), "ok");
    assert_eq!(herdr.metadata("herdr:claude", json!({ "title": "V" })), "ok");
    assert_eq!(herdr.see().title, None);
    herdr.report("custom:bot", "bot", "working", Some(9));
    assert_eq!(herdr.row(), "bot working", "an unknown label is taken");
    herdr.model.agent_appears(herdr.now, "w1:p1", "claude", "idle");
    herdr.report("custom:bot", "claude", "working", Some(10));
    assert_eq!(herdr.row(), "claude working");
}

/// V1: a prompt on the screen beats what was reported before it.
#[test]
fn a_prompt_on_the_screen_beats_an_older_report() {
    let mut herdr = Herdr::new();
    herdr.model.agent_appears(herdr.now, "w1:p1", "claude", "idle");
    herdr.report("custom:bot", "claude", "working", Some(1));
    herdr.model.agent_appears(herdr.now, "w1:p1", "claude", "blocked");
    assert_eq!(herdr.row(), "claude blocked");
    herdr.report("custom:bot", "claude", "working", Some(2));
    assert_eq!(herdr.row(), "claude working", "a newer report counts again");
}

/// A7, A6 and A4 with a process: anchored reports show, and a source that was
/// cleared stays silent until it has another session.
#[test]
fn full_lifecycle_with_its_process() {
    let report = |herdr: &mut Herdr, session: &str, state: &str, seq: u64| {
        let params = json!({
            "pane_id": "w1:p1", "source": "herdr:pi", "agent": "pi", "state": state, "seq": seq,
            "agent_session_path": format!("/tmp/{session}"),
        });
        assert_eq!(herdr.code("pane.report_agent", params), "ok");
    };
    let announce = |herdr: &mut Herdr, session: &str, start: &str, seq: u64| {
        let params = json!({
            "pane_id": "w1:p1", "source": "herdr:pi", "agent": "pi", "seq": seq,
            "agent_session_path": format!("/tmp/{session}"), "session_start_source": start,
        });
        assert_eq!(herdr.code("pane.report_agent_session", params), "ok");
    };
    let mut herdr = Herdr::new();
    announce(&mut herdr, "one", "startup", 1);
    report(&mut herdr, "one", "working", 2);
    assert_eq!(herdr.row(), "- unknown");
    herdr.model.agent_appears(herdr.now, "w1:p1", "pi", "idle");
    assert_eq!(herdr.row(), "pi working", "what waited came through");
    let agent = herdr.call("agent.get", json!({ "target": "w1:p1" }));
    assert_eq!(agent["result"]["agent"]["screen_detection_skipped"], true);
    report(&mut herdr, "one", "blocked", 3);
    assert_eq!(herdr.row(), "pi blocked");
    report(&mut herdr, "two", "working", 4);
    assert_eq!(herdr.row(), "pi blocked", "another session waits for its start");
    let clear = json!({ "pane_id": "w1:p1", "source": "herdr:pi", "seq": 5 });
    herdr.call("pane.clear_agent_authority", clear);
    assert_eq!(herdr.row(), "pi idle", "the detector's state");
    report(&mut herdr, "one", "working", 6);
    assert_eq!(herdr.row(), "pi idle", "A6");
    report(&mut herdr, "three", "working", 1);
    assert_eq!(herdr.row(), "pi working", "a new session counts from its own beginning");
    report(&mut herdr, "one", "blocked", 7);
    assert_eq!(herdr.row(), "pi working", "A4");
}

/// D5: patch mode keeps what it does not name, and a guard can be added later.
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

/// D4: per field the newest report wins, and what it covered comes back.
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

/// The order in which a metadata report is checked.
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

/// D2: a stale number comes before the limits.
#[test]
fn stale_reports_do_not_meet_the_limits() {
    let mut herdr = Herdr::new();
    let bag = |from: usize| -> serde_json::Value {
        (from..from + 16)
            .map(|n| (format!("k{n}"), json!("v")))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    herdr.metadata("custom:a", json!({ "tokens": bag(0), "seq": 5 }));
    herdr.metadata("custom:a", json!({ "tokens": bag(16), "seq": 6 }));
    assert_eq!(herdr.metadata("custom:a", json!({ "tokens": { "x": "v" }, "seq": 6 })), "ok");
    assert_eq!(
        herdr.metadata("custom:a", json!({ "tokens": { "x": "v" }, "seq": 7 })),
        "metadata_token_limit"
    );
    assert_eq!(
        herdr.model.metadata_mark("w1:p1", "custom:a"),
        Some(6),
        "a refused one uses no number"
    );
}

/// Ids of a moved pane stay, through any number of moves, until a handoff.
#[test]
fn moved_panes_keep_their_old_ids() {
    let mut herdr = Herdr::new();
    herdr.report("custom:bot", "bot", "working", Some(1));
    let second = herdr.model.move_pane(herdr.now, "w1:p1").unwrap();
    let third = herdr.model.move_pane(herdr.now, "w1:p1").unwrap();
    assert_eq!((second.as_str(), third.as_str()), ("w2:p1", "w3:p1"));
    for id in ["w1:p1", "w2:p1", "w3:p1", "p_1", "1-1", "w3-1", "w_1:p1", "p_w3_1"] {
        let reply = herdr.call("pane.get", json!({ "pane_id": id }));
        assert_eq!(reply["result"]["pane"]["pane_id"], "w3:p1", "{id}");
    }
    // The agent methods take only the present one.
    assert_eq!(herdr.code("agent.get", json!({ "target": "w1:p1" })), "agent_not_found");
    assert_eq!(herdr.code("agent.get", json!({ "target": "w3:p1" })), "ok");
    herdr.model.live_handoff(herdr.now);
    assert!(herdr.model.observe(herdr.now, "w1:p1").is_none());
    let seen = herdr.model.observe(herdr.now, "w3:p1").unwrap();
    assert_eq!(seen.agent, None);
}

/// Numbers of panes are never given twice.
#[test]
fn numbers_are_not_reused() {
    let mut herdr = Herdr::new();
    assert_eq!(herdr.model.split_pane(herdr.now, "w1:p1").as_deref(), Some("w1:p2"));
    assert_eq!(herdr.model.move_pane(herdr.now, "w1:p2").as_deref(), Some("w2:p1"));
    assert_eq!(herdr.model.split_pane(herdr.now, "w1:p1").as_deref(), Some("w1:p3"));
    assert!(herdr.model.close_pane(herdr.now, "w1:p3"));
    assert_eq!(herdr.model.split_pane(herdr.now, "w1:p1").as_deref(), Some("w1:p4"));
    assert!(!herdr.model.close_pane(herdr.now, "w1:p3"));
}

/// What a handoff and a restart leave (protocol 7.6).
#[test]
fn what_outlives_the_process() {
    for restart in [false, true] {
        let mut herdr = Herdr::new();
        herdr.metadata("custom:bot", json!({ "title": "T", "tokens": { "k": "v" }, "seq": 9 }));
        herdr.report("custom:bot", "bot", "working", Some(9));
        herdr.session("herdr:claude", "claude", "s-1", None, Some(9));
        if restart {
            herdr.model.restart(herdr.now);
        } else {
            herdr.model.live_handoff(herdr.now);
        }
        let seen = herdr.see();
        assert_eq!((herdr.row().as_str(), seen.title, seen.tokens.len()), ("- unknown", None, 0));
        assert_eq!(herdr.owner().unwrap().1, "s-1", "official sessions come back");
        assert_eq!(herdr.model.mark("w1:p1", "herdr:claude"), None);
        assert_eq!(herdr.model.metadata_mark("w1:p1", "custom:bot"), None);
        assert_eq!(herdr.model.authority("w1:p1"), None);
    }
}

/// Seen and done: only an end of work that nobody looks at is done, and a look
/// ends it.
#[test]
fn done_until_somebody_looks() {
    let mut herdr = Herdr::new();
    let create = json!({ "label": "elsewhere", "focus": true });
    herdr.call("workspace.create", create);
    herdr.report("custom:a", "bot", "idle", None);
    assert_eq!(herdr.row(), "bot idle", "a first idle is no news");
    herdr.report("custom:a", "bot", "blocked", None);
    herdr.report("custom:a", "bot", "idle", None);
    assert_eq!(herdr.row(), "bot done");
    herdr.report("custom:b", "other", "idle", None);
    assert_eq!(herdr.row(), "other done", "another label does not make it seen");
    herdr.call("workspace.focus", json!({ "workspace_id": "w1" }));
    assert_eq!(herdr.row(), "other idle");
    herdr.call("workspace.focus", json!({ "workspace_id": "w2" }));
    herdr.report("custom:c", "third", "unknown", None);
    herdr.report("custom:d", "fourth", "idle", None);
    assert_eq!(herdr.row(), "fourth idle", "unknown to idle is news only of one agent");
    herdr.report("custom:d", "fourth", "unknown", None);
    herdr.report("custom:d", "fourth", "idle", None);
    assert_eq!(herdr.row(), "fourth done");
}

/// `state_change_seq`: one counter, moved only by the state.
#[test]
fn state_changes_are_counted_for_the_whole_server() {
    let mut herdr = Herdr::new();
    let seq = |herdr: &mut Herdr| {
        herdr.call("agent.get", json!({ "target": "w1:p1" }))["result"]["agent"]["state_change_seq"]
            .clone()
    };
    herdr.report("custom:a", "bot", "unknown", None);
    assert!(seq(&mut herdr).is_null());
    herdr.report("custom:a", "bot", "working", None);
    herdr.report("custom:a", "bot", "working", None);
    herdr.report("custom:b", "other", "working", None);
    assert_eq!(seq(&mut herdr), 1);
    let second = herdr.model.split_pane(herdr.now, "w1:p1").unwrap();
    let params = json!({ "pane_id": second, "source": "custom:a", "agent": "x", "state": "idle" });
    herdr.call("pane.report_agent", params);
    herdr.report("custom:b", "other", "idle", None);
    assert_eq!(seq(&mut herdr), 3);
}
