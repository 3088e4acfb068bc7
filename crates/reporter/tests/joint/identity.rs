//! Whose pane is it, where has it gone, and who had it before?

use std::time::Duration;

use fake_herdr::Model;
use herdr_reporter::machine::{Identity, Input, Lease};
use herdr_reporter::{AgentEvent, Config, DiagnosticKind, Ended, UnverifiedPane};
use serde_json::json;

use crate::events::{asked, session, started, title, token};
use crate::world::{AGENT, Home, PANE, World};

const SECOND: Duration = Duration::from_secs(1);

fn at_home(home: Home, config: Config) -> World {
    World::at(home, config, Model::new())
}

#[test]
fn b34_a_pane_that_is_proven_foreign_is_never_claimed() {
    let mut world = at_home(Home::Elsewhere, Config::default());
    world.tell(started());
    world.tell(title("T"));
    world.serve_for(Duration::from_secs(120));
    assert_eq!(world.methods(), ["pane.process_info"]);
    assert_eq!(world.diagnostics.len(), 1);
    assert_eq!(world.diagnostics[0].kind, DiagnosticKind::ForeignPane);
    assert_eq!(world.close(), Ended::NothingToRelease);
}

#[test]
fn b34_a_pane_that_cannot_be_told_is_claimed_unless_denied() {
    let mut world = at_home(Home::Untold, Config::default());
    world.tell(started());
    world.serve_for(SECOND);
    assert_eq!(world.pane().agent.as_deref(), Some(AGENT));
    assert!(world.diagnostics.is_empty());

    let mut config = Config::default();
    config.unverified_pane = UnverifiedPane::Deny;
    let mut world = at_home(Home::Untold, config);
    world.tell(started());
    world.serve_for(SECOND);
    assert_eq!(world.pane().agent, None);
    assert_eq!(world.diagnostics.len(), 1);
}

#[test]
fn b34_after_a_restart_the_id_may_be_somebody_elses() {
    let mut world = at_home(Home::Pane(PANE.into()), Config::default());
    world.tell(started());
    world.serve_for(SECOND);
    assert_eq!(world.pane().agent.as_deref(), Some(AGENT));
    world.model.restart(world.elapsed);
    world.home = Home::Elsewhere;
    world.step(Input::ServerChanged);
    world.serve_for(Duration::from_secs(10));
    assert_eq!(world.pane().agent, None);
    assert_eq!(world.close(), Ended::NothingToRelease);
}

#[test]
fn b32_a_pane_that_moved_before_a_handoff_is_found_by_its_shell() {
    let mut world = at_home(Home::Pane(PANE.into()), Config::default());
    world.tell(started());
    world.tell(title("T"));
    world.serve_for(SECOND);
    // A neighbour stays behind, so that there is a pane that is not ours.
    world.foreign_call("pane.split", &json!({"target_pane_id": PANE, "direction": "right"}));
    let destination = json!({"type": "new_workspace", "label": "x"});
    world.foreign_call("pane.move", &json!({"pane_id": PANE, "destination": destination}));
    let moved = world.model.pane_ids().into_iter().find(|id| id.starts_with("w2:")).unwrap();
    world.serve_for(Duration::from_secs(5));
    assert_eq!(world.seen(&moved).title.as_deref(), Some("T"), "the old id still works");

    world.model.live_handoff(world.elapsed);
    world.home = Home::Pane(moved.clone());
    world.step(Input::ServerChanged);
    world.serve_for(Duration::from_secs(3));
    let pane = world.seen(&moved);
    assert_eq!((pane.agent.as_deref(), pane.title.as_deref()), (Some(AGENT), Some("T")));
    for other in world.model.pane_ids().into_iter().filter(|id| *id != moved) {
        assert_eq!(world.seen(&other).agent, None, "{other}");
    }
    world.step(Input::Close { budget: Duration::from_millis(500) });
    world.serve_for(SECOND);
    assert_eq!(world.ended, Some(Ended::Released));
    assert_eq!(world.seen(&moved).agent, None);
}

#[test]
fn b32_a_pane_that_is_gone_is_not_replaced_by_a_neighbour() {
    let mut world = at_home(Home::Pane(PANE.into()), Config::default());
    world.tell(started());
    world.serve_for(SECOND);
    world.foreign_call("pane.split", &json!({"target_pane_id": PANE, "direction": "right"}));
    world.model.close_pane(world.elapsed, PANE);
    world.tell(asked("x"));
    world.serve_for(Duration::from_secs(40));
    for other in world.model.pane_ids() {
        assert_eq!(world.seen(&other).agent, None, "{other}");
    }
    assert_eq!(world.diagnostics.len(), 1, "{:?}", world.diagnostics);
}

#[test]
fn b19_another_process_with_the_lease_keeps_the_pane() {
    let mut world = World::new();
    world.step(Input::Lease(Lease::Denied));
    world.tell(started());
    world.serve_for(SECOND);
    assert!(world.sent.is_empty() && world.quiet);
    assert_eq!(world.close(), Ended::NothingToRelease);
}

#[test]
fn b17_a_successor_takes_the_row_over_without_a_gap() {
    let mut first = World::new();
    first.tell(session("a"));
    first.tell(started());
    first.tell(title("T"));
    first.tell(token("branch", Some("main")));
    first.serve_for(SECOND);
    first.step(Input::Lease(Lease::Denied));
    first.step(Input::Close { budget: Duration::ZERO });
    assert_eq!(first.ended, Some(Ended::NothingToRelease));

    let mut second = World::with(Config::default(), std::mem::take(&mut first.model));
    second.elapsed = first.elapsed;
    second.machine.inherit(first.machine.predecessor_claim());
    second.serve_for(SECOND);
    assert!(second.sent.is_empty(), "no flicker before it has something to say");
    second.tell(started());
    second.serve_for(SECOND);
    let pane = second.pane();
    assert_eq!(pane.agent_status, "working");
    assert_eq!((pane.title, pane.tokens.len()), (None, 0), "the first one's go");
    assert!(first.sent_to("pane.release_agent").next().is_none());
    assert_eq!(second.close(), Ended::Released);
    assert_eq!(second.pane().agent, None);
}

#[test]
fn b17_a_successor_that_never_says_anything_still_releases() {
    let mut first = World::new();
    first.tell(started());
    first.serve_for(SECOND);
    let mut second = World::with(Config::default(), std::mem::take(&mut first.model));
    second.elapsed = first.elapsed;
    second.machine.inherit(first.machine.predecessor_claim());
    assert_eq!(second.close(), Ended::Released);
    assert_eq!(second.pane().agent, None);
}

#[test]
fn b17_a_successor_that_gives_the_pane_back_at_once_gives_back_the_row_that_is_there() {
    let mut first = World::new();
    first.tell(started());
    first.tell(title("T"));
    first.serve_for(SECOND);
    let mut second = World::with(Config::default(), std::mem::take(&mut first.model));
    second.elapsed = first.elapsed;
    second.machine.inherit(first.machine.predecessor_claim());
    second.tell(AgentEvent::Release);
    second.serve_for(SECOND);
    assert_eq!((second.pane().agent, second.pane().title), (None, None));
}

#[test]
fn b17_a_row_is_released_as_it_was_claimed() {
    // On the pane that the predecessor had in the end.
    let mut first = World::at(Home::Pane(PANE.into()), Config::default(), Model::new());
    first.tell(started());
    first.serve_for(SECOND);
    let destination = json!({"type": "new_workspace", "label": "x"});
    first.foreign_call("pane.split", &json!({"target_pane_id": PANE, "direction": "right"}));
    first.foreign_call("pane.move", &json!({"pane_id": PANE, "destination": destination}));
    let moved = first.model.pane_ids().into_iter().find(|id| id.starts_with("w2:")).unwrap();
    first.model.live_handoff(first.elapsed);
    first.home = Home::Pane(moved.clone());
    first.step(Input::ServerChanged);
    first.serve_for(Duration::from_secs(3));
    assert_eq!(first.seen(&moved).agent.as_deref(), Some(AGENT));

    let mut second =
        World::at(first.home.clone(), Config::default(), std::mem::take(&mut first.model));
    second.elapsed = first.elapsed;
    second.machine.inherit(first.machine.predecessor_claim());
    assert_eq!(second.close(), Ended::Released);
    assert_eq!(second.seen(&moved).agent, None);
}

#[test]
fn a_verdict_is_only_taken_while_one_is_owed() {
    let mut world = at_home(Home::Pane(PANE.into()), Config::default());
    world.tell(started());
    world.serve_for(SECOND);
    world.step(Input::Identity(Identity::Foreign));
    world.tell(asked("x"));
    world.serve_for(SECOND);
    assert_eq!(world.pane().agent_status, "blocked");
}
