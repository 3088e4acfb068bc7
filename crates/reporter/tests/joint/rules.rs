//! What is sent to a healthy server, and when.

use std::time::Duration;

use herdr_reporter::{AgentEvent, Config, Outcome, Part};
use serde_json::json;

use crate::events::{answered, asked, session, settled, started, title};
use crate::fates::Fate;
use crate::world::{AGENT, EPOCH, SECOND, World};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn a_turn_goes_through_its_states_in_order_with_rising_numbers() {
    let mut world = World::new();
    for event in [session("s"), started(), asked("bash"), answered(), settled()] {
        world.record_and_serve(event);
    }
    let states: Vec<_> = world.sent_to("pane.report_agent").map(|p| p["state"].clone()).collect();
    assert_eq!(states, ["idle", "working", "blocked", "working", "idle"]);
    let first = world.sent_to("pane.report_agent").next().unwrap();
    assert_eq!(first["seq"], EPOCH);
    assert_eq!(first["agent_session_id"], "s");
    let later: Vec<_> = world.sent_to("pane.report_agent").skip(1).collect();
    assert!(later.iter().all(|p| p["agent_session_id"].is_null()), "said once per claim");
    assert!(world.diagnostics.is_empty(), "{:?}", world.diagnostics);
}

#[test]
fn the_reason_of_a_block_shows_until_the_block_ends() {
    let mut world = World::new();
    world.record(started());
    world.record_and_serve(asked("Approve rm -rf?"));
    assert_eq!(world.pane().state_labels["blocked"], "Approve rm -rf?");
    world.record_and_serve(answered());
    assert!(world.pane().state_labels.is_empty());
    assert_eq!(world.pane().agent_status, "working");
}

#[test]
fn a_title_update_keeps_name_and_labels() {
    let mut config = Config::default();
    config.display_name = Some("Host".into());
    config.state_labels.insert(herdr_proto::StateKey::Working, "busy".into());
    let mut world = World::with(config, fake_herdr::Model::new());
    world.record(started());
    for n in 0..10 {
        world.record(title(&format!("Title {n}")));
        world.serve_for(ms(200));
        let pane = world.pane();
        assert_eq!(pane.title, Some(format!("Title {n}")));
        assert_eq!(pane.display_agent.as_deref(), Some("Host"));
        assert_eq!(pane.state_labels["working"], "busy");
    }
}

#[test]
fn an_emptied_title_is_cleared_without_an_error() {
    let mut world = World::new();
    world.record(started());
    world.record_and_serve(title("Something"));
    world.record_and_serve(title("\u{1b}\n"));
    assert_eq!(world.pane().title, None);
    assert!(world.diagnostics.is_empty());
}

#[test]
fn a_short_idle_between_two_turns_is_never_shown() {
    let mut world = World::working();
    for _ in 0..20 {
        world.record(settled());
        world.serve_for(ms(200));
        world.record(started());
        world.serve_for(ms(100));
    }
    assert!(world.sent_to("pane.report_agent").all(|p| p["state"] == "working"));
    world.record(settled());
    world.serve_for(ms(310));
    assert_eq!(world.pane().agent_status, "idle");
}

#[test]
fn a_flush_and_a_block_do_not_wait_for_settling() {
    let mut world = World::working();
    world.record(settled());
    world.step(herdr_reporter::machine::Input::Flush);
    world.serve_for(ms(60));
    assert_eq!(world.pane().agent_status, "idle");
    world.record(asked("x"));
    world.record(answered());
    world.record(asked("x"));
    world.serve_for(ms(60));
    world.record(answered());
    world.serve_for(ms(60));
    assert_eq!(world.pane().agent_status, "idle", "idle after blocked is at once");
}

#[test]
fn a_flood_of_titles_is_paced_and_the_last_one_shows() {
    let mut world = World::working();
    let before = world.sent_to("pane.report_metadata").count();
    let begun = world.elapsed;
    for n in 0..10_000 {
        world.record(title(&format!("Title {n}")));
        world.serve_for(ms(1));
    }
    let requests = world.sent_to("pane.report_metadata").count() - before;
    let time = world.elapsed.saturating_sub(begun).as_millis();
    assert!(requests as u128 <= time / 100 + 1, "{requests} requests in {time} ms");
    world.serve_for(ms(200));
    assert_eq!(world.pane().title.as_deref(), Some("Title 9999"));
    let quiet = world.sent_to("pane.report_metadata").count();
    for _ in 0..100 {
        world.record(title("Title 9999"));
    }
    world.serve_for(SECOND);
    let after = world.sent_to("pane.report_metadata").count();
    assert_eq!(after, quiet, "the same again causes no request");
}

#[test]
fn tokens_go_in_chunks_and_more_than_32_are_refused() {
    let mut world = World::new();
    let tokens = (0..40).map(|n| (format!("k{n:02}"), Some("v".to_owned())));
    let refused = world.activity.apply(AgentEvent::tokens_changed(tokens)).unwrap_err();
    assert!(refused.to_string().contains("`k32`"), "{refused}");
    world.record_and_serve(started());
    assert_eq!(world.pane().tokens.len(), 32);
    assert!(world.diagnostics.is_empty());
}

#[test]
fn without_changes_the_pane_is_only_watched_and_refreshed() {
    let mut world = World::shown();
    let before = world.sent.len();
    world.serve_for(Duration::from_secs(59));
    let methods = &world.methods()[before..];
    assert!(methods.iter().all(|method| *method == "pane.get"), "{methods:?}");
    assert!(methods.len() <= 15, "{} in a minute", methods.len());

    world.record_and_serve(settled());
    let before = world.sent.len();
    world.serve_for(Duration::from_secs(600));
    let methods = &world.methods()[before..];
    let looks = methods.iter().filter(|method| **method == "pane.get").count();
    assert!(looks <= 10, "{looks} looks in ten minutes");
    // Title and tokens are refreshed in separate requests.
    assert!(methods.len() - looks <= 20, "two refreshes a minute: {methods:?}");
    assert_eq!(world.pane().title.as_deref(), Some("T"), "refreshed before its ttl");
    assert_eq!(world.pane().tokens["branch"], "main");
}

#[test]
fn what_was_delivered_is_judged_once() {
    let world = World::shown();
    let applied: Vec<Part> = world
        .receipts
        .iter()
        .filter(|receipt| receipt.outcome == Outcome::Applied)
        .map(|receipt| receipt.of)
        .collect();
    assert_eq!(applied, [Part::State, Part::Presentation, Part::Tokens]);
    assert_eq!(world.counters().applied, 3);
}

#[test]
fn idle_that_reads_back_as_done_counts_as_shown() {
    let mut world = World::working();
    let workspace = json!({"id": "f", "method": "workspace.create", "params": {"focus": true}});
    world.model.request(world.elapsed, format!("{workspace}\n").as_bytes());
    world.record(settled());
    world.serve_for(Duration::from_secs(5));
    assert_eq!(world.pane().agent_status, "done");
    assert_eq!(world.sent_to("pane.report_agent").count(), 2);
}

#[test]
fn f12_a_release_forgets_everything_until_something_begins() {
    let mut world = World::shown();
    world.record_and_serve(AgentEvent::Release);
    let pane = world.pane();
    assert_eq!((pane.agent, pane.title, pane.tokens.len()), (None, None, 0));
    assert_eq!(world.methods().last(), Some(&"pane.release_agent"));
    for late in [title("T2"), AgentEvent::tool_finished("x"), AgentEvent::agent_settled()] {
        world.record_and_serve(late);
        assert_eq!(world.pane().agent, None);
    }
    world.record_and_serve(started());
    assert_eq!(world.pane().agent.as_deref(), Some(AGENT));
    assert_eq!(world.pane().title.as_deref(), Some("T2"));
    assert!(world.pane().tokens.is_empty());
}

#[test]
fn a_new_session_goes_out_again_with_the_next_report() {
    let mut world = World::new();
    world.record(session("a"));
    world.record_and_serve(started());
    for n in 0..50 {
        // A new session ends what the last one left open.
        world.record(session(&format!("s{n}")));
        world.record_and_serve(started());
    }
    let last = world.sent_to("pane.report_agent").last().unwrap();
    assert_eq!(last["agent_session_id"], "s49");
    assert_eq!(world.pane().agent_status, "working");
}

#[test]
fn a_lost_answer_is_retried_under_its_number() {
    let mut world = World::new();
    world.record(started());
    world.meet(Fate::Unanswered);
    world.serve_for(SECOND);
    let seqs: Vec<_> = world.sent_to("pane.report_agent").map(|p| p["seq"].clone()).collect();
    assert_eq!(seqs.len(), 2);
    assert_eq!(seqs[0], seqs[1]);
    assert_eq!(world.pane().agent_status, "working");
    assert_eq!(world.counters().applied, 1);
}
