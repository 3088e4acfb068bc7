//! The last request is the release, and nothing of ours stays on the pane.

use std::time::Duration;

use herdr_reporter::machine::{Input, PaneCall};
use herdr_reporter::{AgentEvent, Ended};
use serde_json::json;

use crate::events::{asked, settled, started, title};
use crate::fates::Fate;
use crate::world::{AGENT, CLOSE_BUDGET, PANE, SECOND, World};

#[test]
fn a_close_clears_then_releases() {
    let mut world = World::shown();
    assert_eq!(world.close(), Ended::Released);
    let pane = world.pane();
    assert_eq!((pane.agent, pane.title, pane.tokens.len()), (None, None, 0));
    let end = &world.methods()[world.methods().len() - 5..];
    let clear = "pane.report_metadata";
    assert_eq!(end, ["pane.get", clear, clear, "agent.explain", "pane.release_agent"]);
}

#[test]
fn a_claim_in_flight_is_released() {
    let mut world = World::new();
    world.record(started());
    assert!(world.in_flight.is_some());
    assert_eq!(world.close(), Ended::Released);
    assert_eq!(world.methods().last(), Some(&"pane.release_agent"));
}

/// The server reads each connection by itself, so it may apply a release before a claim that got no
/// answer, and the release has no effect then.
#[test]
fn a_claim_that_comes_after_the_release_is_stale() {
    let close = Input::Close { budget: CLOSE_BUDGET };
    let mut timed_out = World::new();
    timed_out.record(started());
    timed_out.meet(Fate::Frozen);
    timed_out.step(close.clone());

    let mut given_up = World::new();
    given_up.record(started());
    given_up.step(close);
    given_up.pass(Duration::from_millis(250));

    let mut given_back = World::new();
    given_back.record(started());
    given_back.meet(Fate::Frozen);
    given_back.record(AgentEvent::Release);

    for (world, ends) in [(&mut timed_out, true), (&mut given_up, true), (&mut given_back, false)] {
        world.meet_for(SECOND * 3, |_| Fate::Overtakes);
        assert_eq!(world.ended, ends.then_some(Ended::Released));
        assert_eq!(world.methods().last(), Some(&"pane.release_agent"));
        assert_eq!(world.pane().agent, None);
        world.thaw();
        assert_eq!(world.pane().agent, None, "{:?}", world.sent);
    }
}

/// The release is still sent in time, and the end says that the row may come back.
#[test]
fn a_claim_that_cannot_be_repeated_does_not_hold_up_the_release() {
    for fate in [Fate::Frozen, Fate::Broken, Fate::Refused("invalid_request")] {
        let mut world = World::new();
        world.record(started());
        world.begin_close();
        world.pass(Duration::from_millis(250));
        assert_eq!(world.sent_to("pane.report_agent").count(), 2);
        world.meet_for(SECOND, |call| match call {
            PaneCall::Release(_) => Fate::Overtakes,
            _ => fate,
        });
        assert_eq!(world.ended, Some(Ended::NotReleased), "{fate:?}");
        assert_eq!(world.methods().last(), Some(&"pane.release_agent"), "{fate:?}");
        assert!(world.sent_to("pane.report_agent").count() < 6, "{fate:?}");
    }
}

/// A server that was only away for a moment gets the claim a moment later.
#[test]
fn a_repeated_claim_survives_a_broken_connection() {
    let mut world = World::new();
    world.record(started());
    world.begin_close();
    world.pass(Duration::from_millis(250));
    world.meet(Fate::Broken);
    world.meet_for(SECOND, |_| Fate::Overtakes);
    assert_eq!(world.ended, Some(Ended::Released));
    world.thaw();
    assert_eq!(world.pane().agent, None);
}

#[test]
fn nothing_is_sent_for_a_pane_that_was_never_claimed() {
    let mut world = World::new();
    world.record(title("T"));
    assert_eq!(world.close(), Ended::NothingToRelease);
    assert!(world.sent.is_empty());
}

#[test]
fn pending_changes_are_dropped_and_settling_ends() {
    let mut world = World::shown();
    world.record(settled());
    world.record(title("on its way"));
    world.record(title("late"));
    assert_eq!(world.close(), Ended::Released);
    assert!(world.sent_to("pane.report_agent").all(|p| p["state"] == "working"));
    let counters = world.counters();
    assert!(counters.dropped >= 1);
    // The last title was not delivered: a clear is sent instead.
    assert_eq!((counters.dropped, counters.delivered, counters.pending), (2, 4, 0));
}

#[test]
fn a_token_that_shows_another_writers_text_stays() {
    let mut world = World::shown();
    let theirs = json!({"source": "custom:x", "tokens": {"branch": "theirs"}});
    world.foreign("pane.report_metadata", theirs);
    world.close();
    assert_eq!(world.pane().tokens["branch"], "theirs");
}

#[test]
fn a_frozen_server_gets_the_release_and_is_left_in_time() {
    let mut world = World::shown();
    world.record(asked("x"));
    assert!(world.in_flight.is_some());
    world.begin_close();
    world.pass(Duration::from_millis(600));
    assert_eq!(world.ended, Some(Ended::NotReleased));
    assert_eq!(world.methods().last(), Some(&"pane.release_agent"));
    world.thaw();
    assert_eq!(world.pane().agent, None, "whatever the order in which it wakes up");
}

#[test]
fn a_failed_clear_does_not_hold_up_the_release() {
    let mut world = World::shown();
    world.begin_close();
    world.meet(Fate::Served); // the read-back
    world.meet(Fate::Broken); // the clear
    world.serve_for(SECOND);
    assert_eq!(world.ended, Some(Ended::ReleasedUncleared));
    assert_eq!(world.pane().agent, None);
}

#[test]
fn a_close_does_not_wait_for_a_server_that_has_been_gone() {
    let mut world = World::new();
    world.record(started());
    world.meet(Fate::Unreachable);
    assert!(world.wake.is_some(), "it waits to try again");
    world.begin_close();
    assert_eq!(world.ended, Some(Ended::NothingToRelease));
}

#[test]
fn a_server_that_is_just_being_replaced_still_gets_the_release() {
    let mut world = World::shown();
    world.begin_close();
    while world.methods().last() != Some(&"pane.release_agent") {
        world.meet(Fate::Served);
    }
    world.meet(Fate::Unreachable);
    world.meet(Fate::Unreachable);
    world.serve_for(SECOND);
    assert_eq!(world.ended, Some(Ended::Released));
    assert_eq!(world.pane().agent, None);
}

#[test]
fn a_server_that_goes_while_it_is_asked_to_release_is_asked_again() {
    let mut world = World::shown();
    world.begin_close();
    while world.methods().last() != Some(&"pane.release_agent") {
        world.meet(Fate::Served);
    }
    world.meet(Fate::Broken);
    assert_eq!(world.pane().agent.as_deref(), Some(AGENT));
    world.serve_for(SECOND);
    assert_eq!(world.ended, Some(Ended::Released));
    assert_eq!(world.pane().agent, None);

    let mut world = World::shown();
    world.begin_close();
    world.meet_for(SECOND, |_| Fate::Broken);
    assert_eq!(world.ended, Some(Ended::NotReleased));
    let releases = world.sent_to("pane.release_agent").count();
    assert!((2..=11).contains(&releases), "{releases} releases in half a second");
}

#[test]
fn a_closed_pane_has_nothing_to_release() {
    let mut world = World::shown();
    world.model.close_pane(world.elapsed, PANE);
    world.begin_close();
    world.serve_for(SECOND);
    assert_eq!(world.ended, Some(Ended::NothingToRelease));
}
