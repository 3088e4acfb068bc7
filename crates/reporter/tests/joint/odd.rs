//! Servers that answer and do something else, and clocks that jump: the pane is
//! right in the end, or the host has been told once why it is not.

use std::time::Duration;

use fake_herdr::Model;
use herdr_proto::PaneInfo;
use herdr_reporter::machine::{Answer, Input, PaneCall};
use herdr_reporter::{AgentEvent, Config, DiagnosticKind, Ended, Outcome};
use serde_json::json;

use crate::events::{answered, asked, settled, started, title, token};
use crate::world::{AGENT, EPOCH, Fate, Home, PANE, SOURCE, World};

const SECOND: Duration = Duration::from_secs(1);
const YEAR: i64 = 365 * 24 * 3_600_000_000;

fn kinds(world: &World) -> Vec<DiagnosticKind> {
    world.diagnostics.iter().map(|diagnostic| diagnostic.kind).collect()
}

#[test]
fn an_ok_to_everything_that_applies_nothing_is_told_once_and_left() {
    let mut world = World::decorated();
    world.meet_for(SECOND, |_| Fate::Pretended);
    assert_eq!(kinds(&world), [DiagnosticKind::Ignored]);
    let outcomes: Vec<Outcome> = world.receipts.iter().map(|receipt| receipt.outcome).collect();
    assert!(!outcomes.contains(&Outcome::Applied), "{outcomes:?}");
    assert!(outcomes.contains(&Outcome::Ignored), "{outcomes:?}");

    let before = world.sent.len();
    world.meet_for(Duration::from_secs(50), |_| Fate::Pretended);
    let more = world.methods().split_off(before);
    assert!(more.iter().all(|method| *method == "pane.get") && more.len() <= 13, "{more:?}");
    world.step(Input::Close { budget: Duration::from_millis(500) });
    world.meet_for(SECOND, |_| Fate::Pretended);
    assert!(world.ended.is_some());
    assert_eq!(world.methods().last(), Some(&"pane.release_agent"));
    assert_eq!(kinds(&world), [DiagnosticKind::Ignored]);
}

#[test]
fn an_answer_about_another_pane_is_believed_of_none_and_costs_little() {
    let mut world = World::decorated();
    let other = json!({"pane_id": "w9:p9", "agent": "other", "agent_status": "blocked"});
    let other: PaneInfo = serde_json::from_value(other).unwrap();
    let until = world.elapsed + Duration::from_secs(30);
    while world.elapsed < until {
        match &world.in_flight {
            Some(request) if matches!(request.call, PaneCall::Get(_)) => {
                world.answer(Ok(Answer::Pane(other.clone())));
            }
            Some(_) => world.resolve(Fate::Served),
            None => world.pass(Duration::from_millis(50)),
        }
    }
    let reports = world.sent_to("pane.report_agent").count();
    assert!(reports <= 6 && world.sent.len() < 40, "{reports} of {} requests", world.sent.len());
    assert!(kinds(&world).iter().all(|kind| *kind == DiagnosticKind::Ignored));
    assert_eq!(world.diagnostics.len(), 1, "{:?}", world.diagnostics);
    assert_eq!(world.pane().agent_status, "working", "what is true stays");
    assert_eq!(world.close(), Ended::Released);
}

#[test]
fn b11_answers_that_are_always_late_are_waited_for() {
    let mut world = World::decorated();
    for event in [asked("x"), answered(), asked("y"), settled()] {
        world.tell(event);
        world.meet_for(Duration::from_millis(700), |_| Fate::Late);
    }
    world.meet_for(Duration::from_secs(10), |_| Fate::Late);
    let pane = world.pane();
    assert_eq!((pane.agent_status.as_str(), pane.title.as_deref()), ("idle", Some("T")));
    assert_eq!(pane.tokens["branch"], "main");
    assert!(world.diagnostics.is_empty(), "{:?}", world.diagnostics);
}

#[test]
fn b11_a_close_does_not_wait_for_answers_that_are_late() {
    let mut world = World::decorated();
    world.meet_for(Duration::from_secs(15), |_| Fate::Late);
    world.tell(asked("x"));
    let begun = world.elapsed;
    world.step(Input::Close { budget: Duration::from_millis(500) });
    world.pass(Duration::from_millis(500));
    assert!(world.ended.is_some(), "after {:?}", world.elapsed.saturating_sub(begun));
    assert_eq!(world.methods().last(), Some(&"pane.release_agent"));
    world.thaw();
    assert_eq!(world.pane().agent, None);
}

#[test]
fn b11_a_server_that_was_frozen_for_long_ends_with_the_newest() {
    for frozen in [10, 30] {
        let mut world = World::decorated();
        world.serve_for(SECOND);
        let until = world.elapsed + Duration::from_secs(frozen);
        let mut turn = 0;
        while world.elapsed < until {
            turn += 1;
            world.tell(if turn % 2 == 0 { answered() } else { asked("x") });
            world.tell(title(&format!("title {turn}")));
            world.meet_for(Duration::from_millis(900), |_| Fate::Frozen);
        }
        assert_eq!(kinds(&world), [DiagnosticKind::Timeout], "{frozen} s");
        world.tell(settled());
        // What was held back may be taken before or after what is newer.
        world.meet_for(SECOND, |_| Fate::Overtakes);
        world.thaw();
        world.serve_for(Duration::from_secs(2));
        let pane = world.pane();
        assert_eq!(pane.agent_status, "idle", "{frozen} s");
        assert_eq!(pane.title, Some(format!("title {turn}")), "{frozen} s");
        assert!(pane.state_labels.is_empty(), "{:?}", pane.state_labels);
        assert_eq!(world.close(), Ended::Released);
    }
}

#[test]
fn a_token_that_was_frozen_does_not_outlive_the_release() {
    let mut world = World::new();
    world.tell(started());
    world.serve_for(SECOND);
    world.tell(token("branch", Some("main")));
    assert!(world.in_flight.is_some());
    world.resolve(Fate::Frozen);
    world.step(Input::Close { budget: Duration::from_millis(500) });
    world.meet_for(SECOND, |_| Fate::Overtakes);
    assert_eq!(world.ended, Some(Ended::Released));
    world.thaw();
    assert!(world.pane().tokens.is_empty(), "{:?}", world.pane().tokens);
}

#[test]
fn each_outage_is_told_once() {
    let mut world = World::decorated();
    world.serve_for(SECOND);
    for outage in 1..=3 {
        world.tell(title(&format!("outage {outage}")));
        world.meet_for(Duration::from_secs(5), |_| Fate::Unreachable);
        assert_eq!(kinds(&world), vec![DiagnosticKind::ConnectFailed; outage]);
        world.serve_for(Duration::from_secs(5));
        assert_eq!(world.pane().title, Some(format!("outage {outage}")));
    }
    for freeze in 1..=2 {
        world.tell(title(&format!("freeze {freeze}")));
        world.meet_for(Duration::from_secs(5), |_| Fate::Frozen);
        world.serve_for(Duration::from_secs(5));
        assert_eq!(kinds(&world)[3..], vec![DiagnosticKind::Timeout; freeze]);
    }
}

#[test]
fn a_refusal_between_broken_connections_is_told_once() {
    let mut world = World::decorated();
    let mut count = 0;
    world.meet_for(Duration::from_secs(120), |_| {
        count += 1;
        if count % 2 == 0 { Fate::Broken } else { Fate::Refused("not_supported") }
    });
    assert!(count > 20, "{count}");
    let told = kinds(&world);
    assert!(told.len() <= 2, "{count} requests: {told:?}");
    world.step(Input::ServerChanged);
    world.meet_for(Duration::from_secs(2), |_| Fate::Refused("not_supported"));
    assert_eq!(kinds(&world)[told.len()..], [DiagnosticKind::ProtocolRejected], "re-armed");
}

#[test]
fn b75_a_server_that_is_about_to_go_is_no_news() {
    let refused = |_: &PaneCall| Fate::Refused("server_unavailable");
    let mut world = World::decorated();
    world.serve_for(SECOND);
    world.tell(asked("x"));
    world.meet_for(Duration::from_millis(500), refused);
    world.serve_for(SECOND);
    assert_eq!(world.pane().agent_status, "blocked");
    assert_eq!(kinds(&world), []);
    // One that stays like that is.
    world.tell(answered());
    world.meet_for(Duration::from_secs(20), refused);
    assert_eq!(kinds(&world), [DiagnosticKind::ProtocolRejected]);
}

/// Our pane is the one beside `PANE` now, and that is somebody else's.
fn renumbered(home: impl FnOnce(String) -> Home) -> (World, String) {
    let mut world = World::at(Home::Pane(PANE.into()), Config::default(), Model::new());
    world.tell(started());
    world.tell(title("T"));
    world.serve_for(SECOND);
    world.foreign_call("pane.split", &json!({"target_pane_id": PANE, "direction": "right"}));
    let beside = world.model.pane_ids().into_iter().find(|id| id != PANE).unwrap();
    world.model.live_handoff(world.elapsed);
    world.home = home(beside.clone());
    world.step(Input::ServerChanged);
    world.serve_for(Duration::from_secs(3));
    (world, beside)
}

#[test]
fn b32_a_server_that_comes_back_with_other_ids_is_searched_for_our_pane() {
    let (mut world, ours) = renumbered(Home::Pane);
    let pane = world.seen(&ours);
    assert_eq!((pane.agent.as_deref(), pane.title.as_deref()), (Some(AGENT), Some("T")));
    assert_eq!(world.pane().agent, None);
    assert_eq!(kinds(&world), []);
    assert_eq!(world.close(), Ended::Released);
    assert_eq!(world.seen(&ours).agent, None);
}

#[test]
fn b32_where_no_pane_is_ours_any_more_none_is_claimed_and_it_is_told() {
    let (mut world, beside) = renumbered(|_| Home::Elsewhere);
    world.tell(asked("x"));
    world.serve_for(Duration::from_secs(60));
    assert_eq!((world.pane().agent, world.seen(&beside).agent), (None, None));
    assert_eq!(kinds(&world), [DiagnosticKind::ForeignPane]);
    assert_eq!(world.close(), Ended::NothingToRelease);
}

#[test]
fn b36_a_new_claim_finds_out_that_the_session_has_ended() {
    let mut world = World::new();
    let session = json!({"source": "herdr:claude", "agent": "claude", "agent_session_id": "s"});
    world.foreign("pane.report_agent_session", session);
    world.tell(started());
    world.serve_for(SECOND);
    assert_eq!(kinds(&world), [DiagnosticKind::Ignored]);
    world.tell(AgentEvent::Release);
    world.serve_for(SECOND);
    assert!(world.model.agent_appears(world.elapsed, PANE, "claude", "idle"));
    assert!(world.model.agent_exits(world.elapsed, PANE));
    world.tell(started());
    world.serve_for(Duration::from_secs(5));
    assert_eq!(world.pane().agent_status, "working", "{:?} {:?}", world.pane(), world.methods());
}

#[test]
fn b03_a_new_claim_tries_once_more_to_get_above_the_mark() {
    let mut world = World::new();
    let theirs = json!({"source": SOURCE, "agent": AGENT, "state": "idle", "seq": u64::MAX});
    world.foreign("pane.report_agent", theirs);
    for claim in 1..=3 {
        world.tell(started());
        world.serve_for(Duration::from_secs(20));
        let reports = world.sent_to("pane.report_agent").count();
        assert_eq!(reports, 3 * claim, "after {claim} claims");
        world.tell(AgentEvent::Release);
        world.serve_for(SECOND);
    }
    assert_eq!(kinds(&world), [DiagnosticKind::Ignored]);
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
        world.tell(event);
        world.serve_for(SECOND);
        assert_eq!(world.pane().agent_status, status, "{off}");
    }
    assert_eq!(world.close(), Ended::Released);
    // The next run has the right clock again, and the mark is ten years ahead.
    let mut next = World::with(Config::default(), std::mem::take(&mut world.model));
    next.elapsed = world.elapsed;
    next.tell(started());
    next.serve_for(SECOND);
    assert_eq!(next.pane().agent_status, "working");
    assert_eq!((kinds(&world), kinds(&next)), (vec![], vec![]));
}

#[test]
fn b03_a_clock_at_zero_reports_and_says_so_where_it_cannot() {
    let zero = -i64::try_from(EPOCH).unwrap() * 2;
    let mut world = World::new();
    world.clock_off = zero;
    world.tell(started());
    world.serve_for(SECOND);
    assert_eq!(world.pane().agent_status, "working");
    assert_eq!(world.close(), Ended::Released);

    let mut world = World::new();
    let theirs = json!({"source": SOURCE, "agent": AGENT, "state": "idle", "seq": EPOCH});
    world.foreign("pane.report_agent", theirs);
    world.clock_off = zero;
    world.tell(started());
    world.serve_for(SECOND);
    assert_eq!(kinds(&world), [DiagnosticKind::Ignored], "{:?}", world.pane());
}
