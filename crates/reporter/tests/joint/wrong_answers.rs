//! Servers that answer one thing and do another.

use std::time::Duration;

use herdr_proto::PaneInfo;
use herdr_reporter::machine::{Answer, PaneCall};
use herdr_reporter::{DiagnosticKind, Ended, Outcome};
use serde_json::json;

use crate::fates::Fate;
use crate::world::{SECOND, World};

#[test]
fn a_server_that_says_ok_and_applies_nothing_is_reported_once() {
    let mut world = World::decorated();
    world.meet_for(SECOND, |_| Fate::Pretended);
    assert_eq!(world.raised(), [DiagnosticKind::Ignored]);
    let outcomes: Vec<Outcome> = world.receipts.iter().map(|receipt| receipt.outcome).collect();
    assert!(!outcomes.contains(&Outcome::Applied), "{outcomes:?}");
    assert!(outcomes.contains(&Outcome::Ignored), "{outcomes:?}");

    let before = world.sent.len();
    world.meet_for(Duration::from_secs(50), |_| Fate::Pretended);
    let more = world.methods().split_off(before);
    assert!(more.iter().all(|method| *method == "pane.get") && more.len() <= 13, "{more:?}");
    world.begin_close();
    world.meet_for(SECOND, |_| Fate::Pretended);
    assert!(world.ended.is_some());
    assert_eq!(world.methods().last(), Some(&"pane.release_agent"));
    assert_eq!(world.raised(), [DiagnosticKind::Ignored]);
}

#[test]
fn an_answer_about_another_pane_costs_little() {
    let mut world = World::decorated();
    let other = json!({"pane_id": "w9:p9", "agent": "other", "agent_status": "blocked"});
    let other: PaneInfo = serde_json::from_value(other).unwrap();
    let until = world.elapsed + Duration::from_secs(30);
    while world.elapsed < until {
        match &world.in_flight {
            Some(request) if matches!(request.call, PaneCall::Get(_)) => {
                world.answer(Ok(Answer::Pane(other.clone())));
            }
            Some(_) => world.meet(Fate::Served),
            None => world.pass(Duration::from_millis(50)),
        }
    }
    let reports = world.sent_to("pane.report_agent").count();
    assert!(reports <= 6 && world.sent.len() < 40, "{reports} of {} requests", world.sent.len());
    assert!(world.raised().iter().all(|kind| *kind == DiagnosticKind::Ignored));
    assert_eq!(world.diagnostics.len(), 1, "{:?}", world.diagnostics);
    assert_eq!(world.pane().agent_status, "working", "what is true stays");
    assert_eq!(world.close(), Ended::Released);
}

#[test]
fn an_error_code_is_shortened_and_cleaned() {
    let code = format!("\u{9b}31m{}", "x".repeat(100_000));
    let reply = json!({"id": "", "error": {"code": code, "message": "m"}}).to_string();
    let call = PaneCall::Ping(herdr_proto::Ping::default());
    let failure = call.decode(reply.as_bytes()).unwrap_err();
    assert!(failure.detail.len() < 200 && !failure.detail.contains('\u{9b}'));
}
