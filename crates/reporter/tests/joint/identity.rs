//! Whether the agent runs in the pane, and the search for its pane.

use std::time::Duration;

use fake_herdr::Model;
use herdr_reporter::machine::{Failure, FailureKind, Input, PaneCall};
use herdr_reporter::{Config, DiagnosticKind, Ended, UnverifiedPane};
use serde_json::json;

use crate::events::{asked, started, title};
use crate::fates::Fate;
use crate::world::{AGENT, Home, MINUTE, PANE, SECOND, World};

fn at_home(home: Home, config: Config) -> World {
    World::at(home, config, Model::new())
}

/// After a handoff our pane has another id, and `PANE` is the id of another pane.
fn renumbered(home: impl FnOnce(String) -> Home) -> (World, String) {
    let mut world = World::at(Home::Pane(PANE.into()), Config::default(), Model::new());
    world.record(started());
    world.record_and_serve(title("T"));
    let beside = world.split();
    world.home = home(beside.clone());
    world.hand_off();
    world.serve_for(Duration::from_secs(3));
    (world, beside)
}

#[test]
fn b34_a_pane_that_is_proven_foreign_is_never_claimed() {
    let mut world = at_home(Home::Elsewhere, Config::default());
    world.record(started());
    world.record(title("T"));
    world.serve_for(Duration::from_secs(120));
    assert_eq!(world.methods(), ["pane.process_info"]);
    assert_eq!(world.raised(), [DiagnosticKind::ForeignPane]);
    assert_eq!(world.close(), Ended::NothingToRelease);
}

#[test]
fn b34_a_pane_without_proof_is_claimed_unless_denied() {
    let mut world = at_home(Home::Unknown, Config::default());
    world.record_and_serve(started());
    assert_eq!(world.pane().agent.as_deref(), Some(AGENT));
    assert!(world.diagnostics.is_empty());

    let mut config = Config::default();
    config.unverified_pane = UnverifiedPane::Deny;
    let mut world = at_home(Home::Unknown, config);
    world.record_and_serve(started());
    assert_eq!(world.pane().agent, None);
    assert_eq!(world.diagnostics.len(), 1);
}

#[test]
fn b34_after_a_restart_the_id_may_name_another_pane() {
    let mut world = at_home(Home::Pane(PANE.into()), Config::default());
    world.record_and_serve(started());
    assert_eq!(world.pane().agent.as_deref(), Some(AGENT));
    world.model.restart(world.elapsed);
    world.home = Home::Elsewhere;
    world.step(Input::ServerChanged);
    world.serve_for(Duration::from_secs(10));
    assert_eq!(world.pane().agent, None);
    assert_eq!(world.close(), Ended::NothingToRelease);
}

#[test]
fn f10_after_an_answer_of_another_socket_the_pane_is_identified_first() {
    let mut world = World::at(Home::Pane(PANE.into()), Config::default(), Model::new());
    world.record_and_serve(started());
    world.record(asked("x"));
    let before = world.sent.len();
    world.home = Home::Elsewhere;
    world.step(Input::ServerChanged);
    world.serve_for(SECOND);
    assert_eq!(world.methods()[before..][..1], ["pane.process_info"]);
    assert_eq!(world.sent_to("pane.report_agent").count(), 2, "nothing but what was on its way");
}

#[test]
fn b32_a_pane_that_moved_before_a_handoff_is_found_by_its_shell() {
    let mut world = at_home(Home::Pane(PANE.into()), Config::default());
    world.record(started());
    world.record_and_serve(title("T"));
    // There is a neighbouring pane that is not ours.
    world.split();
    let destination = json!({"type": "new_workspace", "label": "x"});
    world.foreign_call("pane.move", &json!({"pane_id": PANE, "destination": destination}));
    let moved = world.model.pane_ids().into_iter().find(|id| id.starts_with("w2:")).unwrap();
    world.serve_for(Duration::from_secs(5));
    assert_eq!(world.seen(&moved).title.as_deref(), Some("T"), "the old id still works");

    world.home = Home::Pane(moved.clone());
    world.hand_off();
    world.serve_for(Duration::from_secs(3));
    let pane = world.seen(&moved);
    assert_eq!((pane.agent.as_deref(), pane.title.as_deref()), (Some(AGENT), Some("T")));
    for other in world.model.pane_ids().into_iter().filter(|id| *id != moved) {
        assert_eq!(world.seen(&other).agent, None, "{other}");
    }
    world.begin_close();
    world.serve_for(SECOND);
    assert_eq!(world.ended, Some(Ended::Released));
    assert_eq!(world.seen(&moved).agent, None);
}

#[test]
fn b32_a_pane_that_is_gone_is_not_replaced_by_a_neighbour() {
    let mut world = at_home(Home::Pane(PANE.into()), Config::default());
    world.record_and_serve(started());
    world.split();
    world.model.close_pane(world.elapsed, PANE);
    world.record(asked("x"));
    world.serve_for(Duration::from_secs(40));
    for other in world.model.pane_ids() {
        assert_eq!(world.seen(&other).agent, None, "{other}");
    }
    assert_eq!(world.diagnostics.len(), 1, "{:?}", world.diagnostics);
}

#[test]
fn b32_a_search_goes_on_when_the_server_is_busy() {
    let mut world = World::at(Home::Pane(PANE.into()), Config::default(), Model::new());
    world.record_and_serve(started());
    let beside = world.split();
    world.home = Home::Pane(beside.clone());
    world.hand_off();
    let mut put_off = 0;
    world.meet_for(Duration::from_secs(5), |call| {
        let searches = matches!(call, PaneCall::List(_));
        put_off += usize::from(searches);
        if searches && put_off < 3 { Fate::Refused("server_unavailable") } else { Fate::Served }
    });
    assert_eq!(world.seen(&beside).agent.as_deref(), Some(AGENT), "{:?}", world.methods());
    assert_eq!(world.pane().agent, None);
}

#[test]
fn b32_a_server_that_comes_back_with_other_ids_is_searched_for_our_pane() {
    let (mut world, ours) = renumbered(Home::Pane);
    let pane = world.seen(&ours);
    assert_eq!((pane.agent.as_deref(), pane.title.as_deref()), (Some(AGENT), Some("T")));
    assert_eq!(world.pane().agent, None);
    assert_eq!(world.raised(), []);
    assert_eq!(world.close(), Ended::Released);
    assert_eq!(world.seen(&ours).agent, None);
}

#[test]
fn b32_if_no_pane_is_ours_none_is_claimed_and_that_is_reported() {
    let (mut world, beside) = renumbered(|_| Home::Elsewhere);
    world.record(asked("x"));
    world.serve_for(Duration::from_secs(60));
    assert_eq!((world.pane().agent, world.seen(&beside).agent), (None, None));
    assert_eq!(world.raised(), [DiagnosticKind::ForeignPane]);
    assert_eq!(world.close(), Ended::NothingToRelease);
}

#[test]
fn f22_a_pane_that_is_gone_is_searched_for_less_and_less_often() {
    for home in [Home::Pane(PANE.into()), Home::Unknown] {
        let mut world = World::at(home, Config::default(), Model::new());
        world.record(started());
        world.record_and_serve(title("T"));
        world.split();
        world.model.close_pane(world.elapsed, PANE);
        let before = world.sent.len();
        world.serve_for(MINUTE);
        let first = world.sent.len() - before;
        world.serve_for(MINUTE * 10);
        let later = world.sent.len() - before - first;
        assert!(first <= 12 && later <= 30, "{first}, {later}: {:?}", &world.methods()[before..]);
        assert_eq!(world.raised(), [DiagnosticKind::ProtocolRejected]);
        assert!(world.quiet, "a flush is not kept waiting");
    }
}

#[test]
fn the_lease_is_taken_while_the_server_is_away() {
    let mut world = at_home(Home::Pane(PANE.into()), Config::default());
    world.step(Input::AwaitLease);
    assert_eq!((world.sent.len(), world.machine.may_have_pane()), (1, None));
    world.answer(Err(Failure::new(FailureKind::Unreachable, "away")));
    assert_eq!(world.machine.may_have_pane(), Some(true));
    world.serve_for(SECOND);
    assert!(world.quiet && world.diagnostics.is_empty() && world.sent.len() == 1);
}

#[test]
fn the_lease_of_a_foreign_pane_is_not_taken() {
    let mut world = at_home(Home::Elsewhere, Config::default());
    world.step(Input::AwaitLease);
    world.serve_for(SECOND);
    assert_eq!((world.sent.len(), world.machine.may_have_pane()), (1, Some(false)));
    world.home = Home::Pane(PANE.into());
    world.step(Input::ServerChanged);
    world.serve_for(SECOND);
    assert_eq!((world.sent.len(), world.machine.may_have_pane()), (2, Some(true)));
}
