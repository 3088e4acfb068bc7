//! Interleavings of events, faults and the end.

use std::time::Duration;

use herdr_reporter::machine::{Input, PaneCall};
use herdr_reporter::{AgentEvent, Config, Ended, Outcome, Part, Prompt};
use proptest::prelude::*;
use serde_json::json;

use crate::events::{session, settled, started, title, token};
use crate::world::{AGENT, Fate, World};

#[derive(Debug, Clone)]
enum Act {
    Tell(AgentEvent),
    Resolve(Fate),
    Pass(u64),
    Serve(u64),
    Thaw,
    Handoff,
    Restart,
    ForeignReport(u64),
    ForeignClear,
    Flush,
}

fn event() -> impl Strategy<Value = AgentEvent> {
    let id = prop::sample::select(vec!["a", "b", "c"]);
    prop_oneof![
        Just(started()),
        Just(settled()),
        id.clone()
            .prop_map(|id| AgentEvent::prompt_opened(id, Prompt::approval(id)).of_agent(None)),
        id.clone().prop_map(AgentEvent::prompt_closed),
        id.clone().prop_map(title),
        Just(title("")),
        (id.clone(), prop::option::of(id.clone())).prop_map(|(key, text)| token(key, text)),
        id.prop_map(session),
        Just(AgentEvent::Release),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    let fault = prop::sample::select(vec![
        Fate::Served,
        Fate::Unanswered,
        Fate::Frozen,
        Fate::Unreachable,
        Fate::Broken,
        Fate::Refused("server_unavailable"),
        Fate::Refused("internal_error"),
        Fate::Refused("invalid_request"),
    ]);
    prop_oneof![
        8 => event().prop_map(Act::Tell),
        4 => fault.prop_map(Act::Resolve),
        4 => Just(Act::Resolve(Fate::Served)),
        2 => (0..400u64).prop_map(Act::Pass),
        2 => (0..5_000u64).prop_map(Act::Serve),
        1 => Just(Act::Thaw),
        1 => Just(Act::Handoff),
        1 => Just(Act::Restart),
        1 => (1..20u64).prop_map(Act::ForeignReport),
        1 => Just(Act::ForeignClear),
        1 => Just(Act::Flush),
    ]
}

fn play(world: &mut World, acts: Vec<Act>) {
    for act in acts {
        match act {
            Act::Tell(event) => world.tell(event),
            Act::Resolve(fate) => world.resolve(fate),
            Act::Pass(millis) => world.pass(Duration::from_millis(millis)),
            Act::Serve(millis) => world.serve_for(Duration::from_millis(millis)),
            Act::Thaw => world.thaw(),
            Act::Handoff => {
                world.model.live_handoff(world.elapsed);
                world.lose_what_is_frozen();
                world.step(Input::ServerChanged);
            }
            Act::Restart => {
                world.model.restart(world.elapsed);
                world.lose_what_is_frozen();
                world.step(Input::ServerChanged);
            }
            Act::ForeignReport(seq) => {
                let report =
                    json!({"source": "custom:x", "agent": "x", "state": "idle", "seq": seq});
                world.foreign("pane.report_agent", report);
            }
            Act::ForeignClear => world.foreign("pane.clear_agent_authority", json!({})),
            Act::Flush => world.step(Input::Flush),
        }
    }
}

/// So many, or as many as `PROPTEST_CASES` says.
fn cases(cases: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|asked| asked.parse().ok());
    ProptestConfig {
        cases: asked.unwrap_or(cases),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(500))]

    /// Once the server is healthy again, and nobody else writes, the pane
    /// shows what is wanted.
    #[test]
    fn the_pane_comes_to_show_what_is_wanted(acts in prop::collection::vec(act(), 0..60)) {
        let mut world = World::new();
        play(&mut world, acts);
        // Whatever a frozen server held back arrives before it is healthy, and
        // a writer that was yielded to is left alone until an own change.
        world.thaw();
        world.step(Input::ServerChanged);
        world.serve_for(Duration::from_secs(70));

        let wanted = world.activity.snapshot(&Config::default());
        let pane = world.pane();
        match wanted {
            Some(wanted) => {
                prop_assert_eq!(pane.agent.as_deref(), Some(AGENT));
                prop_assert_eq!(pane.agent_status, wanted.state.as_str());
                let title = wanted.presentation.title.map(|title| title.to_string());
                prop_assert_eq!(pane.title, title);
                let labels: Vec<String> =
                    wanted.presentation.labels.values().map(ToString::to_string).collect();
                prop_assert_eq!(pane.state_labels.into_values().collect::<Vec<_>>(), labels);
                for (key, text) in wanted.tokens {
                    prop_assert_eq!(&pane.tokens[key.as_str()], text.as_str());
                }
            }
            None => prop_assert!(pane.agent.as_deref() != Some(AGENT)),
        }
    }

    /// Nothing is asked of a server but our own methods, each in its shape.
    #[test]
    fn requests_keep_their_shape(acts in prop::collection::vec(act(), 0..60)) {
        let mut world = World::new();
        play(&mut world, acts);
        for line in &world.sent {
            let method = line["method"].as_str().unwrap();
            let of_the_pane = [
                "pane.report_agent",
                "pane.report_metadata",
                "pane.release_agent",
                "pane.get",
                "pane.process_info",
            ];
            prop_assert_eq!(line.as_object().unwrap().len(), 3);
            if method == "pane.list" {
                prop_assert_eq!(&line["params"], &json!({}));
            } else {
                prop_assert!(of_the_pane.contains(&method), "{}", method);
                prop_assert_eq!(&line["params"]["pane_id"], "w1:p1");
            }
        }
        if let Some(request) = &world.in_flight {
            prop_assert!(!matches!(request.call, PaneCall::Ping(_)));
        }
    }
}

proptest! {
    #![proptest_config(cases(10_000))]

    /// The last request is the release, nothing follows it, and a healthy
    /// server ends clean, also if it takes what was given up only afterwards.
    #[test]
    fn the_end_is_clean(
        acts in prop::collection::vec(act(), 0..60),
        fates in prop::collection::vec(0..5u8, 0..8),
        overtakes in any::<bool>(),
    ) {
        let mut world = World::new();
        play(&mut world, acts);
        let in_flight = world.in_flight.as_ref().map(|request| &request.call);
        let gives_back = matches!(in_flight, Some(PaneCall::Release(_)));
        world.step(Input::Close { budget: Duration::from_millis(500) });
        let begun = world.elapsed;
        for fate in fates {
            match fate {
                0 => world.resolve(Fate::Broken),
                1 => world.resolve(Fate::Unreachable),
                2 => world.pass(Duration::from_millis(40)),
                _ => world.resolve(Fate::Served),
            }
        }
        let fate = if overtakes { Fate::Overtakes } else { Fate::Served };
        world.meet_for(Duration::from_secs(1), |_| fate);
        let ended = world.ended.expect("it ends");
        prop_assert!(world.in_flight.is_none());
        let counters = world.counters();
        prop_assert_eq!(counters.pending, 0);
        prop_assert!(counters.add_up());
        let told = |outcome| {
            let receipts = world.receipts.iter().filter(|receipt| receipt.outcome == outcome);
            // Of a session and of the release nobody made an offer.
            let parts = [Part::State, Part::Presentation, Part::Tokens];
            receipts.filter(|receipt| parts.contains(&receipt.of)).count() as u64
        };
        prop_assert_eq!(told(Outcome::Superseded), counters.superseded);
        prop_assert_eq!(told(Outcome::Applied), counters.applied);
        prop_assert_eq!(told(Outcome::Ignored), counters.ignored);
        prop_assert_eq!(told(Outcome::Hidden), counters.hidden);
        prop_assert_eq!(told(Outcome::Unverified), counters.unverified);
        prop_assert_eq!(told(Outcome::Failed), counters.dropped);

        if matches!(ended, Ended::Released | Ended::ReleasedUncleared) {
            // Who was never let claim it, or gave it back before, has only a
            // title to take off.
            let last = world.methods().last().copied();
            let had_row = world.claimed && !gives_back;
            prop_assert!(last == Some("pane.release_agent") || !had_row, "{:?}", last);
            // What was frozen or abandoned is older than the release.
            world.thaw();
            prop_assert!(world.pane().agent.as_deref() != Some(AGENT));
        }
        if ended == Ended::NothingToRelease {
            world.thaw();
            prop_assert!(world.pane().agent.as_deref() != Some(AGENT), "{:?}", world.pane());
        }
        if ended == Ended::Released {
            let pane = world.pane();
            prop_assert_eq!(pane.title, None, "{:?}", begun);
            prop_assert!(pane.tokens.is_empty(), "{:?}", pane.tokens);
        }
    }
}
