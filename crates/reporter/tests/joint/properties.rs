//! Interleavings of events, faults and the end.

use std::time::Duration;

use fake_herdr::Model;
use herdr_reporter::machine::{Input, PaneCall};
use herdr_reporter::{AgentEvent, Config, Ended, Outcome, Part, Prompt};
use proptest::prelude::*;
use serde_json::json;

use crate::events::{session, settled, started, title, token};
use crate::fates::Fate;
use crate::world::{AGENT, Home, World};

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
            Act::Tell(event) => world.record(event),
            Act::Resolve(fate) => world.meet(fate),
            Act::Pass(millis) => world.pass(Duration::from_millis(millis)),
            Act::Serve(millis) => world.serve_for(Duration::from_millis(millis)),
            Act::Thaw => world.thaw(),
            Act::Handoff => {
                world.lose_what_is_frozen();
                world.hand_off();
            }
            Act::Restart => {
                world.lose_what_is_frozen();
                world.model.restart(world.elapsed);
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

/// This many cases, or as many as `PROPTEST_CASES` says.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|asked| asked.parse().ok());
    ProptestConfig {
        cases: asked.unwrap_or(cases),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(500))]

    /// Once the server is healthy again and no other writer is active, the pane shows what is
    /// wanted.
    #[test]
    fn the_pane_comes_to_show_what_is_wanted(acts in prop::collection::vec(act(), 0..60)) {
        let mut world = World::new();
        play(&mut world, acts);
        // A frozen server applies what it has received before it is healthy, and a part that has
        // yielded stays yielded until the host changes it or the server does.
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

    /// Only the methods that we need are sent, each with the parameters that it takes.
    #[test]
    fn requests_keep_their_shape(acts in prop::collection::vec(act(), 0..60)) {
        let mut world = World::new();
        play(&mut world, acts);
        for line in &world.sent {
            let method = line["method"].as_str().unwrap();
            if method == "agent.explain" {
                prop_assert_eq!(&line["params"], &json!({"target": "w1:p1"}));
                continue;
            }
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

/// The fate of one method, and for how many milliseconds from the start.
fn fate() -> impl Strategy<Value = (Fate, u64)> {
    let fate = prop::sample::select(vec![
        Fate::Served,
        Fate::Broken,
        Fate::Nonsense,
        Fate::Refused("unknown_method"),
        Fate::Refused("internal_error"),
        Fate::Frozen,
        Fate::Late,
    ]);
    (fate, 0..55_000u64)
}

/// The methods that a reporter needs.
fn method(call: &PaneCall) -> Option<usize> {
    match call {
        PaneCall::Report(_) => Some(0),
        PaneCall::Metadata(_) => Some(1),
        PaneCall::Get(_) => Some(2),
        PaneCall::Processes(_) => Some(3),
        _ => None,
    }
}

proptest! {
    #![proptest_config(cases(300))]

    /// Each method of a server fails in its own way for a while. That costs few requests and is
    /// reported once, and what works is shown. Five seconds after the last fault, everything is
    /// shown.
    #[test]
    fn a_method_fails_alone(
        fates in prop::collection::vec(fate(), 4),
        events in prop::collection::vec((event(), 0..8_000u64), 0..8),
        anybodys in any::<bool>(),
    ) {
        let home = if anybodys { Home::Unknown } else { Home::Pane("w1:p1".into()) };
        let mut world = World::at(home, Config::default(), Model::new());
        let mut minutes = [[0u32; 2]; 4];
        let last = fates.iter().map(|(_, until)| *until).max().unwrap_or_default();
        let mut go_on = |world: &mut World, time: Duration| {
            let end = world.elapsed + time;
            while world.elapsed < end && world.ended.is_none() {
                let now = world.elapsed;
                let mut next = Duration::from_millis(50).min(end.saturating_sub(now));
                if let Some(request) = &world.in_flight {
                    let method = method(&request.call);
                    let fate = method.map(|method| (method, fates[method]));
                    let failing =
                        fate.filter(|(_, (_, until))| now < Duration::from_millis(*until));
                    let fate = failing.map_or(Fate::Served, |(_, (fate, _))| fate);
                    if let Some((method, _)) = failing.filter(|_| fate != Fate::Served) {
                        minutes[method][usize::from(now.as_secs() >= 60)] += 1;
                    }
                    world.meet(fate);
                    next = Duration::ZERO;
                }
                world.pass(next);
            }
        };
        world.record(started());
        world.record(title("T"));
        for (event, time) in events {
            go_on(&mut world, Duration::from_millis(time));
            world.record(event);
        }
        let rest = Duration::from_millis(last).saturating_sub(world.elapsed);
        go_on(&mut world, rest);
        let failing = fates.iter().filter(|(fate, _)| *fate != Fate::Served).count();
        prop_assert!(
            world.diagnostics.len() <= failing,
            "each method's failure is reported once: {:?}",
            world.diagnostics
        );
        for (method, [first, _]) in minutes.iter().enumerate() {
            // The server may be frozen as a whole, so it is tried more often.
            let silent = [Fate::Late, Fate::Frozen].contains(&fates[method].0);
            let budget = if silent { 45 } else { 24 };
            prop_assert!(*first <= budget, "{first} of method {method}: {fates:?}");
        }
        // This includes the settle time.
        world.meet_for(Duration::from_secs(5), |_| Fate::Served);
        let wanted = world.activity.snapshot(&Config::default());
        let pane = world.pane();
        if let Some(wanted) = wanted {
            prop_assert_eq!(pane.agent_status, wanted.state.as_str());
            let title = wanted.presentation.title.map(|title| title.to_string());
            prop_assert_eq!(pane.title, title);
            for (key, text) in wanted.tokens {
                prop_assert_eq!(pane.tokens.get(key.as_str()).map(String::as_str), Some(text.as_str()));
            }
        } else {
            prop_assert!(pane.agent.as_deref() != Some(AGENT));
        }
    }
}

proptest! {
    #![proptest_config(cases(10_000))]

    /// The last request is the release, and on a healthy server nothing of ours is left, even if
    /// the server applies requests late that got no answer.
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
        world.begin_close();
        let begun = world.elapsed;
        for fate in fates {
            match fate {
                0 => world.meet(Fate::Broken),
                1 => world.meet(Fate::Unreachable),
                2 => world.pass(Duration::from_millis(40)),
                _ => world.meet(Fate::Served),
            }
        }
        let fate = if overtakes { Fate::Overtakes } else { Fate::Served };
        world.meet_for(Duration::from_secs(1), |_| fate);
        let ended = world.ended.expect("it ends");
        prop_assert!(world.in_flight.is_none());
        let counters = world.counters();
        prop_assert_eq!(counters.pending, 0);
        prop_assert!(counters.add_up());
        let receipts_with = |outcome| {
            let receipts = world.receipts.iter().filter(|receipt| receipt.outcome == outcome);
            // Sessions and releases do not count as reports.
            let parts = [Part::State, Part::Presentation, Part::Tokens];
            receipts.filter(|receipt| parts.contains(&receipt.of)).count() as u64
        };
        prop_assert_eq!(receipts_with(Outcome::Superseded), counters.superseded);
        prop_assert_eq!(receipts_with(Outcome::Applied), counters.applied);
        prop_assert_eq!(receipts_with(Outcome::Ignored), counters.ignored);
        prop_assert_eq!(receipts_with(Outcome::Hidden), counters.hidden);
        let unseen = receipts_with(Outcome::Unverified) + receipts_with(Outcome::Sent);
        prop_assert_eq!(unseen, counters.unverified);
        prop_assert_eq!(receipts_with(Outcome::Failed), counters.dropped);

        if matches!(ended, Ended::Released | Ended::ReleasedUncleared) {
            // Without a claim, or after it was given back, there is only metadata to clear.
            let last = world.methods().last().copied();
            let had_row = world.claimed && !gives_back;
            prop_assert!(last == Some("pane.release_agent") || !had_row, "{:?}", last);
            // The frozen and abandoned requests are older than the release.
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
