//! Tokens: derived ones, the host's own, and the session token.

use herdr_reporter::sidecar::show_context;
use herdr_reporter::{AgentEvent, Config, Refused, SessionStarted, Source};

use crate::support::{config, fold, model, show, shown_tokens, started, tokens, usage};

type Patch = &'static [(&'static str, Option<&'static str>)];
type Shown = &'static [(&'static str, &'static str)];

fn session(id: &str) -> AgentEvent {
    AgentEvent::SessionStarted(SessionStarted::new(id))
}

#[test]
fn model_and_context_are_derived_from_what_is_known() {
    let cases: [(&[AgentEvent], Shown); 8] = [
        (&[], &[]),
        (&[usage(0)], &[("ctx", "0")]),
        (&[usage(33_900)], &[("ctx", "34k")]),
        (&[model(Some("m"), None)], &[("model", "m")]),
        (
            &[model(Some("m"), Some(1_000_000)), usage(33_900)],
            &[("ctx", "34k/1.0M"), ("model", "m")],
        ),
        (&[model(Some("m"), Some(0)), usage(999_600)], &[("ctx", "1.0M"), ("model", "m")]),
        (&[model(Some("m"), Some(9)), usage(5), model(None, None)], &[("ctx", "5")]),
        (&[model(Some("m"), Some(9)), model(Some(" \n"), Some(10)), usage(5)], &[("ctx", "5/10")]),
    ];
    for (events, expected) in cases {
        let events = events.iter().cloned().chain([started()]);
        assert_eq!(shown_tokens(&show(&Config::default(), events)), expected);
    }
}

#[test]
fn the_host_overrides_and_hides_what_is_derived() {
    let cases: [(Patch, Shown); 5] = [
        (&[("model", Some("mine"))], &[("ctx", "5/9"), ("model", "mine")]),
        (&[("ctx", Some("full"))], &[("ctx", "full"), ("model", "m")]),
        (&[("ctx", None)], &[("model", "m")]),
        (&[("ctx", None), ("model", None)], &[]),
        (&[("ctx", Some(" "))], &[("model", "m")]),
    ];
    for (patch, expected) in cases {
        let events =
            [started(), model(Some("m"), Some(9)), usage(5), tokens(patch.iter().copied())];
        assert_eq!(shown_tokens(&show(&Config::default(), events)), expected, "{patch:?}");
    }
}

#[test]
fn a_patch_changes_what_it_names() {
    let events = [
        started(),
        tokens([("a", Some("1")), ("b", Some("2")), ("c", Some("3"))]),
        tokens([("a", None), ("b", Some("two")), ("nothing", None)]),
        tokens([("c", Some("\u{1b}[0m"))]),
    ];
    assert_eq!(shown_tokens(&show(&Config::default(), events)), [("b", "two")]);
}

#[test]
fn no_tokens_are_sent_if_the_setting_is_none() {
    let config = config(|config| {
        config.tokens = Source::None;
        config.session_token = true;
    });
    let events = [session("s"), model(Some("m"), Some(9)), usage(5), tokens([("a", Some("1"))])];
    assert_eq!(shown_tokens(&show(&config, events)), []);
}

#[test]
fn b28_the_session_token_is_the_newest_session() {
    let config = config(|config| config.session_token = true);
    let events: Vec<AgentEvent> = (0..50).map(|n| session(&format!("s{n}"))).collect();
    assert_eq!(shown_tokens(&show(&config, events.clone())), [("session", "s49")]);
    assert_eq!(shown_tokens(&show(&Config::default(), events)), []);

    let long = session(&"x".repeat(200));
    let shown = show(&config, [long]);
    assert_eq!(shown_tokens(&shown)[0].1.chars().count(), 80);
    let hidden = show(&config, [session("s"), tokens([("session", None)])]);
    assert_eq!(shown_tokens(&hidden), []);
}

#[test]
fn progress_is_a_token_during_a_turn_if_the_setting_is_on() {
    let config = config(|config| config.progress_token = true);
    let progress = |percent| AgentEvent::progress_changed(Some(percent));
    let of_helper = progress(7).of_agent(Some("helper".into()));
    let events = [started(), progress(40), of_helper];
    assert_eq!(shown_tokens(&show(&config, events.clone())), [("progress", "40%")]);
    assert_eq!(shown_tokens(&show(&Config::default(), events)), []);
    let unknown = AgentEvent::progress_changed(None);
    for last in [unknown, AgentEvent::agent_settled(), started(), AgentEvent::session_ended()] {
        assert_eq!(shown_tokens(&show(&config, [started(), progress(40), last])), []);
    }
}

#[test]
fn hidden_tokens_take_no_room_on_the_pane() {
    let mut activity = fold([started(), tokens([("ctx", None), ("model", None)])]);
    let full = (0..32).map(|n| (format!("k{n:02}"), Some("v".to_owned())));
    activity.apply(AgentEvent::tokens_changed(full)).unwrap();
    activity.apply(tokens([("session", None)])).unwrap();
    assert_eq!(activity.snapshot(&Config::default()).unwrap().tokens.len(), 32);
    let one_more = activity.apply(tokens([("ctx", Some("mine"))]));
    assert_eq!(one_more, Err(Refused::TooManyTokens(vec!["ctx".into()])));
}

#[test]
fn usage_of_another_agent_is_not_the_panes() {
    let events = [
        started(),
        usage(5),
        AgentEvent::usage_changed(9).of_agent(Some("sub".into())),
        AgentEvent::model_changed(Some("small".into()), None).of_agent(Some("sub".into())),
    ];
    assert_eq!(shown_tokens(&show(&Config::default(), events)), [("ctx", "5")]);
}

#[test]
fn counts_round_half_up_and_carry() {
    for (tokens, shown) in [
        (0, "0"),
        (999, "999"),
        (1_000, "1k"),
        (1_499, "1k"),
        (1_500, "2k"),
        (999_499, "999k"),
        (999_500, "1.0M"),
        (1_049_999, "1.0M"),
        (1_050_000, "1.1M"),
        (12_000_000, "12.0M"),
        (u64::MAX, "18446744073709.5M"),
    ] {
        assert_eq!(show_context(tokens, None), shown, "{tokens}");
    }
}
