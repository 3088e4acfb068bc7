//! A part that fails fails alone and backs off; what was said last counts; and
//! agents that Herdr detects keep their row.

use std::time::Duration;

use fake_herdr::Model;
use herdr_proto::{AgentLabel, PaneId, SourceId};
use herdr_reporter::machine::{Claim, Input, OneShot, PaneCall};
use herdr_reporter::{AgentEvent, Config, DiagnosticKind, Ended, Outcome, Part, Reason};
use serde_json::json;

use crate::events::{answered, asked, session, settled, started, state, title, token};
use crate::world::{AGENT, EPOCH, Fate, Home, PANE, SOURCE, World};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

fn claim(agent: &str, config: &Config) -> Claim {
    let mut claim = Claim::new(
        PaneId::parse(PANE).unwrap(),
        SourceId::parse(format!("custom:{agent}")).unwrap(),
        AgentLabel::parse(agent).unwrap(),
        config.clone(),
    );
    claim.config.any_pane = true;
    claim
}

fn world_of(claim: Claim, model: Model) -> World {
    World::of(claim, Home::Untold, Config::default(), model)
}

/// A supervisor whose label nobody asked for.
fn supervisor(agent: &str, leave_state: bool) -> World {
    let mut claim = claim(agent, &Config::default());
    claim.config.leave_state = leave_state;
    claim.config.own_label = false;
    world_of(claim, Model::new())
}

/// Reports once, as a process that was started `after` the epoch.
fn once(agent: &str, events: Vec<AgentEvent>, after: Duration, model: Model) -> World {
    let mut claim = claim(agent, &Config::default());
    let started = EPOCH + u64::try_from(after.as_micros()).unwrap();
    claim.once = Some(OneShot::new(events, started));
    let mut world = world_of(claim, model);
    world.elapsed = after;
    world
}

/// Reports once and leaves the model behind.
fn say(model: &mut Model, at: Duration, events: Vec<AgentEvent>) -> World {
    let mut world = once(AGENT, events, at, std::mem::take(model));
    world.step(Input::Timer);
    world.serve_for(SECOND);
    assert!(world.quiet && world.in_flight.is_none());
    *model = std::mem::take(&mut world.model);
    world
}

fn kinds(world: &World) -> Vec<DiagnosticKind> {
    world.diagnostics.iter().map(|diagnostic| diagnostic.kind).collect()
}

fn outcomes(world: &World, part: Part) -> Vec<Outcome> {
    world.receipts.iter().filter(|it| it.of == part).map(|it| it.outcome).collect()
}

#[test]
fn f10_another_socket_behind_an_answer_makes_the_pane_be_asked_for_first() {
    let mut world = World::at(Home::Pane(PANE.into()), Config::default(), Model::new());
    world.tell(started());
    world.serve_for(SECOND);
    world.tell(asked("x"));
    let before = world.sent.len();
    world.home = Home::Elsewhere;
    world.step(Input::ServerChanged);
    world.serve_for(SECOND);
    assert_eq!(world.methods()[before..][..1], ["pane.process_info"]);
    assert_eq!(world.sent_to("pane.report_agent").count(), 2, "nothing but what was on its way");
}

#[test]
fn f11_a_default_label_gives_way_to_the_agent_that_herdr_detects() {
    let mut world = supervisor("npx", false);
    world.tell(state("idle"));
    world.tell(title("T"));
    world.serve_for(SECOND);
    assert_eq!(world.pane().agent.as_deref(), Some("npx"));
    world.model.agent_appears(world.elapsed, PANE, "claude", "working");
    assert_eq!(world.pane().agent.as_deref(), Some("npx"), "a claim hides it");
    world.serve_for(Duration::from_secs(5));
    let pane = world.pane();
    assert_eq!((pane.agent.as_deref(), pane.title.as_deref()), (Some("claude"), Some("T")));
    assert_eq!(world.model.authority(PANE), None);
    assert_eq!(world.machine.state_left_to().map(AgentLabel::as_str), Some("claude"));
    // The reason of a block shows under Herdr's own.
    world.tell(asked("Run it?"));
    world.serve_for(SECOND);
    assert_eq!(world.pane().state_labels["blocked"], "Run it?");
    assert_eq!(world.close(), Ended::Released);
    let pane = world.pane();
    assert_eq!((pane.agent.as_deref(), pane.title), (Some("claude"), None));
    assert!(world.sent_to("pane.release_agent").next().is_none());
}

#[test]
fn f11_the_row_is_the_default_labels_again_once_that_agent_has_gone() {
    let mut world = supervisor("npx", false);
    world.tell(state("working"));
    world.serve_for(SECOND);
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
fn f15_what_was_started_last_wins() {
    // Four that were started first come to the pane after the fifth.
    let mut model = Model::new();
    let at = Duration::from_millis(100);
    say(&mut model, at, vec![state("idle")]);
    for started in [1, 2, 3, 4] {
        let begun = Duration::from_millis(started);
        let mut late = once(AGENT, vec![state("working")], begun, std::mem::take(&mut model));
        late.elapsed = at * 2;
        late.step(Input::Timer);
        late.resolve(Fate::Served);
        // The shell knows of the last one by now.
        late.step(Input::Superseded);
        late.serve_for(SECOND);
        assert!(late.quiet && late.sent_to("pane.report_agent").count() <= 1);
        assert_eq!(outcomes(&late, Part::State), [Outcome::Superseded]);
        assert_eq!(late.pane().agent_status, "idle");
        model = late.model;
    }
    // A mark that no process can have made by now is climbed over.
    let ahead = EPOCH + 3_600_000_000;
    let mut world = once(AGENT, vec![state("working")], at * 3, model);
    let theirs = json!({"source": SOURCE, "agent": AGENT, "state": "idle", "seq": ahead});
    world.foreign("pane.report_agent", theirs);
    world.step(Input::Timer);
    world.serve_for(SECOND);
    assert_eq!(world.pane().agent_status, "working");
    assert_eq!(outcomes(&world, Part::State), [Outcome::Applied]);
}

#[test]
fn f17_a_session_leaves_the_reason() {
    let mut model = Model::new();
    say(&mut model, SECOND, vec![crate::events::blocked("why")]);
    let world = say(&mut model, SECOND * 2, vec![session("s1")]);
    let pane = model.observe(SECOND * 3, PANE).unwrap();
    assert_eq!(
        (pane.agent_status.as_str(), pane.state_labels["blocked"].as_str()),
        ("blocked", "why")
    );
    assert_eq!(world.sent_to("pane.report_agent").next().unwrap()["agent_session_id"], "s1");
    say(&mut model, SECOND * 4, vec![state("working")]);
    let pane = model.observe(SECOND * 5, PANE).unwrap();
    assert!(pane.state_labels.is_empty(), "a reason that is over goes: {pane:?}");
}

#[test]
fn f18_a_method_that_fails_rests_longer_each_time_and_is_told_once() {
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
            world.tell(started());
            world.tell(title("T"));
            world.tell(token("branch", Some("main")));
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
            // Whose pane it is may stay unknown.
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

#[test]
fn f19_on_a_full_pane_only_the_new_token_is_left_out_and_named() {
    let mut world = World::new();
    for part in 0..2 {
        let tokens: serde_json::Map<_, _> =
            (0..15).map(|n| (format!("x{part}-{n}"), json!("v"))).collect();
        world.foreign("pane.report_metadata", json!({"source": "custom:x", "tokens": tokens}));
    }
    world.tell(started());
    world.tell(token("model", Some("m")));
    world.tell(token("ctx", Some("1k")));
    world.serve_for(SECOND);
    world.tell(token("branch", Some("main")));
    world.tell(token("ctx", Some("2k")));
    world.serve_for(SECOND);
    assert_eq!(world.pane().tokens["ctx"], "2k");
    assert_eq!(kinds(&world), [DiagnosticKind::ProtocolRejected]);
    assert!(world.diagnostics[0].detail.contains("branch"), "{:?}", world.diagnostics);
    world.serve_for(Duration::from_secs(300));
    world.tell(token("ctx", Some("3k")));
    world.serve_for(SECOND);
    let pane = world.pane();
    assert_eq!((pane.tokens["model"].as_str(), pane.tokens["ctx"].as_str()), ("m", "3k"));
    assert_eq!(kinds(&world).len(), 1);
    let gone = json!({"source": "custom:x", "tokens": {"x0-0": null}});
    world.foreign("pane.report_metadata", gone);
    world.serve_for(Duration::from_secs(31));
    assert_eq!(world.pane().tokens["branch"], "main");
}

#[test]
fn f20_a_row_that_is_nobodys_again_is_ours_within_five_seconds() {
    let mut world = World::shown();
    for seq in 1..=13 {
        let report = json!({"source": "custom:x", "agent": "x", "state": "idle", "seq": seq});
        world.foreign("pane.report_agent", report);
        world.serve_for(SECOND);
    }
    assert_eq!(world.pane().agent.as_deref(), Some("x"));
    world.foreign("pane.release_agent", json!({"source": "custom:x", "agent": "x", "seq": 14}));
    world.serve_for(Duration::from_secs(5));
    let pane = world.pane();
    assert_eq!((pane.agent.as_deref(), pane.title.as_deref()), (Some(AGENT), Some("T")));
    assert_eq!(kinds(&world), [DiagnosticKind::Ignored]);
}

#[test]
fn f21_a_token_that_was_left_to_another_is_left_until_the_host_changes_it() {
    let mut world = World::shown();
    let theirs = json!({"source": "custom:x", "tokens": {"branch": "theirs"}});
    for _ in 0..30 {
        world.foreign("pane.report_metadata", theirs.clone());
        world.serve_for(Duration::from_millis(500));
    }
    world.serve_for(Duration::from_secs(300));
    assert_eq!(world.pane().tokens["branch"], "theirs");
    assert_eq!(world.pane().title.as_deref(), Some("T"), "the rest is refreshed");
    world.tell(token("branch", Some("dev")));
    world.serve_for(SECOND);
    assert_eq!(world.pane().tokens["branch"], "dev");
}

#[test]
fn f22_a_pane_that_is_gone_is_sought_less_and_less_often() {
    for home in [Home::Pane(PANE.into()), Home::Untold] {
        let mut world = World::at(home, Config::default(), Model::new());
        world.tell(started());
        world.tell(title("T"));
        world.serve_for(SECOND);
        world.foreign_call("pane.split", &json!({"target_pane_id": PANE, "direction": "right"}));
        world.model.close_pane(world.elapsed, PANE);
        let before = world.sent.len();
        world.serve_for(MINUTE);
        let first = world.sent.len() - before;
        world.serve_for(MINUTE * 10);
        let later = world.sent.len() - before - first;
        assert!(first <= 12 && later <= 30, "{first}, {later}: {:?}", &world.methods()[before..]);
        assert_eq!(kinds(&world), [DiagnosticKind::ProtocolRejected]);
        assert!(world.quiet, "a flush is not kept waiting");
    }
}

#[test]
fn f23_a_refusal_of_the_old_server_says_nothing_about_the_new_one() {
    let mut world = World::shown();
    world.tell(asked("x"));
    world.model.live_handoff(world.elapsed);
    world.step(Input::ServerChanged);
    world.resolve(Fate::Refused("invalid_request"));
    world.serve_for(SECOND);
    let pane = world.pane();
    assert_eq!((pane.agent_status.as_str(), pane.title.as_deref()), ("blocked", Some("T")));
    assert_eq!(kinds(&world), []);
}

#[test]
fn f24_the_first_claim_takes_off_what_a_dead_run_left() {
    let mut dead = World::new();
    dead.tell(started());
    dead.tell(title("dead"));
    dead.tell(AgentEvent::model_changed(Some("m".into()), None));
    dead.tell(AgentEvent::usage_changed(5_000));
    dead.tell(token("branch", Some("main")));
    dead.tell(token("taken", Some("v")));
    dead.serve_for(SECOND);
    assert_eq!(dead.pane().tokens.len(), 4);
    let mut next = World::with(Config::default(), std::mem::take(&mut dead.model));
    next.machine.take_off(dead.machine.leavings());
    next.elapsed = dead.elapsed;
    let theirs = json!({"source": "custom:x", "tokens": {"theirs": "v", "taken": "theirs"}});
    next.foreign("pane.report_metadata", theirs);
    next.tell(started());
    next.serve_for(SECOND);
    let pane = next.pane();
    assert_eq!((pane.agent_status.as_str(), pane.title), ("working", None));
    assert_eq!(pane.tokens.into_keys().collect::<Vec<_>>(), ["taken", "theirs"]);
    // What shows up later is somebody else's.
    next.foreign("pane.report_metadata", json!({"source": "custom:x", "tokens": {"ctx": "9k"}}));
    next.serve_for(MINUTE);
    assert_eq!(next.pane().tokens["ctx"], "9k");
}

#[test]
fn f24_a_token_that_was_on_its_way_at_the_kill_is_taken_off_as_well() {
    let mut dead = World::new();
    dead.tell(started());
    dead.tell(token("branch", Some("main")));
    dead.serve_for(SECOND);
    dead.tell(token("branch", Some("dev")));
    // The server takes it, and the process is killed before the answer.
    let (left, taken) = (dead.machine.leavings(), dead.in_flight.as_ref().unwrap().call.clone());
    dead.model.request(dead.elapsed, &taken.encode("t").unwrap());
    assert_eq!(dead.pane().tokens["branch"], "dev");
    let mut next = World::with(Config::default(), std::mem::take(&mut dead.model));
    next.machine.take_off(left);
    next.elapsed = dead.elapsed;
    next.tell(started());
    next.serve_for(SECOND);
    assert!(next.pane().tokens.is_empty(), "{:?}", next.pane().tokens);
}

#[test]
fn f24_a_run_that_ends_at_once_takes_off_what_a_dead_run_left() {
    let mut dead = World::new();
    dead.tell(started());
    dead.tell(token("branch", Some("main")));
    dead.serve_for(SECOND);
    let left = dead.machine.leavings();
    let mut next = World::with(Config::default(), std::mem::take(&mut dead.model));
    next.machine.take_off(left.clone());
    next.elapsed = dead.elapsed;
    next.tell(started());
    next.resolve(Fate::Served);
    assert_eq!(next.machine.leavings(), left, "until it is taken off, it is still noted");
    assert_eq!(next.close(), Ended::Released);
    assert!(next.pane().tokens.is_empty(), "{:?}", next.pane().tokens);
    assert_eq!(next.machine.leavings(), herdr_reporter::sidecar::Leavings::default());
}

#[test]
fn f24_a_report_that_is_made_once_takes_off_what_a_dead_run_left() {
    let mut dead = World::new();
    dead.tell(started());
    dead.tell(title("dead"));
    dead.tell(token("branch", Some("main")));
    dead.serve_for(SECOND);
    let at = dead.elapsed + SECOND;
    let mut next = once(AGENT, vec![state("idle")], at, std::mem::take(&mut dead.model));
    next.machine.take_off(dead.machine.leavings());
    next.step(Input::Timer);
    next.serve_for(SECOND);
    let pane = next.pane();
    assert_eq!((pane.agent_status.as_str(), pane.title), ("idle", None));
    assert!(pane.tokens.is_empty(), "{:?}", pane.tokens);
}

#[test]
fn f24_the_labels_of_a_state_that_was_reported_once_go_with_the_next_owner() {
    let mut model = Model::new();
    say(&mut model, SECOND, vec![crate::events::blocked("why")]);
    let mut owner = World::with(Config::default(), model);
    owner.elapsed = SECOND * 2;
    owner.tell(asked(""));
    owner.tell(answered());
    owner.serve_for(SECOND * 2);
    assert!(owner.pane().state_labels.is_empty(), "{:?}", owner.pane());
}

#[test]
fn f25_a_refused_release_says_what_the_server_said() {
    let mut world = World::shown();
    world.step(Input::Close { budget: Duration::from_millis(500) });
    world.meet_for(SECOND, |call| match call {
        PaneCall::Release(_) => Fate::Refused("report_failed"),
        _ => Fate::Served,
    });
    assert_eq!(world.ended, Some(Ended::NotReleased));
    let last = world.receipts.iter().find(|it| it.of == Part::Release).unwrap();
    assert_eq!(last.outcome, Outcome::Failed);
    assert_eq!(last.reason, Some(Reason::Rejected("report_failed".into())));
    assert_eq!(kinds(&world), [DiagnosticKind::ProtocolRejected]);
}

#[test]
fn f27_where_herdr_shows_no_such_agent_the_state_is_ours_to_say() {
    let mut world = supervisor("claude", true);
    world.tell(state("idle"));
    world.tell(title("T"));
    world.serve_for(Duration::from_millis(2_500));
    assert_eq!(world.pane().agent, None, "Herdr gets time");
    world.tell(asked("May I?"));
    world.serve_for(Duration::from_secs(1));
    let pane = world.pane();
    assert_eq!((pane.agent.as_deref(), pane.agent_status.as_str()), (Some("claude"), "blocked"));
    assert_eq!(pane.state_labels["blocked"], "May I?");
    assert_eq!(world.close(), Ended::Released);
    assert_eq!((world.pane().agent, world.pane().title), (None, None));
}

#[test]
fn f27_where_herdr_shows_it_the_state_is_herdrs() {
    let mut world = supervisor("claude", true);
    world.model.agent_appears(world.elapsed, PANE, "claude", "working");
    world.tell(state("idle"));
    world.tell(title("T"));
    world.tell(token("branch", Some("main")));
    world.serve_for(MINUTE);
    let pane = world.pane();
    assert_eq!((pane.agent_status.as_str(), pane.title.as_deref()), ("working", Some("T")));
    assert!(world.sent_to("pane.report_agent").next().is_none());
    assert!(outcomes(&world, Part::Presentation).contains(&Outcome::Applied));
    assert_eq!(world.close(), Ended::Released);
    let pane = world.pane();
    assert_eq!((pane.agent.as_deref(), pane.title, pane.tokens.len()), (Some("claude"), None, 0));
    assert!(world.sent_to("pane.release_agent").next().is_none());
}

#[test]
fn f27_the_state_is_handed_back_when_the_screen_is_the_agents() {
    let mut world = supervisor("claude", true);
    world.tell(state("working"));
    world.serve_for(Duration::from_secs(4));
    assert_eq!(world.model.authority(PANE).unwrap().1, "claude");
    world.model.agent_appears(world.elapsed, PANE, "claude", "blocked");
    world.serve_for(Duration::from_secs(10));
    let pane = world.pane();
    assert_eq!(world.model.authority(PANE), None, "{:?}", world.methods());
    assert_eq!((pane.agent.as_deref(), pane.agent_status.as_str()), (Some("claude"), "blocked"));
}

#[test]
fn f31_a_claim_over_a_detected_agent_ends_so_that_its_row_comes_back() {
    let begin = |model: Model| {
        let mut world = world_of(claim("my-bot", &Config::default()), model);
        world.model.agent_appears(world.elapsed, PANE, "claude", "idle");
        world.tell(started());
        world.serve_for(Duration::from_secs(10));
        assert_eq!(world.pane().agent.as_deref(), Some("my-bot"), "it was asked for");
        world
    };
    let mut closed = begin(Model::new());
    assert_eq!(closed.close(), Ended::Released);
    let mut given_back = begin(Model::new());
    given_back.tell(AgentEvent::Release);
    given_back.serve_for(SECOND);
    for world in [closed, given_back] {
        assert_eq!(world.pane().agent.as_deref(), Some("claude"));
        assert_eq!(world.methods().last(), Some(&"pane.clear_agent_authority"));
    }
    // A server that cannot do that is asked to release.
    let mut world = begin(Model::new());
    world.step(Input::Close { budget: SECOND });
    world.meet_for(SECOND, |call| match call {
        PaneCall::Clear(_) => Fate::Refused("unsupported"),
        _ => Fate::Served,
    });
    assert_eq!(world.ended, Some(Ended::Released));
    assert_eq!(world.methods().last(), Some(&"pane.release_agent"));
}

#[test]
fn f31_one_shots_over_a_detected_agent() {
    let mut model = Model::new();
    assert!(model.agent_appears(Duration::ZERO, PANE, "claude", "idle"));
    let mut asked_for = once("my-bot", vec![state("working")], SECOND, model);
    asked_for.step(Input::Timer);
    asked_for.serve_for(SECOND);
    assert_eq!(asked_for.pane().agent.as_deref(), Some("my-bot"));
    let mut release = once("my-bot", vec![AgentEvent::Release], SECOND * 3, asked_for.model);
    release.step(Input::Timer);
    release.serve_for(SECOND);
    assert_eq!(release.pane().agent.as_deref(), Some("claude"), "{:?}", release.methods());

    let mut claim = claim(AGENT, &Config::default());
    claim.config.own_label = false;
    let events = vec![crate::events::blocked("why"), title("T")];
    claim.once = Some(OneShot::new(events, EPOCH * 2));
    let mut nobody_asked = world_of(claim, release.model);
    nobody_asked.elapsed = SECOND * 5;
    nobody_asked.step(Input::Timer);
    nobody_asked.serve_for(SECOND);
    let pane = nobody_asked.pane();
    assert_eq!((pane.agent.as_deref(), pane.title.as_deref()), (Some("claude"), Some("T")));
    assert_eq!(pane.state_labels["blocked"], "why");
}

#[test]
fn a_one_shot_edits_what_others_have_set_and_leaves_it_there() {
    let mut model = Model::new();
    let mut at = Duration::ZERO;
    let mut next = |model: &mut Model, events| {
        at += SECOND * 2;
        say(model, at, events);
        model.observe(at + SECOND, PANE).unwrap()
    };
    next(&mut model, vec![title("T")]);
    let pane = next(
        &mut model,
        vec![crate::events::labels(&[("idle", Some("at rest")), ("blocked", Some("needs you"))])],
    );
    assert_eq!(pane.title.as_deref(), Some("T"));
    let pane = next(&mut model, vec![state("idle"), token("branch", Some("main"))]);
    assert_eq!((pane.agent_status.as_str(), pane.title.as_deref()), ("idle", Some("T")));
    let pane = next(&mut model, vec![crate::events::labels(&[("idle", None)])]);
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
