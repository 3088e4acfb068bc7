//! What a server refuses: it costs little, keeps nothing up that it is not
//! about, and what is about the moment is tried again.

use std::time::Duration;

use fake_herdr::Model;
use herdr_reporter::machine::{Input, PaneCall};
use herdr_reporter::{Config, DiagnosticKind, Ended};
use serde_json::json;

use crate::events::{asked, started};
use crate::world::{AGENT, Fate, Home, PANE, World};

const SECOND: Duration = Duration::from_secs(1);
const BUDGET: Duration = Duration::from_millis(500);

#[test]
fn a_refusal_that_is_not_about_the_request_is_not_asked_in_a_loop() {
    let refused = |_: &PaneCall| Fate::Refused("invalid_resume_argv");
    let mut world = World::new();
    world.tell(started());
    world.meet_for(Duration::from_secs(10), refused);
    assert!(world.sent.len() < 10, "{} requests in ten seconds", world.sent.len());

    let mut world = World::shown();
    let before = world.sent.len();
    world.tell(herdr_reporter::AgentEvent::Release);
    world.meet_for(Duration::from_secs(10), refused);
    assert!(world.sent.len() - before < 20, "{} more", world.sent.len() - before);
}

#[test]
fn b32_a_search_that_is_put_off_goes_on() {
    let mut world = World::at(Home::Pane(PANE.into()), Config::default(), Model::new());
    world.tell(started());
    world.serve_for(SECOND);
    world.foreign_call("pane.split", &json!({"target_pane_id": PANE, "direction": "right"}));
    let beside = world.model.pane_ids().into_iter().find(|id| id != PANE).unwrap();
    world.model.live_handoff(world.elapsed);
    world.home = Home::Pane(beside.clone());
    world.step(Input::ServerChanged);
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
fn a_release_that_is_put_off_is_asked_for_again() {
    for code in ["server_unavailable", "rate_limited", "internal_error"] {
        let mut world = World::shown();
        world.step(Input::Close { budget: BUDGET });
        let mut refused = 0;
        world.meet_for(SECOND, |call| match call {
            PaneCall::Release(_) if refused < 2 => {
                refused += 1;
                Fate::Refused(code)
            }
            _ => Fate::Served,
        });
        assert_eq!(world.ended, Some(Ended::Released), "{code}");
        assert_eq!(world.pane().agent, None, "{code}");
    }
    // One that will not be taken is not asked for again.
    let mut world = World::shown();
    world.step(Input::Close { budget: BUDGET });
    world.meet_for(SECOND, |call| match call {
        PaneCall::Release(_) => Fate::Refused("invalid_agent"),
        _ => Fate::Served,
    });
    assert_eq!(world.ended, Some(Ended::NotReleased));
    assert_eq!(world.sent_to("pane.release_agent").count(), 1);
}

#[test]
fn what_was_on_its_way_when_the_end_began_keeps_no_clear_up() {
    for fate in [Fate::Refused("invalid_request"), Fate::Broken, Fate::Unreachable] {
        let mut world = World::shown();
        world.tell(asked("x"));
        assert!(matches!(world.in_flight.as_ref().unwrap().call, PaneCall::Report(_)));
        world.step(Input::Close { budget: BUDGET });
        world.resolve(fate);
        world.serve_for(SECOND);
        assert_eq!(world.ended, Some(Ended::Released), "{fate:?}");
        let pane = world.pane();
        assert_eq!((pane.agent, pane.title, pane.tokens.len()), (None, None, 0), "{fate:?}");
    }
}

#[test]
fn a_server_that_refuses_to_be_read_still_gets_the_clears() {
    let mut world = World::shown();
    world.step(Input::Close { budget: BUDGET });
    world.meet_for(SECOND, |call| match call {
        PaneCall::Get(_) => Fate::Refused("unknown_method"),
        _ => Fate::Served,
    });
    assert_eq!(world.ended, Some(Ended::Released));
    let pane = world.pane();
    assert_eq!((pane.agent, pane.title, pane.tokens.len()), (None, None, 0));
}

#[test]
fn a_clear_that_is_refused_is_not_asked_for_again() {
    let mut world = World::shown();
    world.step(Input::Close { budget: BUDGET });
    world.meet_for(SECOND, |call| match call {
        PaneCall::Metadata(_) => Fate::Refused("invalid_request"),
        _ => Fate::Served,
    });
    assert_eq!(world.ended, Some(Ended::ReleasedUncleared));
    let end = world.methods().split_off(world.sent.len() - 3);
    assert_eq!(end, ["pane.get", "pane.report_metadata", "pane.release_agent"]);
    assert_eq!(world.diagnostics.iter().map(|it| it.kind).collect::<Vec<DiagnosticKind>>(), []);
}

#[test]
fn what_could_not_be_cleared_before_a_release_is_cleared_later() {
    let mut world = World::shown();
    world.tell(herdr_reporter::AgentEvent::Release);
    world.meet_for(SECOND, |call| match call {
        PaneCall::Metadata(_) => Fate::Refused("invalid_request"),
        _ => Fate::Served,
    });
    let pane = world.pane();
    assert_eq!((pane.agent, pane.tokens.len()), (None, 1));
    world.serve_for(Duration::from_secs(61));
    assert!(world.pane().tokens.is_empty(), "{:?}", world.methods());
    assert_eq!(world.close(), Ended::NothingToRelease);
}

#[test]
fn a_release_that_is_refused_is_asked_for_again_after_a_rest_and_at_the_end() {
    let mut world = World::shown();
    world.tell(herdr_reporter::AgentEvent::Release);
    let refused = |call: &PaneCall| match call {
        PaneCall::Release(_) => Fate::Refused("report_failed"),
        _ => Fate::Served,
    };
    world.meet_for(Duration::from_secs(50), refused);
    let asked = world.sent_to("pane.release_agent").count();
    assert!((10..=20).contains(&asked), "{asked} in 50 s");
    assert_eq!(world.close(), Ended::Released);
    assert_eq!(world.pane().agent, None);
}
