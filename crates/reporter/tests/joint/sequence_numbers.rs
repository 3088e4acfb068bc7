//! Sequence numbers rise whatever the clock does, and get above the server's sequence mark where
//! that is possible.

use std::time::Duration;

use fake_herdr::Model;
use herdr_reporter::{AgentEvent, Config, DiagnosticKind, Ended, Outcome, Reason};
use serde_json::json;

use crate::events::{answered, asked, session, started, title, token};
use crate::world::{AGENT, EPOCH, SOURCE, World};

const YEAR: i64 = 365 * 24 * 3_600_000_000;

/// A pane whose sequence mark for our source is above `seq`.
fn marked_at(seq: u64, config: Config) -> World {
    let mut world = World::with(config, Model::new());
    let report = json!({"source": SOURCE, "agent": AGENT, "state": "idle", "seq": seq});
    world.foreign("pane.report_agent", report);
    world.foreign("pane.release_agent", json!({"source": SOURCE, "agent": AGENT, "seq": seq + 1}));
    world
}

#[test]
fn b03_a_mark_from_the_future_is_passed() {
    let mut world = marked_at(EPOCH + 3_600_000_000, Config::default());
    world.record_and_serve(started());
    assert_eq!(world.pane().agent_status, "working");
    assert!(world.diagnostics.is_empty());
    world.record_and_serve(asked("x"));
    assert_eq!(world.pane().agent_status, "blocked");
}

#[test]
fn b03_a_clock_that_steps_back_keeps_numbers_rising() {
    let mut world = World::working();
    world.clock_off = -3_600_000_000;
    world.record_and_serve(asked("x"));
    assert_eq!(world.pane().agent_status, "blocked");
}

#[test]
fn b03_a_clock_that_jumps_by_years_changes_nothing() {
    let mut world = World::new();
    for (off, event, status) in [
        (0, started(), "working"),
        (10 * YEAR, asked("x"), "blocked"),
        (-10 * YEAR, answered(), "working"),
        (-YEAR * 100, asked("x"), "blocked"),
        (0, answered(), "working"),
    ] {
        world.clock_off = off;
        world.record_and_serve(event);
        assert_eq!(world.pane().agent_status, status, "{off}");
    }
    assert_eq!(world.close(), Ended::Released);
    // The next run has the right clock again, and the mark is ten years ahead.
    let mut next = World::after(&mut world);
    next.record_and_serve(started());
    assert_eq!(next.pane().agent_status, "working");
    assert_eq!((world.raised(), next.raised()), (vec![], vec![]));
}

#[test]
fn b03_a_clock_at_zero_reports_and_says_so_where_it_cannot() {
    let zero = -i64::try_from(EPOCH).unwrap() * 2;
    let mut world = World::new();
    world.clock_off = zero;
    world.record_and_serve(started());
    assert_eq!(world.pane().agent_status, "working");
    assert_eq!(world.close(), Ended::Released);

    let mut world = World::new();
    let theirs = json!({"source": SOURCE, "agent": AGENT, "state": "idle", "seq": EPOCH});
    world.foreign("pane.report_agent", theirs);
    world.clock_off = zero;
    world.record_and_serve(started());
    assert_eq!(world.raised(), [DiagnosticKind::Ignored], "{:?}", world.pane());
}

#[test]
fn b03_no_number_is_above_the_largest_mark_and_that_is_reported() {
    let mut world = marked_at(u64::MAX - 1, Config::default());
    world.record_and_serve(started());
    assert_eq!(world.raised(), [DiagnosticKind::Ignored]);
    let sent = world.sent_to("pane.report_agent").count();
    assert!(sent <= 3, "{sent} reports");
    world.record(asked("x"));
    world.serve_for(Duration::from_secs(60));
    assert_eq!(world.sent_to("pane.report_agent").count(), sent, "silence");
    let ignored = world.receipts.iter().find(|receipt| receipt.outcome == Outcome::Ignored);
    assert_eq!(ignored.unwrap().reason, Some(Reason::StaleSequence));
}

#[test]
fn b03_a_new_claim_tries_once_more_to_get_above_the_mark() {
    let mut world = World::new();
    let theirs = json!({"source": SOURCE, "agent": AGENT, "state": "idle", "seq": u64::MAX});
    world.foreign("pane.report_agent", theirs);
    for claim in 1..=3 {
        world.record(started());
        world.serve_for(Duration::from_secs(20));
        let reports = world.sent_to("pane.report_agent").count();
        assert_eq!(reports, 3 * claim, "after {claim} claims");
        world.record_and_serve(AgentEvent::Release);
    }
    assert_eq!(world.raised(), [DiagnosticKind::Ignored]);
}

#[test]
fn b04_a_mark_in_nanoseconds_is_passed() {
    let mut world = marked_at(EPOCH * 1_000, Config::default());
    world.elapsed = Duration::from_millis(10);
    world.record_and_serve(started());
    assert_eq!(world.pane().agent_status, "working");
}

#[test]
fn b04_the_mark_of_metadata_is_passed_too() {
    let mut world = World::new();
    let seq = EPOCH * 1_000;
    let title_of_theirs = json!({"source": SOURCE, "title": "old", "seq": seq});
    world.foreign("pane.report_metadata", title_of_theirs);
    world.elapsed = Duration::from_millis(10);
    world.record(started());
    world.record(title("T"));
    world.record_and_serve(token("branch", Some("main")));
    assert_eq!(world.pane().title.as_deref(), Some("T"));
    assert_eq!(world.pane().tokens["branch"], "main");
}

#[test]
fn b04_a_metadata_mark_is_noticed_while_idle() {
    let mut world = World::new();
    world.record(session("s"));
    world.serve_for(Duration::from_secs(5));
    let theirs = json!({"source": SOURCE, "title": "old", "seq": EPOCH * 1_000});
    world.foreign("pane.report_metadata", theirs);
    world.record(title("now"));
    world.serve_for(Duration::from_secs(2));
    assert_eq!(world.pane().title.as_deref(), Some("now"));
}

#[test]
fn a_clear_that_raised_our_mark_is_repaired() {
    let mut world = World::working();
    world.foreign("pane.clear_agent_authority", json!({"seq": EPOCH + 60_000_000}));
    assert_eq!(world.pane().agent, None);
    world.serve_for(Duration::from_secs(6));
    assert_eq!(world.pane().agent_status, "working");
    assert!(world.diagnostics.is_empty());
}
