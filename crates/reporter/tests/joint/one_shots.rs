//! Commands that report once and end, on a pane without an owner.

use std::time::Duration;

use fake_herdr::Model;
use herdr_proto::{AgentLabel, PaneId, SourceId};
use herdr_reporter::machine::{Claim, Input, OneShot};
use herdr_reporter::{AgentEvent, Config, Outcome, Part};
use serde_json::json;

use crate::events::{blocked, labels, session, settled, state, title, token};
use crate::fates::Fate;
use crate::world::{AGENT, EPOCH, Home, PANE, SECOND, SOURCE, World};

/// The claim of `custom:AGENT`, in a world in which the processes of the pane are not asked for.
pub(crate) fn claim(agent: &str) -> Claim {
    let mut claim = Claim::new(
        PaneId::parse(PANE).unwrap(),
        SourceId::parse(format!("custom:{agent}")).unwrap(),
        AgentLabel::parse(agent).unwrap(),
        Config::default(),
    );
    claim.config.any_pane = true;
    claim
}

pub(crate) fn world_of(claim: Claim, model: Model) -> World {
    World::of(claim, Home::Unknown, Config::default(), model)
}

/// A one-shot whose process was started this long after the epoch. Nothing is served yet.
pub(crate) fn one_shot(
    agent: &str,
    events: Vec<AgentEvent>,
    started: Duration,
    model: Model,
) -> World {
    let mut claim = claim(agent);
    let micros = EPOCH + u64::try_from(started.as_micros()).unwrap();
    claim.once = Some(OneShot::new(events, micros));
    let mut world = world_of(claim, model);
    world.elapsed = started;
    world
}

/// Runs a one-shot to its end on a healthy server.
pub(crate) fn report_once(model: &mut Model, at: Duration, events: Vec<AgentEvent>) -> World {
    let mut world = one_shot(AGENT, events, at, std::mem::take(model));
    world.step(Input::Timer);
    world.serve_for(SECOND);
    assert!(world.quiet && world.in_flight.is_none());
    *model = std::mem::take(&mut world.model);
    world
}

#[test]
fn f15_the_one_shot_that_was_started_last_wins() {
    // Four one-shots that were started earlier reach the server after the fifth.
    let mut model = Model::new();
    let at = Duration::from_millis(100);
    report_once(&mut model, at, vec![state("idle")]);
    for started in [1, 2, 3, 4] {
        let begun = Duration::from_millis(started);
        let mut late = one_shot(AGENT, vec![state("working")], begun, std::mem::take(&mut model));
        late.elapsed = at * 2;
        late.step(Input::Timer);
        late.meet(Fate::Served);
        // By now the caller knows that the fifth has reported.
        late.step(Input::Superseded);
        late.serve_for(SECOND);
        assert!(late.quiet && late.sent_to("pane.report_agent").count() <= 1);
        assert_eq!(late.outcomes(Part::State), [Outcome::Superseded]);
        assert_eq!(late.pane().agent_status, "idle");
        model = late.model;
    }
    // A sequence mark from the future is not the start of a later process, so a higher number is
    // sent.
    let ahead = EPOCH + 3_600_000_000;
    let mut world = one_shot(AGENT, vec![state("working")], at * 3, model);
    let theirs = json!({"source": SOURCE, "agent": AGENT, "state": "idle", "seq": ahead});
    world.foreign("pane.report_agent", theirs);
    world.step(Input::Timer);
    world.serve_for(SECOND);
    assert_eq!(world.pane().agent_status, "working");
    assert_eq!(world.outcomes(Part::State), [Outcome::Applied]);
}

#[test]
fn f17_a_new_session_does_not_change_the_reason() {
    let mut model = Model::new();
    report_once(&mut model, SECOND, vec![blocked("why")]);
    let world = report_once(&mut model, SECOND * 2, vec![session("s1")]);
    let pane = model.observe(SECOND * 3, PANE).unwrap();
    assert_eq!(
        (pane.agent_status.as_str(), pane.state_labels["blocked"].as_str()),
        ("blocked", "why")
    );
    assert_eq!(world.sent_to("pane.report_agent").next().unwrap()["agent_session_id"], "s1");
    report_once(&mut model, SECOND * 4, vec![state("working")]);
    let pane = model.observe(SECOND * 5, PANE).unwrap();
    assert!(pane.state_labels.is_empty(), "a reason that is over goes: {pane:?}");
}

#[test]
fn a_one_shot_edits_what_others_have_set_and_leaves_it_there() {
    let mut model = Model::new();
    let mut at = Duration::ZERO;
    let mut next = |model: &mut Model, events| {
        at += SECOND * 2;
        report_once(model, at, events);
        model.observe(at + SECOND, PANE).unwrap()
    };
    next(&mut model, vec![title("T")]);
    let pane = next(
        &mut model,
        vec![labels(&[("idle", Some("at rest")), ("blocked", Some("needs you"))])],
    );
    assert_eq!(pane.title.as_deref(), Some("T"));
    let pane = next(&mut model, vec![state("idle"), token("branch", Some("main"))]);
    assert_eq!((pane.agent_status.as_str(), pane.title.as_deref()), ("idle", Some("T")));
    let pane = next(&mut model, vec![labels(&[("idle", None)])]);
    assert_eq!(
        pane.state_labels.into_iter().collect::<Vec<_>>(),
        [("blocked".into(), "needs you".into())]
    );
    let pane = next(&mut model, vec![token("branch", None), title("")]);
    assert_eq!((pane.title, pane.tokens.len()), (None, 0));
    let pane = next(&mut model, vec![settled(), title("T2")]);
    assert_eq!(pane.agent_status, "idle");
    let pane = next(&mut model, vec![AgentEvent::Release]);
    assert_eq!((pane.agent, pane.title, pane.state_labels.len()), (None, None, 0));
    let pane = next(&mut model, vec![AgentEvent::Release, state("working")]);
    assert_eq!(pane.agent_status, "working");
}
