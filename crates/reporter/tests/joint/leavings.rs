//! What a run that was killed leaves on the pane is cleared by the next one.

use fake_herdr::Model;
use herdr_reporter::machine::{Input, PaneCall};
use herdr_reporter::sidecar::Leavings;
use herdr_reporter::{AgentEvent, Config, Ended};
use serde_json::json;

use crate::events::{answered, asked, blocked, started, state, title, token};
use crate::fates::Fate;
use crate::one_shots::{one_shot, report_once};
use crate::world::{AGENT, MINUTE, SECOND, World};

#[test]
fn b13_the_title_of_a_killed_run_is_cleared() {
    let mut world = World::new();
    world.record(started());
    world.record_and_serve(title("of the run that was killed"));
    let mut next = World::after(&mut world);
    next.record_and_serve(started());
    assert_eq!(next.pane().title, None);
    assert_eq!(next.pane().agent_status, "working");
}

#[test]
fn f24_the_first_claim_clears_what_a_killed_run_left() {
    let mut dead = World::new();
    dead.record(started());
    dead.record(title("dead"));
    dead.record(AgentEvent::model_changed(Some("m".into()), None));
    dead.record(AgentEvent::usage_changed(5_000));
    dead.record(token("branch", Some("main")));
    dead.record_and_serve(token("taken", Some("v")));
    assert_eq!(dead.pane().tokens.len(), 4);
    let mut next = World::after(&mut dead);
    next.machine.take_off(dead.noted);
    let theirs = json!({"source": "custom:x", "tokens": {"theirs": "v", "taken": "theirs"}});
    next.foreign("pane.report_metadata", theirs);
    next.record_and_serve(started());
    let pane = next.pane();
    assert_eq!((pane.agent_status.as_str(), pane.title), ("working", None));
    assert_eq!(pane.tokens.into_keys().collect::<Vec<_>>(), ["taken", "theirs"]);
    // A token that appears later belongs to another writer.
    next.foreign("pane.report_metadata", json!({"source": "custom:x", "tokens": {"ctx": "9k"}}));
    next.serve_for(MINUTE);
    assert_eq!(next.pane().tokens["ctx"], "9k");
}

#[test]
fn f24_a_token_that_was_in_flight_at_the_kill_is_cleared_as_well() {
    let mut dead = World::new();
    dead.record(started());
    dead.record_and_serve(token("branch", Some("main")));
    dead.record(token("branch", Some("dev")));
    // The server takes the token, and the process is killed before the answer.
    let (left, sent) = (dead.noted.clone(), dead.in_flight.as_ref().unwrap().call.clone());
    dead.model.request(dead.elapsed, &sent.encode("t").unwrap());
    assert_eq!(dead.pane().tokens["branch"], "dev");
    let mut next = World::after(&mut dead);
    next.machine.take_off(left);
    next.record_and_serve(started());
    assert!(next.pane().tokens.is_empty(), "{:?}", next.pane().tokens);
}

#[test]
fn f24_a_run_that_ends_at_once_clears_what_a_killed_run_left() {
    let mut dead = World::new();
    dead.record(started());
    dead.record_and_serve(token("branch", Some("main")));
    let left = dead.noted.clone();
    let mut next = World::after(&mut dead);
    next.machine.take_off(left.clone());
    next.record(started());
    next.meet(Fate::Served);
    assert_eq!(next.noted, left, "until it is taken off, it is still noted");
    assert_eq!(next.close(), Ended::Released);
    assert!(next.pane().tokens.is_empty(), "{:?}", next.pane().tokens);
    assert_eq!(next.noted, Leavings::default());
}

#[test]
fn f24_a_run_that_ends_on_a_frozen_server_leaves_a_note() {
    let mut dead = World::new();
    dead.record(started());
    dead.record_and_serve(token("branch", Some("main")));
    dead.record(token("branch", Some("dev")));
    dead.begin_close();
    dead.meet_for(SECOND * 5, |_| Fate::Frozen);
    assert_eq!(dead.ended, Some(Ended::NotReleased));
    // The server is killed before it applies anything, and its successor has kept the tokens.
    dead.lose_what_is_frozen();
    assert_eq!(dead.pane().tokens["branch"], "main");
    let mut next = World::after(&mut dead);
    next.machine.take_off(dead.noted);
    next.record_and_serve(started());
    assert!(next.pane().tokens.is_empty(), "{:?}", next.pane().tokens);
}

#[test]
fn f24_a_run_that_is_killed_while_it_clears_keeps_the_note() {
    let mut dead = World::new();
    dead.record(started());
    dead.record_and_serve(token("branch", Some("main")));
    let mut second = World::after(&mut dead);
    second.machine.take_off(dead.noted);
    second.record(started());
    // The clear gets no answer and is never applied, and this run is killed as well.
    second.meet_for(SECOND * 3, |call| match call {
        PaneCall::Metadata(_) => Fate::Broken,
        _ => Fate::Served,
    });
    assert_eq!(second.pane().tokens["branch"], "main");
    let mut third = World::after(&mut second);
    third.machine.take_off(second.noted);
    third.record_and_serve(started());
    assert!(third.pane().tokens.is_empty(), "{:?}", third.pane().tokens);
}

#[test]
fn f24_a_note_stays_readable_however_often_an_unanswered_token_changes() {
    let mut dead = World::new();
    dead.record(started());
    dead.record_and_serve(token("count", Some("first")));
    for count in 0..500 {
        dead.record(token("count", Some(&format!("n{count}"))));
        dead.meet_for(SECOND * 4, |call| match call {
            PaneCall::Metadata(_) => Fate::Broken,
            _ => Fate::Served,
        });
    }
    // The server applies the last report after all, and the run is killed before the answer.
    let sent = dead.sent_to("pane.report_metadata").last().unwrap()["tokens"].clone();
    assert!(sent["count"].as_str().unwrap().starts_with("n4"), "{sent}");
    dead.foreign("pane.report_metadata", json!({"source": AGENT, "tokens": sent}));
    assert_eq!(dead.pane().tokens["count"], sent["count"]);
    let lease = tempfile::tempfile().unwrap();
    dead.noted.note_in(&lease).unwrap();
    let mut next = World::after(&mut dead);
    next.machine.take_off(Leavings::noted_in(&lease));
    next.record_and_serve(started());
    assert!(next.pane().tokens.is_empty(), "{:?}", next.pane().tokens);
}

#[test]
fn f24_a_one_shot_clears_what_a_killed_run_left() {
    let mut dead = World::new();
    dead.record(started());
    dead.record(title("dead"));
    dead.record_and_serve(token("branch", Some("main")));
    let at = dead.elapsed + SECOND;
    let mut next = one_shot(AGENT, vec![state("idle")], at, std::mem::take(&mut dead.model));
    next.machine.take_off(dead.noted);
    next.step(Input::Timer);
    next.serve_for(SECOND);
    let pane = next.pane();
    assert_eq!((pane.agent_status.as_str(), pane.title), ("idle", None));
    assert!(pane.tokens.is_empty(), "{:?}", pane.tokens);
}

#[test]
fn f24_the_next_owner_clears_the_reason_of_a_one_shot() {
    let mut model = Model::new();
    report_once(&mut model, SECOND, vec![blocked("why")]);
    let mut owner = World::with(Config::default(), model);
    owner.elapsed = SECOND * 2;
    owner.record(asked(""));
    owner.record(answered());
    owner.serve_for(SECOND * 2);
    assert!(owner.pane().state_labels.is_empty(), "{:?}", owner.pane());
}
