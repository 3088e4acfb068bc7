//! `ok` and ignored, outages, other writers: recover or say why.

use std::time::Duration;

use fake_herdr::Model;
use herdr_reporter::machine::{Input, PaneCall};
use herdr_reporter::{Config, DiagnosticKind, Outcome, Reason};
use serde_json::json;

use crate::events::{answered, asked, session, settled, started, title, token};
use crate::world::{AGENT, EPOCH, Fate, SOURCE, World};

const SECOND: Duration = Duration::from_secs(1);

fn marked_at(seq: u64, config: Config) -> World {
    let mut world = World::with(config, Model::new());
    let report = json!({"source": SOURCE, "agent": AGENT, "state": "idle", "seq": seq});
    world.foreign("pane.report_agent", report);
    world.foreign("pane.release_agent", json!({"source": SOURCE, "agent": AGENT, "seq": seq + 1}));
    world
}

#[test]
fn b03_a_mark_from_the_future_is_climbed_over() {
    let mut world = marked_at(EPOCH + 3_600_000_000, Config::default());
    world.tell(started());
    world.serve_for(SECOND);
    assert_eq!(world.pane().agent_status, "working");
    assert!(world.diagnostics.is_empty());
    world.tell(asked("x"));
    world.serve_for(SECOND);
    assert_eq!(world.pane().agent_status, "blocked");
}

#[test]
fn b03_a_clock_that_steps_back_keeps_numbers_rising() {
    let mut world = World::new();
    world.tell(started());
    world.serve_for(SECOND);
    world.clock_off = -3_600_000_000;
    world.tell(asked("x"));
    world.serve_for(SECOND);
    assert_eq!(world.pane().agent_status, "blocked");
}

#[test]
fn b03_nothing_gets_above_the_largest_mark_and_the_host_is_told() {
    let mut world = marked_at(u64::MAX - 1, Config::default());
    world.tell(started());
    world.serve_for(SECOND);
    assert_eq!(world.diagnostics.len(), 1);
    assert_eq!(world.diagnostics[0].kind, DiagnosticKind::Ignored);
    let sent = world.sent_to("pane.report_agent").count();
    assert!(sent <= 3, "{sent} reports");
    world.tell(asked("x"));
    world.serve_for(Duration::from_secs(60));
    assert_eq!(world.sent_to("pane.report_agent").count(), sent, "silence");
    let ignored = world.receipts.iter().find(|receipt| receipt.outcome == Outcome::Ignored);
    assert_eq!(ignored.unwrap().reason, Some(Reason::StaleSequence));
}

#[test]
fn b04_a_mark_in_nanoseconds_is_climbed_over() {
    let mut world = marked_at(EPOCH * 1_000, Config::default());
    world.elapsed = Duration::from_millis(10);
    world.tell(started());
    world.serve_for(SECOND);
    assert_eq!(world.pane().agent_status, "working");
}

#[test]
fn b04_the_metadata_mark_is_another_one_and_is_climbed_over_too() {
    let mut world = World::new();
    let seq = EPOCH * 1_000;
    let title_of_theirs = json!({"source": SOURCE, "title": "old", "seq": seq});
    world.foreign("pane.report_metadata", title_of_theirs);
    world.elapsed = Duration::from_millis(10);
    world.tell(started());
    world.tell(title("T"));
    world.tell(token("branch", Some("main")));
    world.serve_for(SECOND);
    assert_eq!(world.pane().title.as_deref(), Some("T"));
    assert_eq!(world.pane().tokens["branch"], "main");
}

#[test]
fn b04_a_metadata_mark_is_noticed_while_idle() {
    let mut world = World::new();
    world.tell(session("s"));
    world.serve_for(Duration::from_secs(5));
    let theirs = json!({"source": SOURCE, "title": "old", "seq": EPOCH * 1_000});
    world.foreign("pane.report_metadata", theirs);
    world.tell(title("now"));
    world.serve_for(Duration::from_secs(2));
    assert_eq!(world.pane().title.as_deref(), Some("now"));
}

#[test]
fn b11_after_an_outage_only_the_newest_goes_out() {
    let mut world = World::new();
    world.tell(started());
    world.tell(title("old"));
    world.serve_for(SECOND);
    world.tell(asked("x"));
    let until = world.elapsed + Duration::from_secs(10);
    while world.elapsed < until {
        world.resolve(Fate::Unreachable);
        world.pass(Duration::from_millis(50));
    }
    world.model.restart(world.elapsed);
    world.tell(answered());
    world.tell(title("new"));
    let before = world.sent.len();
    world.serve_for(Duration::from_secs(2));
    assert_eq!(world.pane().agent_status, "working");
    assert_eq!(world.pane().title.as_deref(), Some("new"));
    assert!(world.sent[before..].iter().all(|line| line["params"]["state"] != "blocked"));
    let kinds: Vec<_> = world.diagnostics.iter().map(|diagnostic| diagnostic.kind).collect();
    assert_eq!(kinds, [DiagnosticKind::ConnectFailed], "told once");
}

#[test]
fn b13_what_an_earlier_run_left_behind_goes() {
    let mut world = World::new();
    world.tell(started());
    world.tell(title("of the run that was killed"));
    world.serve_for(SECOND);
    let mut next = World::with(Config::default(), std::mem::take(&mut world.model));
    next.elapsed = world.elapsed;
    next.tell(started());
    next.serve_for(SECOND);
    assert_eq!(next.pane().title, None);
    assert_eq!(next.pane().agent_status, "working");
}

#[test]
fn b36_a_foreign_session_stops_the_state_and_not_the_tokens() {
    let mut world = World::new();
    let session = json!({"source": "herdr:claude", "agent": "claude", "agent_session_id": "s"});
    world.foreign("pane.report_agent_session", session);
    world.tell(started());
    world.tell(token("branch", Some("main")));
    world.serve_for(SECOND);
    assert_eq!(world.pane().tokens["branch"], "main");
    assert_eq!(world.diagnostics.len(), 1);
    assert!(world.diagnostics[0].detail.contains("session owned by herdr:claude"));
    let sent = world.sent_to("pane.report_agent").count();
    assert!(sent <= 2);
    world.tell(asked("x"));
    world.tell(token("branch", Some("dev")));
    world.serve_for(Duration::from_secs(20));
    assert_eq!(world.sent_to("pane.report_agent").count(), sent);
    assert_eq!(world.pane().tokens["branch"], "dev");
}

#[test]
fn what_a_server_says_is_cut_and_cleaned_before_anybody_sees_it() {
    let code = format!("\u{9b}31m{}", "x".repeat(100_000));
    let reply = json!({"id": "", "error": {"code": code, "message": "m"}}).to_string();
    let call = PaneCall::Ping(herdr_proto::Ping::default());
    let failure = call.decode(reply.as_bytes()).unwrap_err();
    assert!(failure.detail.len() < 200 && !failure.detail.contains('\u{9b}'));
}

#[test]
fn b75_after_a_handoff_everything_is_back_without_an_event() {
    let mut world = World::new();
    world.tell(started());
    world.tell(title("T"));
    world.tell(token("branch", Some("main")));
    world.serve_for(SECOND);
    world.model.live_handoff(world.elapsed);
    assert_eq!(world.pane().agent, None);
    world.step(Input::ServerChanged);
    world.serve_for(SECOND);
    let pane = world.pane();
    assert_eq!(pane.agent_status, "working");
    assert_eq!((pane.title.as_deref(), pane.tokens["branch"].as_str()), (Some("T"), "main"));
}

#[test]
fn a_lost_row_is_repaired_within_five_seconds() {
    let mut world = World::new();
    world.tell(started());
    world.serve_for(SECOND);
    let theirs = json!({"source": "custom:x", "agent": "x", "state": "idle"});
    world.foreign("pane.report_agent", theirs);
    world.foreign("pane.release_agent", json!({"source": "custom:x", "agent": "x"}));
    assert_eq!(world.pane().agent, None);
    world.serve_for(Duration::from_secs(5));
    assert_eq!(world.pane().agent_status, "working");
}

#[test]
fn a_clear_that_raised_our_mark_is_climbed_over() {
    let mut world = World::new();
    world.tell(started());
    world.serve_for(SECOND);
    world.foreign("pane.clear_agent_authority", json!({"seq": EPOCH + 60_000_000}));
    assert_eq!(world.pane().agent, None);
    world.serve_for(Duration::from_secs(6));
    assert_eq!(world.pane().agent_status, "working");
    assert!(world.diagnostics.is_empty());
}

#[test]
fn a_writer_that_keeps_coming_back_is_left_alone() {
    let mut world = World::new();
    world.tell(started());
    world.serve_for(SECOND);
    for seq in 1..10 {
        let report = json!({"source": "custom:x", "agent": "x", "state": "idle", "seq": seq});
        world.foreign("pane.report_agent", report);
        world.serve_for(Duration::from_secs(5));
    }
    assert_eq!(world.pane().agent.as_deref(), Some("x"), "we yield");
    assert_eq!(world.diagnostics.len(), 1, "{:?}", world.diagnostics);
    world.tell(asked("mine"));
    world.serve_for(SECOND);
    assert_eq!(world.pane().agent_status, "blocked", "an own change is still reported");
}

#[test]
fn a_frozen_server_that_wakes_up_ends_with_the_newest_state() {
    let mut world = World::new();
    world.tell(started());
    world.serve_for(SECOND);
    world.tell(asked("x"));
    world.resolve(Fate::Frozen);
    world.tell(answered());
    world.pass(SECOND);
    world.resolve(Fate::Frozen);
    world.tell(settled());
    world.thaw();
    world.serve_for(Duration::from_secs(3));
    assert_eq!(world.pane().agent_status, "idle");
}

#[test]
fn a_full_pane_takes_the_tokens_down_and_nothing_else() {
    let mut world = World::new();
    for part in 0..2 {
        let tokens: serde_json::Map<_, _> =
            (0..16).map(|n| (format!("x{part}-{n}"), json!("v"))).collect();
        world.foreign("pane.report_metadata", json!({"source": "custom:x", "tokens": tokens}));
    }
    world.tell(started());
    world.tell(title("T"));
    world.tell(token("branch", Some("main")));
    world.serve_for(SECOND);
    assert_eq!(world.pane().title.as_deref(), Some("T"));
    assert_eq!(world.diagnostics.len(), 1);
    assert_eq!(world.diagnostics[0].kind, DiagnosticKind::ProtocolRejected);
    assert_eq!(world.counters().dropped, 1);
}
