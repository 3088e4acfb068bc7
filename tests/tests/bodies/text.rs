//! Titles, labels and tokens: complete, without control characters, and gone in time.

use std::collections::BTreeMap;
use std::time::Duration;

use e2e::stage::{PATIENCE, Stage, shows, until};
use herdr_proto::StateKey;
use herdr_reporter::{AgentEvent, Privacy, Prompt};

e2e::bodies! {
    shared:
        b42_a_new_title_keeps_labels_and_name,
        b45_a_text_that_becomes_blank_is_gone,
        b46_escapes_and_line_breaks_become_spaces,
        b49_invisible_characters_go_and_emoji_stay,
        b50_the_reason_of_a_block_is_visible_and_goes_with_it,
        b54_each_privacy_level_shows_its_reason_and_takes_it_back,
        b52_of_forty_tokens_those_that_fit_are_shown,
        b52_a_hundred_restarts_use_up_nothing,
        b55_title_and_tokens_of_a_killed_host_expire;
}

fn b42_a_new_title_keeps_labels_and_name(stage: &Stage) {
    let host = stage.reporter_with(|config| config.display_name = Some("Stage Host".into()));
    let _turn = host.turn();
    host.set_label(StateKey::Working, "busy");
    for number in 0..10 {
        host.set_title(format!("title {number}"));
        let pane = stage.flushed(&host);
        assert_eq!(pane.title, Some(format!("title {number}")));
        assert_eq!(pane.display_agent.as_deref(), Some("Stage Host"));
        assert_eq!(pane.state_labels["working"], "busy");
    }
}

fn b45_a_text_that_becomes_blank_is_gone(stage: &Stage) {
    let host = stage.reporter();
    let _turn = host.turn();
    for blank in ["", "\u{1b}\n", " \t", "\u{1b}]0;only a title for the terminal\u{7}"] {
        // With a label the presentation stays as a record, without one it is removed.
        for label in [Some("busy".to_owned()), None] {
            host.set_label(StateKey::Working, label.clone().unwrap_or_default());
            host.set_title("there").set_token("branch", "main");
            let pane = stage.flushed(&host);
            assert_eq!(pane.title.as_deref(), Some("there"));
            assert_eq!(pane.tokens["branch"], "main");
            host.set_title(blank).set_token("branch", blank);
            let pane = stage.flushed(&host);
            assert_eq!((pane.title, pane.tokens), (None, BTreeMap::new()), "{blank:?}");
            assert_eq!(pane.state_labels.get("working"), label.as_ref(), "{blank:?}");
        }
    }
    assert_eq!(stage.diagnostics(&host).kinds(), [], "the server refused nothing");
    let before = stage.requests();
    host.clear_title().clear_token("branch").set_title(" ");
    stage.flushed(&host);
    if let (Some(before), Some(after)) = (before, stage.requests()) {
        let reads = |line: &&serde_json::Value| line["method"] == "pane.get";
        let new: Vec<_> = after[before.len()..].iter().filter(|line| !reads(line)).collect();
        assert!(new.is_empty(), "nothing has changed: {new:?}");
    }
}

/// Sends each text as the title and as a token. Both must show the text beside it.
fn shows_as(stage: &Stage, texts: &[(&str, &str)]) {
    let host = stage.reporter();
    let _turn = host.turn();
    for (text, expected) in texts {
        host.set_title(*text).set_token("text", (*text).to_owned());
        let pane = stage.flushed(&host);
        assert_eq!(pane.title.as_deref(), Some(*expected), "title {text:?}");
        assert_eq!(pane.tokens["text"], *expected, "token {text:?}");
    }
    assert_eq!(stage.diagnostics(&host).kinds(), []);
}

fn b46_escapes_and_line_breaks_become_spaces(stage: &Stage) {
    shows_as(
        stage,
        &[
            ("\u{1b}[31mred\u{1b}[0m\nline2\ttab", "red line2 tab"),
            ("one\r\n\r\n\ntwo", "one two"),
            ("\u{1b}]0;window\u{7}after", "after"),
            ("a \u{1b}]8;;https://example.org\u{1b}\\link\u{1b}]8;;\u{1b}\\ b", "a link b"),
            ("\u{1b}P1$r0m\u{1b}\\shown", "shown"),
            ("an end with \u{1b}", "an end with"),
        ],
    );
}

fn b49_invisible_characters_go_and_emoji_stay(stage: &Stage) {
    shows_as(
        stage,
        &[
            ("\u{202e}evil\u{2066}x\u{2069}", "evilx"),
            ("zero\u{200b}width\u{feff}\u{e0041}", "zerowidth"),
            (
                "family \u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}",
                "family \u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}",
            ),
            ("heart \u{2764}\u{fe0f}", "heart \u{2764}\u{fe0f}"),
        ],
    );
    let long = "é".repeat(200);
    let host = stage.reporter();
    let _turn = host.turn();
    host.set_title(long);
    let title = stage.flushed(&host).title.unwrap();
    assert_eq!(title.chars().count(), 80);
    assert!(title.ends_with('…'), "{title}");
}

fn b50_the_reason_of_a_block_is_visible_and_goes_with_it(stage: &Stage) {
    let host = stage.reporter();
    let turn = host.turn();
    stage.wait_for("working");
    let ask = turn.prompt(Prompt::approval("Approve rm -rf?"));
    let reason = |text: &str| {
        let text = text.to_owned();
        move |pane: &herdr_proto::PaneInfo| {
            shows(pane, "blocked") && pane.state_labels.get("blocked") == Some(&text)
        }
    };
    stage.wait(reason("Approve rm -rf?"));
    let inner = turn.prompt(Prompt::question("Which one?"));
    stage.wait(reason("Which one?"));
    drop(inner);
    stage.wait(reason("Approve rm -rf?"));
    drop(ask);
    stage.wait(|pane| shows(pane, "working") && !pane.state_labels.contains_key("blocked"));
}

fn b54_each_privacy_level_shows_its_reason_and_takes_it_back(stage: &Stage) {
    let asked = [Prompt::approval("cargo test"), Prompt::question("Which key?")];
    for (privacy, shown) in [
        (Privacy::Text, ["cargo test", "Which key?"]),
        (Privacy::Tool, ["cargo test", "Waiting for an answer"]),
        (Privacy::Fixed, ["Waiting for approval", "Waiting for an answer"]),
    ] {
        let host = stage.reporter_with(|config| config.privacy = privacy);
        host.set_title("Which key?");
        let turn = host.turn();
        for (prompt, shown) in asked.iter().zip(shown) {
            let ask = turn.prompt(prompt.clone());
            let pane = stage.flushed(&host);
            assert!(shows(&pane, "blocked"), "{privacy:?}: {pane:?}");
            assert_eq!(pane.state_labels["blocked"], shown, "{privacy:?}");
            assert_eq!(pane.title.is_none(), privacy == Privacy::Fixed, "{pane:?}");
            drop(ask);
            let pane = stage.flushed(&host);
            assert!(shows(&pane, "working"), "{privacy:?}: {pane:?}");
            assert_eq!(pane.state_labels, BTreeMap::new(), "{privacy:?}");
        }
        drop(turn);
        host.close(PATIENCE);
        stage.wait_for_nothing();
    }
}

fn b52_of_forty_tokens_those_that_fit_are_shown(stage: &Stage) {
    let host = stage.reporter();
    let _turn = host.turn();
    let all = (0..40).map(|number| (format!("key-{number:02}"), Some(format!("value {number}"))));
    let refused = host.record(AgentEvent::tokens_changed(all)).unwrap_err();
    assert!(refused.to_string().contains("32"), "the limit is named: {refused}");
    let bad = BTreeMap::from([("no spaces".to_owned(), Some("x".to_owned()))]);
    let refused = host.record(AgentEvent::tokens_changed(bad)).unwrap_err();
    assert!(refused.to_string().contains("no spaces"), "the key is named: {refused}");
    let pane = stage.flushed(&host);
    assert_eq!(pane.tokens.len(), 32, "{:?}", pane.tokens);
    assert!(shows(&pane, "working"));
    if let Some(requests) = stage.requests() {
        for line in requests {
            let keys = line["params"]["tokens"].as_object().map_or(0, serde_json::Map::len);
            assert!(keys <= 16, "{line}");
        }
    }
    host.close(PATIENCE);
    stage.wait_for_nothing();
}

fn b52_a_hundred_restarts_use_up_nothing(stage: &Stage) {
    for round in 0..100 {
        let host = stage.reporter();
        host.set_token("round", round.to_string());
        let _turn = host.turn();
        let pane = stage.flushed(&host);
        assert_eq!(pane.tokens["round"], round.to_string());
        assert_eq!(stage.diagnostics(&host).kinds(), [], "round {round}");
        host.close(PATIENCE);
    }
    stage.wait_for_nothing();
}

fn b55_title_and_tokens_of_a_killed_host_expire(stage: &Stage) {
    let mut host = stage.sidecar(&["--metadata-ttl-s", "4"]);
    host.tell(r#"{"event":"agent_started"}"#);
    host.tell(r#"{"event":"title_changed","title":"on loan"}"#);
    host.tell(r#"{"event":"tokens_changed","tokens":{"branch":"main"}}"#);
    let there = |pane: &herdr_proto::PaneInfo| {
        pane.title.as_deref() == Some("on loan") && pane.tokens.contains_key("branch")
    };
    stage.wait(there);
    // While the host lives, it renews them.
    let gone = until(Duration::from_secs(7), || (!there(&stage.seen())).then_some(()));
    assert_eq!(gone, None, "the title outlives its ttl while the host lives");
    host.kill();
    stage
        .wait_within(Duration::from_secs(7), |pane| pane.title.is_none() && pane.tokens.is_empty());
    // A later run starts clean.
    let mut host = stage.sidecar(&[]);
    host.tell(r#"{"event":"agent_started"}"#);
    stage.wait_for("working");
    assert_eq!(host.finish(), Some(0));
    stage.wait_for_nothing();
}
