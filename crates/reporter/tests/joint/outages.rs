//! Servers that are away, frozen, late or replaced.

use std::time::Duration;

use fake_herdr::Model;
use herdr_reporter::machine::{Input, PaneCall};
use herdr_reporter::{DiagnosticKind, Ended};

use crate::events::{answered, asked, settled, started, title, token};
use crate::fates::Fate;
use crate::world::{AGENT, SECOND, World};

#[test]
fn b11_after_an_outage_only_the_newest_goes_out() {
    let mut world = World::new();
    world.record(started());
    world.record_and_serve(title("old"));
    world.record(asked("x"));
    let until = world.elapsed + Duration::from_secs(10);
    while world.elapsed < until {
        world.meet(Fate::Unreachable);
        world.pass(Duration::from_millis(50));
    }
    world.model.restart(world.elapsed);
    world.record(answered());
    world.record(title("new"));
    let before = world.sent.len();
    world.serve_for(Duration::from_secs(2));
    assert_eq!(world.pane().agent_status, "working");
    assert_eq!(world.pane().title.as_deref(), Some("new"));
    assert!(world.sent[before..].iter().all(|line| line["params"]["state"] != "blocked"));
    assert_eq!(world.raised(), [DiagnosticKind::ConnectFailed], "reported once");
}

#[test]
fn b11_answers_that_are_always_late_are_waited_for() {
    let mut world = World::decorated();
    for event in [asked("x"), answered(), asked("y"), settled()] {
        world.record(event);
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
    world.record(asked("x"));
    let begun = world.elapsed;
    world.begin_close();
    world.pass(Duration::from_millis(500));
    assert!(world.ended.is_some(), "after {:?}", world.elapsed.saturating_sub(begun));
    assert_eq!(world.methods().last(), Some(&"pane.release_agent"));
    world.thaw();
    assert_eq!(world.pane().agent, None);
}

#[test]
fn b11_a_server_that_was_frozen_for_long_ends_with_the_newest() {
    for frozen in [10, 30] {
        let mut world = World::shown();
        let until = world.elapsed + Duration::from_secs(frozen);
        let mut turn = 0;
        while world.elapsed < until {
            turn += 1;
            world.record(if turn % 2 == 0 { answered() } else { asked("x") });
            world.record(title(&format!("title {turn}")));
            world.meet_for(Duration::from_millis(900), |_| Fate::Frozen);
        }
        assert_eq!(world.raised(), [DiagnosticKind::Timeout], "{frozen} s");
        world.record(settled());
        // The frozen requests may be applied before or after newer ones.
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
fn a_frozen_server_that_wakes_up_ends_with_the_newest_state() {
    let mut world = World::working();
    world.record(asked("x"));
    world.meet(Fate::Frozen);
    world.record(answered());
    world.pass(SECOND);
    world.meet(Fate::Frozen);
    world.record(settled());
    world.thaw();
    world.serve_for(Duration::from_secs(3));
    assert_eq!(world.pane().agent_status, "idle");
}

#[test]
fn a_token_that_was_frozen_does_not_outlive_the_release() {
    let mut world = World::working();
    world.record(token("branch", Some("main")));
    assert!(world.in_flight.is_some());
    world.meet(Fate::Frozen);
    world.begin_close();
    world.meet_for(SECOND, |_| Fate::Overtakes);
    assert_eq!(world.ended, Some(Ended::Released));
    world.thaw();
    assert!(world.pane().tokens.is_empty(), "{:?}", world.pane().tokens);
}

#[test]
fn each_outage_is_reported_once() {
    let mut world = World::shown();
    for outage in 1..=3 {
        world.record(title(&format!("outage {outage}")));
        world.meet_for(Duration::from_secs(5), |_| Fate::Unreachable);
        assert_eq!(world.raised(), vec![DiagnosticKind::ConnectFailed; outage]);
        world.serve_for(Duration::from_secs(5));
        assert_eq!(world.pane().title, Some(format!("outage {outage}")));
    }
    for freeze in 1..=2 {
        world.record(title(&format!("freeze {freeze}")));
        world.meet_for(Duration::from_secs(5), |_| Fate::Frozen);
        world.serve_for(Duration::from_secs(5));
        assert_eq!(world.raised()[3..], vec![DiagnosticKind::Timeout; freeze]);
    }
}

#[test]
fn b75_a_short_unavailability_is_not_reported() {
    let refused = |_: &PaneCall| Fate::Refused("server_unavailable");
    let mut world = World::shown();
    world.record(asked("x"));
    world.meet_for(Duration::from_millis(500), refused);
    world.serve_for(SECOND);
    assert_eq!(world.pane().agent_status, "blocked");
    assert_eq!(world.raised(), []);
    // If the server stays unavailable, that is reported.
    world.record(answered());
    world.meet_for(Duration::from_secs(20), refused);
    assert_eq!(world.raised(), [DiagnosticKind::ProtocolRejected]);
}

#[test]
fn b75_after_a_handoff_everything_is_back_without_an_event() {
    let mut world = World::shown();
    world.model.live_handoff(world.elapsed);
    assert_eq!(world.pane().agent, None);
    world.step(Input::ServerChanged);
    world.serve_for(SECOND);
    let pane = world.pane();
    assert_eq!(pane.agent_status, "working");
    assert_eq!((pane.title.as_deref(), pane.tokens["branch"].as_str()), (Some("T"), "main"));
}

#[test]
fn b63_a_server_that_restores_its_panes_late_shows_everything_soon() {
    let mut world = World::shown();
    world.model = Model::new();
    world.step(Input::ServerChanged);
    let restoring = Duration::from_millis(2_500);
    world.meet_for(restoring, |_| Fate::Refused("pane_not_found"));
    world.serve_for(Duration::from_secs(5));
    let pane = world.pane();
    assert_eq!((pane.agent.as_deref(), pane.title.as_deref()), (Some(AGENT), Some("T")));
}
