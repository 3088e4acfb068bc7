//! What a server refuses while a reporter ends.

use herdr_reporter::machine::PaneCall;
use herdr_reporter::{DiagnosticKind, Ended, Outcome, Part, Reason};

use crate::events::asked;
use crate::fates::Fate;
use crate::world::{SECOND, World};

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
    world.meet_for(SECOND, |call| match call {
        PaneCall::Release(_) => Fate::Refused("invalid_agent"),
        _ => Fate::Served,
    });
    assert_eq!(world.ended, Some(Ended::NotReleased));
    assert_eq!(world.sent_to("pane.release_agent").count(), 1);
}

#[test]
fn a_failure_of_an_older_request_does_not_stop_the_clears() {
    for fate in [Fate::Refused("invalid_request"), Fate::Broken, Fate::Unreachable] {
        let mut world = World::shown();
        world.tell(asked("x"));
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
    world.meet_for(SECOND, |call| match call {
        PaneCall::Get(_) => Fate::Refused("unknown_method"),
        _ => Fate::Served,
    });
    assert_eq!(world.ended, Some(Ended::Released));
    let pane = world.pane();
    assert_eq!((pane.agent, pane.title, pane.tokens.len()), (None, None, 0));
}

#[test]
fn a_refused_clear_is_not_repeated() {
    let mut world = World::shown();
    world.begin_close();
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
fn f25_a_refused_release_tells_the_servers_code() {
    let mut world = World::shown();
    world.begin_close();
    world.meet_for(SECOND, |call| match call {
        PaneCall::Release(_) => Fate::Refused("report_failed"),
        _ => Fate::Served,
    });
    assert_eq!(world.ended, Some(Ended::NotReleased));
    let last = world.receipts.iter().find(|it| it.of == Part::Release).unwrap();
    assert_eq!(last.outcome, Outcome::Failed);
    assert_eq!(last.reason, Some(Reason::Rejected("report_failed".into())));
    assert_eq!(world.told(), [DiagnosticKind::ProtocolRejected]);
}
