//! Other reporters of the same pane: what they take is repaired, and one that keeps coming back is
//! left alone.

use std::time::Duration;

use herdr_reporter::{AgentEvent, DiagnosticKind};
use serde_json::json;

use crate::events::{asked, started, token};
use crate::world::{AGENT, PANE, SECOND, World};

#[test]
fn a_lost_row_is_repaired_within_five_seconds() {
    let mut world = World::working();
    let theirs = json!({"source": "custom:x", "agent": "x", "state": "idle"});
    world.foreign("pane.report_agent", theirs);
    world.foreign("pane.release_agent", json!({"source": "custom:x", "agent": "x"}));
    assert_eq!(world.pane().agent, None);
    world.serve_for(Duration::from_secs(5));
    assert_eq!(world.pane().agent_status, "working");
}

#[test]
fn a_writer_that_keeps_coming_back_is_left_alone() {
    let mut world = World::working();
    for seq in 1..10 {
        let report = json!({"source": "custom:x", "agent": "x", "state": "idle", "seq": seq});
        world.foreign("pane.report_agent", report);
        world.serve_for(Duration::from_secs(5));
    }
    assert_eq!(world.pane().agent.as_deref(), Some("x"), "we yield");
    assert_eq!(world.diagnostics.len(), 1, "{:?}", world.diagnostics);
    world.record_and_serve(asked("mine"));
    assert_eq!(world.pane().agent_status, "blocked", "an own change is still reported");
}

#[test]
fn f20_a_row_that_is_free_again_is_claimed_within_five_seconds() {
    let mut world = World::shown();
    for seq in 1..=13 {
        let report = json!({"source": "custom:x", "agent": "x", "state": "idle", "seq": seq});
        world.foreign("pane.report_agent", report);
        world.serve_for(SECOND);
    }
    assert_eq!(world.pane().agent.as_deref(), Some("x"));
    world.foreign("pane.release_agent", json!({"source": "custom:x", "agent": "x", "seq": 14}));
    world.serve_for(Duration::from_secs(5));
    let pane = world.pane();
    assert_eq!((pane.agent.as_deref(), pane.title.as_deref()), (Some(AGENT), Some("T")));
    assert_eq!(world.raised(), [DiagnosticKind::Ignored]);
}

#[test]
fn f21_a_token_that_has_yielded_is_left_until_the_host_changes_it() {
    let mut world = World::shown();
    let theirs = json!({"source": "custom:x", "tokens": {"branch": "theirs"}});
    for _ in 0..30 {
        world.foreign("pane.report_metadata", theirs.clone());
        world.serve_for(Duration::from_millis(500));
    }
    world.serve_for(Duration::from_secs(300));
    assert_eq!(world.pane().tokens["branch"], "theirs");
    assert_eq!(world.pane().title.as_deref(), Some("T"), "the rest is refreshed");
    world.record_and_serve(token("branch", Some("dev")));
    assert_eq!(world.pane().tokens["branch"], "dev");
}

#[test]
fn b36_a_foreign_session_stops_the_state_and_not_the_tokens() {
    let mut world = World::new();
    let session = json!({"source": "herdr:claude", "agent": "claude", "agent_session_id": "s"});
    world.foreign("pane.report_agent_session", session);
    world.record(started());
    world.record_and_serve(token("branch", Some("main")));
    assert_eq!(world.pane().tokens["branch"], "main");
    assert_eq!(world.diagnostics.len(), 1);
    assert!(world.diagnostics[0].detail.contains("session owned by herdr:claude"));
    let sent = world.sent_to("pane.report_agent").count();
    assert!(sent <= 2);
    world.record(asked("x"));
    world.record(token("branch", Some("dev")));
    world.serve_for(Duration::from_secs(20));
    assert_eq!(world.sent_to("pane.report_agent").count(), sent);
    assert_eq!(world.pane().tokens["branch"], "dev");
}

#[test]
fn b36_a_new_claim_finds_out_that_the_session_has_ended() {
    let mut world = World::new();
    let session = json!({"source": "herdr:claude", "agent": "claude", "agent_session_id": "s"});
    world.foreign("pane.report_agent_session", session);
    world.record_and_serve(started());
    assert_eq!(world.raised(), [DiagnosticKind::Ignored]);
    world.record_and_serve(AgentEvent::Release);
    assert!(world.model.agent_appears(world.elapsed, PANE, "claude", "idle"));
    assert!(world.model.agent_exits(world.elapsed, PANE));
    world.record(started());
    world.serve_for(Duration::from_secs(5));
    assert_eq!(world.pane().agent_status, "working", "{:?} {:?}", world.pane(), world.methods());
}
