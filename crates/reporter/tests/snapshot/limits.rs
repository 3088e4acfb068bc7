//! Limits: what does not fit is named in the error, and the rest counts.

use herdr_proto::ReportState;
use herdr_proto::limits::TOKENS_PER_PANE;
use herdr_reporter::sidecar::{Activity, EventLine};
use herdr_reporter::{AgentEvent, Config, ID_MAX_BYTES, OPEN_MAX, Prompt, Refused};

use crate::support::{fold, prompt, shown_tokens, started, tokens, tool};

#[test]
fn agents_tools_prompts_and_providers_share_one_bound() {
    let nth = |n: usize| match n % 4 {
        0 => AgentEvent::agent_started().of_agent(Some(format!("a{n}").into())),
        1 => tool(&format!("t{n}"), "bash"),
        2 => prompt(&format!("p{n}"), Prompt::approval("x")),
        _ => AgentEvent::workflow_snapshot(format!("w{n}"), vec![], vec!["run".into()]),
    };
    let mut activity = fold((0..OPEN_MAX).map(nth));
    for n in 0..4 {
        assert_eq!(activity.apply(nth(OPEN_MAX + n)), Err(Refused::TooManyOpen));
        assert_eq!(activity.apply(nth(n)), Ok(()), "what is open already may be said again");
    }
    let unavailable = AgentEvent::workflow_unavailable("another");
    assert_eq!(activity.apply(unavailable), Err(Refused::TooManyOpen));

    activity.apply(AgentEvent::tool_finished("t1")).unwrap();
    activity.apply(tool("one more", "bash")).unwrap();
    assert_eq!(activity.apply(tool("two more", "bash")), Err(Refused::TooManyOpen));
    assert_eq!(activity.state(), Some(ReportState::Blocked));
}

#[test]
fn ends_without_a_beginning_and_repeated_ends_change_nothing() {
    let mut activity = fold([started()]);
    let before = activity.snapshot(&Config::default());
    for event in [
        AgentEvent::tool_finished("never"),
        AgentEvent::prompt_closed("never"),
        AgentEvent::agent_settled().of_agent(Some("never".into())),
        AgentEvent::session_ended().of_agent(Some("never".into())),
    ] {
        activity.apply(event.clone()).unwrap();
        activity.apply(event).unwrap();
        assert_eq!(activity.snapshot(&Config::default()), before);
    }
}

#[test]
fn tokens_beyond_those_of_a_pane_are_named_and_the_others_stay() {
    let keys: Vec<String> = (0..TOKENS_PER_PANE + 8).map(|n| format!("k{n:02}")).collect();
    let mut activity = fold([started()]);
    let refused =
        activity.apply(tokens(keys.iter().map(|key| (key.as_str(), Some("v"))))).unwrap_err();
    assert_eq!(refused, Refused::TooManyTokens(keys[TOKENS_PER_PANE..].to_vec()));
    assert!(refused.to_string().contains("`k32`"), "{refused}");
    let shown = activity.snapshot(&Config::default()).unwrap();
    assert_eq!(shown.tokens.len(), TOKENS_PER_PANE);

    activity.apply(tokens([("k00", Some("changed"))])).unwrap();
    activity.apply(tokens([("k01", None)])).unwrap();
    activity.apply(tokens([("new", Some("v"))])).unwrap();
    let shown = activity.snapshot(&Config::default()).unwrap();
    assert_eq!(shown.tokens.len(), TOKENS_PER_PANE);
    assert!(shown_tokens(&shown).contains(&("k00", "changed")));
    assert!(shown_tokens(&shown).contains(&("new", "v")));
}

#[test]
fn bad_token_keys_are_named_and_the_others_go_out() {
    let too_long = "x".repeat(33);
    let longest = "x".repeat(32);
    let bad = ["", " ", "a b", "a.b", "ä", "a\nb", too_long.as_str()];
    for key in bad {
        let mut activity = fold([started()]);
        let refused = activity.apply(tokens([(key, Some("v")), ("good", Some("v"))])).unwrap_err();
        assert_eq!(refused, Refused::TokenKeys(vec![key.to_owned()]));
        assert!(!refused.to_string().contains('\n'), "{refused}");
        let shown = activity.snapshot(&Config::default()).unwrap();
        assert_eq!(shown_tokens(&shown), [("good", "v")]);
    }
    let good = ["a", "A-z_09", longest.as_str()];
    let activity = fold([started(), tokens(good.map(|key| (key, Some("v"))))]);
    assert_eq!(activity.snapshot(&Config::default()).unwrap().tokens.len(), good.len());
}

#[test]
fn the_message_about_bad_keys_is_short_and_holds_no_values() {
    let keys: Vec<String> = (0..500).map(|n| format!("bad key {n} {}", "x".repeat(200))).collect();
    let mut activity = Activity::default();
    let patch = tokens(keys.iter().map(|key| (key.as_str(), Some("hunter2"))));
    let message = activity.apply(patch).unwrap_err().to_string();
    assert!(message.len() < 1_000, "{}", message.len());
    assert!(message.contains("and 492 more") && !message.contains("hunter2"), "{message}");
}

#[test]
fn ids_in_lines_have_a_longest_length() {
    for (field, line) in [
        ("agent_id", r#"{"event":"agent_started","agent_id":"ID"}"#),
        ("tool_id", r#"{"event":"tool_started","tool_id":"ID","tool":"bash"}"#),
        ("tool_id", r#"{"event":"tool_finished","tool_id":"ID"}"#),
        ("prompt_id", r#"{"event":"prompt_opened","prompt_id":"ID","kind":"approval"}"#),
        ("agent_id", r#"{"event":"prompt_opened","prompt_id":"p","kind":"x","agent_id":"ID"}"#),
        ("prompt_id", r#"{"event":"prompt_closed","prompt_id":"ID"}"#),
        ("provider", r#"{"event":"workflow_unavailable","provider":"ID"}"#),
        ("session_id", r#"{"event":"session_started","session_id":"ID"}"#),
    ] {
        let with = |bytes: usize| line.replace("ID", &"i".repeat(bytes));
        assert!(EventLine::parse(with(ID_MAX_BYTES).as_bytes()).is_ok(), "{line}");
        let error = EventLine::parse(with(ID_MAX_BYTES + 1).as_bytes()).unwrap_err().to_string();
        assert!(error.contains(&format!("`{field}` has 1025 bytes")), "{error}");
        assert!(error.len() < 200, "{error}");
    }
}
