//! Agents that Herdr detects keep their row; without one, the reporter claims the row.

use std::time::Duration;

use fake_herdr::Model;
use herdr_proto::AgentLabel;
use herdr_reporter::machine::{Input, OneShot};
use herdr_reporter::{AgentEvent, Ended, Outcome, Part};

use crate::events::{asked, blocked, started, state, title, token};
use crate::one_shots::{claim, one_shot, world_of};
use crate::world::{AGENT, EPOCH, MINUTE, PANE, SECOND, World};

/// A supervisor with a label that the user has not set.
fn supervisor(agent: &str, leave_state: bool) -> World {
    let mut claim = claim(agent);
    claim.config.leave_state = leave_state;
    claim.config.own_label = false;
    world_of(claim, Model::new())
}

#[test]
fn f11_a_default_label_gives_way_to_the_agent_that_herdr_detects() {
    let mut world = supervisor("npx", false);
    world.record(state("idle"));
    world.record_and_serve(title("T"));
    assert_eq!(world.pane().agent.as_deref(), Some("npx"));
    world.model.agent_appears(world.elapsed, PANE, "claude", "working");
    assert_eq!(world.pane().agent.as_deref(), Some("npx"), "a claim hides it");
    world.serve_for(Duration::from_secs(5));
    let pane = world.pane();
    assert_eq!((pane.agent.as_deref(), pane.title.as_deref()), (Some("claude"), Some("T")));
    assert_eq!(world.model.authority(PANE), None);
    assert_eq!(world.machine.state_left_to().map(AgentLabel::as_str), Some("claude"));
    // The reason of a block shows under the row of the detected agent.
    world.record_and_serve(asked("Run it?"));
    assert_eq!(world.pane().state_labels["blocked"], "Run it?");
    assert_eq!(world.close(), Ended::Released);
    let pane = world.pane();
    assert_eq!((pane.agent.as_deref(), pane.title), (Some("claude"), None));
    assert!(world.sent_to("pane.release_agent").next().is_none());
}

#[test]
fn f11_tokens_outlive_the_claim_that_gave_way() {
    let mut world = supervisor("npx", false);
    world.record(state("idle"));
    world.record_and_serve(token("branch", Some("main")));
    world.model.agent_appears(world.elapsed, PANE, "claude", "working");
    for _ in 0..400 {
        world.serve_for(Duration::from_secs(1));
        assert_eq!(world.pane().tokens["branch"], "main", "{:?}", world.elapsed);
    }
    assert_eq!(world.pane().agent.as_deref(), Some("claude"));
}

#[test]
fn f11_a_default_label_takes_the_row_back_when_the_detected_agent_ends() {
    let mut world = supervisor("npx", false);
    world.record_and_serve(state("working"));
    world.model.agent_appears(world.elapsed, PANE, "claude", "idle");
    world.serve_for(Duration::from_secs(5));
    assert_eq!(world.pane().agent.as_deref(), Some("claude"));
    world.model.agent_exits(world.elapsed, PANE);
    world.serve_for(Duration::from_secs(9));
    let pane = world.pane();
    assert_eq!((pane.agent.as_deref(), pane.agent_status.as_str()), (Some("npx"), "working"));
    assert_eq!(world.close(), Ended::Released);
    assert_eq!(world.pane().agent, None);
}

#[test]
fn f27_if_herdr_shows_no_agent_we_report_the_state() {
    let mut world = supervisor("claude", true);
    world.record(state("idle"));
    world.record(title("T"));
    world.serve_for(Duration::from_millis(2_500));
    assert_eq!(world.pane().agent, None, "Herdr gets time");
    world.record_and_serve(asked("May I?"));
    let pane = world.pane();
    assert_eq!((pane.agent.as_deref(), pane.agent_status.as_str()), (Some("claude"), "blocked"));
    assert_eq!(pane.state_labels["blocked"], "May I?");
    assert_eq!(world.close(), Ended::Released);
    assert_eq!((world.pane().agent, world.pane().title), (None, None));
}

#[test]
fn f27_if_herdr_shows_the_agent_the_state_is_left_to_it() {
    let mut world = supervisor("claude", true);
    world.model.agent_appears(world.elapsed, PANE, "claude", "working");
    world.record(state("idle"));
    world.record(title("T"));
    world.record(token("branch", Some("main")));
    world.serve_for(MINUTE);
    let pane = world.pane();
    assert_eq!((pane.agent_status.as_str(), pane.title.as_deref()), ("working", Some("T")));
    assert!(world.sent_to("pane.report_agent").next().is_none());
    assert!(world.outcomes(Part::Presentation).contains(&Outcome::Applied));
    assert_eq!(world.close(), Ended::Released);
    let pane = world.pane();
    assert_eq!((pane.agent.as_deref(), pane.title, pane.tokens.len()), (Some("claude"), None, 0));
    assert!(world.sent_to("pane.release_agent").next().is_none());
}

#[test]
fn f27_the_state_is_left_to_herdr_again_once_it_detects_the_agent() {
    let mut world = supervisor("claude", true);
    world.record(state("working"));
    world.serve_for(Duration::from_secs(4));
    assert_eq!(world.model.authority(PANE).unwrap().1, "claude");
    world.model.agent_appears(world.elapsed, PANE, "claude", "blocked");
    world.serve_for(Duration::from_secs(10));
    let pane = world.pane();
    assert_eq!(world.model.authority(PANE), None, "{:?}", world.methods());
    assert_eq!((pane.agent.as_deref(), pane.agent_status.as_str()), (Some("claude"), "blocked"));
}

#[test]
fn f31_after_a_claim_over_a_detected_agent_its_row_comes_back() {
    let begin = |model: Model| {
        let mut world = world_of(claim("my-bot"), model);
        world.model.agent_appears(world.elapsed, PANE, "claude", "idle");
        world.record(started());
        world.serve_for(Duration::from_secs(10));
        assert_eq!(world.pane().agent.as_deref(), Some("my-bot"), "it was asked for");
        world
    };
    let mut closed = begin(Model::new());
    assert_eq!(closed.close(), Ended::Released);
    let mut given_back = begin(Model::new());
    given_back.record_and_serve(AgentEvent::Release);
    for world in [closed, given_back] {
        assert_eq!(world.pane().agent.as_deref(), Some("claude"));
        assert_eq!(world.methods().last(), Some(&"pane.clear_agent_authority"));
    }
    // A server without that method gets a release.
    let mut world = begin(Model::new());
    world.step(Input::Close { budget: SECOND });
    world.refuse_for(SECOND, "pane.clear_agent_authority", "unsupported");
    assert_eq!(world.ended, Some(Ended::Released));
    assert_eq!(world.methods().last(), Some(&"pane.release_agent"));
}

#[test]
fn f31_one_shots_over_a_detected_agent() {
    let mut model = Model::new();
    assert!(model.agent_appears(Duration::ZERO, PANE, "claude", "idle"));
    let mut asked_for = one_shot("my-bot", vec![state("working")], SECOND, model);
    asked_for.step(Input::Timer);
    asked_for.serve_for(SECOND);
    assert_eq!(asked_for.pane().agent.as_deref(), Some("my-bot"));
    let mut release = one_shot("my-bot", vec![AgentEvent::Release], SECOND * 3, asked_for.model);
    release.step(Input::Timer);
    release.serve_for(SECOND);
    assert_eq!(release.pane().agent.as_deref(), Some("claude"), "{:?}", release.methods());

    let mut claim = claim(AGENT);
    claim.config.own_label = false;
    let events = vec![blocked("why"), title("T")];
    claim.once = Some(OneShot::new(events, EPOCH * 2));
    let mut nobody_asked = world_of(claim, release.model);
    nobody_asked.elapsed = SECOND * 5;
    nobody_asked.step(Input::Timer);
    nobody_asked.serve_for(SECOND);
    let pane = nobody_asked.pane();
    assert_eq!((pane.agent.as_deref(), pane.title.as_deref()), (Some("claude"), Some("T")));
    assert_eq!(pane.state_labels["blocked"], "why");
}
