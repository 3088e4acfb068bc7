//! What a server refuses: a refused request costs little and holds up nothing else, and what may be
//! accepted later is tried again.

use std::time::Duration;

use fake_herdr::Model;
use herdr_reporter::machine::{Input, PaneCall};
use herdr_reporter::{Config, DiagnosticKind, Ended, Outcome, Part, Reason};
use serde_json::json;

use crate::events::{asked, started, title, token};
use crate::fates::Fate;
use crate::world::{Home, MINUTE, PANE, SECOND, World};

#[test]
fn a_refusal_that_is_not_about_the_request_does_not_cause_a_loop() {
    let refused = |_: &PaneCall| Fate::Refused("invalid_resume_argv");
    let mut world = World::new();
    world.record(started());
    world.meet_for(Duration::from_secs(10), refused);
    assert!(world.sent.len() < 10, "{} requests in ten seconds", world.sent.len());

    let mut world = World::shown();
    let before = world.sent.len();
    world.record(herdr_reporter::AgentEvent::Release);
    world.meet_for(Duration::from_secs(10), refused);
    assert!(world.sent.len() - before < 20, "{} more", world.sent.len() - before);
}

#[test]
fn a_refusal_between_broken_connections_is_reported_once() {
    let mut world = World::decorated();
    let mut count = 0;
    world.meet_for(Duration::from_secs(120), |_| {
        count += 1;
        if count % 2 == 0 { Fate::Broken } else { Fate::Refused("not_supported") }
    });
    assert!(count > 20, "{count}");
    let raised = world.raised();
    assert!(raised.len() <= 2, "{count} requests: {raised:?}");
    world.step(Input::ServerChanged);
    world.meet_for(Duration::from_secs(2), |_| Fate::Refused("not_supported"));
    assert_eq!(world.raised()[raised.len()..], [DiagnosticKind::ProtocolRejected], "re-armed");
}

#[test]
fn f23_a_refusal_of_the_old_server_says_nothing_about_the_new_one() {
    let mut world = World::shown();
    world.record(asked("x"));
    world.hand_off();
    world.meet(Fate::Refused("invalid_request"));
    world.serve_for(SECOND);
    let pane = world.pane();
    assert_eq!((pane.agent_status.as_str(), pane.title.as_deref()), ("blocked", Some("T")));
    assert_eq!(world.raised(), []);
}

#[test]
fn f18_a_method_that_fails_backs_off_and_is_reported_once() {
    type Hits = fn(&PaneCall) -> bool;
    let methods: [Hits; 4] = [
        |call| matches!(call, PaneCall::Metadata(_)),
        |call| matches!(call, PaneCall::Report(_)),
        |call| matches!(call, PaneCall::Get(_)),
        |call| matches!(call, PaneCall::Processes(_)),
    ];
    let fates = [Fate::Broken, Fate::Nonsense, Fate::Refused("unknown_method"), Fate::Frozen];
    for (method, fails) in methods.into_iter().enumerate() {
        for fate in fates {
            let mut world = World::at(Home::Pane(PANE.into()), Config::default(), Model::new());
            world.record(started());
            world.record(title("T"));
            world.record(token("branch", Some("main")));
            let mut counts = [0; 5];
            for count in &mut counts {
                let until = |call: &PaneCall| {
                    *count += usize::from(fails(call));
                    if fails(call) { fate } else { Fate::Served }
                };
                world.meet_for(MINUTE, until);
            }
            let case = format!("method {method}, {fate:?}: {counts:?}, {:?}", world.diagnostics);
            assert!(counts[0] <= 20, "{case}");
            assert!(counts[1..].iter().all(|count| *count <= 4), "{case}");
            assert!(world.diagnostics.len() <= 1, "{case}");
            // A failing identity question need not be reported: the pane is claimed without proof.
            assert!(world.diagnostics.len() == 1 || method == 3, "{case}");
            let pane = world.pane();
            if method != 1 {
                assert_eq!(pane.agent_status, "working", "{case}");
            }
            if method != 0 {
                assert_eq!(pane.tokens["branch"], "main", "{case}");
            }
            world.thaw();
            world.serve_for(Duration::from_secs(21));
            let pane = world.pane();
            assert_eq!((pane.agent_status.as_str(), pane.title.as_deref()), ("working", Some("T")));
        }
    }
}

/// Another source holds so many tokens, an even number, on the pane.
fn others_hold_tokens(world: &mut World, count: usize) {
    for part in 0..2 {
        let tokens: serde_json::Map<_, _> =
            (0..count / 2).map(|n| (format!("x{part}-{n}"), json!("v"))).collect();
        world.foreign("pane.report_metadata", json!({"source": "custom:x", "tokens": tokens}));
    }
}

#[test]
fn f19_on_a_full_pane_only_the_new_token_is_left_out_and_named() {
    let mut world = World::new();
    others_hold_tokens(&mut world, 30);
    world.record(started());
    world.record(token("model", Some("m")));
    world.record_and_serve(token("ctx", Some("1k")));
    world.record(token("branch", Some("main")));
    world.record_and_serve(token("ctx", Some("2k")));
    assert_eq!(world.pane().tokens["ctx"], "2k");
    assert_eq!(world.raised(), [DiagnosticKind::ProtocolRejected]);
    assert!(world.diagnostics[0].detail.contains("branch"), "{:?}", world.diagnostics);
    world.serve_for(Duration::from_secs(300));
    world.record_and_serve(token("ctx", Some("3k")));
    let pane = world.pane();
    assert_eq!((pane.tokens["model"].as_str(), pane.tokens["ctx"].as_str()), ("m", "3k"));
    assert_eq!(world.raised().len(), 1);
    let gone = json!({"source": "custom:x", "tokens": {"x0-0": null}});
    world.foreign("pane.report_metadata", gone);
    world.serve_for(Duration::from_secs(31));
    assert_eq!(world.pane().tokens["branch"], "main");
}

#[test]
fn a_full_pane_refuses_the_tokens_and_nothing_else() {
    let mut world = World::new();
    others_hold_tokens(&mut world, 32);
    world.record(started());
    world.record(title("T"));
    world.record_and_serve(token("branch", Some("main")));
    assert_eq!(world.pane().title.as_deref(), Some("T"));
    assert_eq!(world.raised(), [DiagnosticKind::ProtocolRejected]);
    assert_eq!(world.counters().dropped, 1);
}

#[test]
fn what_could_not_be_cleared_before_a_release_is_cleared_later() {
    let mut world = World::shown();
    world.record(herdr_reporter::AgentEvent::Release);
    world.refuse_for(SECOND, "pane.report_metadata", "invalid_request");
    let pane = world.pane();
    assert_eq!((pane.agent, pane.tokens.len()), (None, 1));
    world.serve_for(Duration::from_secs(61));
    assert!(world.pane().tokens.is_empty(), "{:?}", world.methods());
    assert_eq!(world.close(), Ended::NothingToRelease);
}

#[test]
fn a_refused_release_backs_off_and_is_repeated_at_the_end() {
    let mut world = World::shown();
    world.record(herdr_reporter::AgentEvent::Release);
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

#[test]
fn a_release_is_repeated_while_the_server_is_busy() {
    for code in ["server_unavailable", "rate_limited", "internal_error"] {
        let mut world = World::shown();
        world.begin_close();
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
    // A release that the server will not accept later is not repeated.
    let mut world = World::shown();
    world.begin_close();
    world.refuse_for(SECOND, "pane.release_agent", "invalid_agent");
    assert_eq!(world.ended, Some(Ended::NotReleased));
    assert_eq!(world.sent_to("pane.release_agent").count(), 1);
}

#[test]
fn a_failure_of_an_older_request_does_not_stop_the_clears() {
    for fate in [Fate::Refused("invalid_request"), Fate::Broken, Fate::Unreachable] {
        let mut world = World::shown();
        world.record(asked("x"));
        assert!(matches!(world.in_flight.as_ref().unwrap().call, PaneCall::Report(_)));
        world.begin_close();
        world.meet(fate);
        world.serve_for(SECOND);
        assert_eq!(world.ended, Some(Ended::Released), "{fate:?}");
        let pane = world.pane();
        assert_eq!((pane.agent, pane.title, pane.tokens.len()), (None, None, 0), "{fate:?}");
    }
}

#[test]
fn a_server_that_refuses_read_backs_still_gets_the_clears() {
    let mut world = World::shown();
    world.begin_close();
    world.refuse_for(SECOND, "pane.get", "unknown_method");
    assert_eq!(world.ended, Some(Ended::Released));
    let pane = world.pane();
    assert_eq!((pane.agent, pane.title, pane.tokens.len()), (None, None, 0));
}

#[test]
fn a_refused_clear_is_not_repeated() {
    let mut world = World::shown();
    world.begin_close();
    world.refuse_for(SECOND, "pane.report_metadata", "invalid_request");
    assert_eq!(world.ended, Some(Ended::ReleasedUncleared));
    let end = world.methods().split_off(world.sent.len() - 3);
    assert_eq!(end, ["pane.get", "pane.report_metadata", "pane.release_agent"]);
    assert_eq!(world.raised(), []);
}

#[test]
fn f25_the_diagnostic_of_a_refused_release_has_the_servers_code() {
    let mut world = World::shown();
    world.begin_close();
    world.refuse_for(SECOND, "pane.release_agent", "report_failed");
    assert_eq!(world.ended, Some(Ended::NotReleased));
    let last = world.receipts.iter().find(|it| it.of == Part::Release).unwrap();
    assert_eq!(last.outcome, Outcome::Failed);
    assert_eq!(last.reason, Some(Reason::Rejected("report_failed".into())));
    assert_eq!(world.raised(), [DiagnosticKind::ProtocolRejected]);
}
