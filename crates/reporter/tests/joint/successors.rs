//! One reporter of a pane after another.

use std::time::Duration;

use fake_herdr::Model;
use herdr_reporter::machine::{Input, Lease};
use herdr_reporter::{AgentEvent, Config, Ended};
use serde_json::json;

use crate::events::{session, started, title, token};
use crate::world::{AGENT, Home, PANE, SECOND, World};

#[test]
fn b19_another_process_with_the_lease_keeps_the_pane() {
    let mut world = World::new();
    world.step(Input::Lease(Lease::Denied));
    world.record_and_serve(started());
    assert!(world.sent.is_empty() && world.quiet);
    assert_eq!(world.close(), Ended::NothingToRelease);
}

#[test]
fn b17_a_successor_takes_the_row_over_without_a_gap() {
    let mut first = World::new();
    first.record(session("a"));
    first.record(started());
    first.record(title("T"));
    first.record_and_serve(token("branch", Some("main")));
    first.step(Input::Lease(Lease::Denied));
    first.step(Input::Close { budget: Duration::ZERO });
    assert_eq!(first.ended, Some(Ended::NothingToRelease));

    let mut second = World::after(&mut first);
    second.machine.inherit(first.machine.predecessor_claim());
    second.serve_for(SECOND);
    assert!(second.sent.is_empty(), "no flicker before it has something to say");
    second.record_and_serve(started());
    let pane = second.pane();
    assert_eq!(pane.agent_status, "working");
    assert_eq!((pane.title, pane.tokens.len()), (None, 0), "the first one's go");
    assert!(first.sent_to("pane.release_agent").next().is_none());
    assert_eq!(second.close(), Ended::Released);
    assert_eq!(second.pane().agent, None);
}

#[test]
fn b17_a_successor_that_never_says_anything_still_releases() {
    let mut first = World::working();
    let mut second = World::after(&mut first);
    second.machine.inherit(first.machine.predecessor_claim());
    assert_eq!(second.close(), Ended::Released);
    assert_eq!(second.pane().agent, None);
}

#[test]
fn b17_a_successor_that_releases_at_once_releases_the_row_that_is_there() {
    let mut first = World::new();
    first.record(started());
    first.record_and_serve(title("T"));
    let mut second = World::after(&mut first);
    second.machine.inherit(first.machine.predecessor_claim());
    second.record_and_serve(AgentEvent::Release);
    assert_eq!((second.pane().agent, second.pane().title), (None, None));
}

#[test]
fn b17_a_successor_releases_the_row_on_the_pane_that_was_found_again() {
    // The predecessor has found its pane again under another id.
    let mut first = World::at(Home::Pane(PANE.into()), Config::default(), Model::new());
    first.record_and_serve(started());
    let destination = json!({"type": "new_workspace", "label": "x"});
    first.split();
    first.foreign_call("pane.move", &json!({"pane_id": PANE, "destination": destination}));
    let moved = first.model.pane_ids().into_iter().find(|id| id.starts_with("w2:")).unwrap();
    first.home = Home::Pane(moved.clone());
    first.hand_off();
    first.serve_for(Duration::from_secs(3));
    assert_eq!(first.seen(&moved).agent.as_deref(), Some(AGENT));

    let mut second =
        World::at(first.home.clone(), Config::default(), std::mem::take(&mut first.model));
    second.elapsed = first.elapsed;
    second.machine.inherit(first.machine.predecessor_claim());
    assert_eq!(second.close(), Ended::Released);
    assert_eq!(second.seen(&moved).agent, None);
}
