//! How much of the host's texts each level of privacy sends.

use herdr_proto::{ReportState, StateKey};
use herdr_reporter::{AgentEvent, Config, Privacy, Prompt, ReasonLabel, SessionStarted};

use crate::support::{
    config, label, model, prompt, reason, set, show, shown_label, shown_title, shown_tokens,
    started, title, tokens, tool, unknown_prompt, usage, waiting,
};

/// Events, and the reason that is sent at each level.
type Case = (&'static str, Vec<AgentEvent>, [Option<&'static str>; 3]);

const LEVELS: [Privacy; 3] = [Privacy::Text, Privacy::Tool, Privacy::Fixed];

fn at(privacy: Privacy) -> Config {
    config(|config| {
        config.privacy = privacy;
        config.reason_label = ReasonLabel::All;
    })
}

#[test]
fn each_reason_at_each_level() {
    let cases: [Case; 7] = [
        (
            "approval",
            vec![prompt("p", Prompt::approval("rm -rf x"))],
            [Some("rm -rf x"), Some("rm -rf x"), Some("Waiting for approval")],
        ),
        (
            "question",
            vec![prompt("p", Prompt::question("Which key?"))],
            [Some("Which key?"), Some("Waiting for an answer"), Some("Waiting for an answer")],
        ),
        (
            "a prompt of an unknown kind",
            vec![prompt("p", unknown_prompt("secret"))],
            [Some("secret"), Some("Waiting for an answer"), Some("Waiting for an answer")],
        ),
        (
            "workflow",
            vec![waiting("deploy-7")],
            [
                Some("Workflow needs attention: deploy-7"),
                Some("Workflow needs attention"),
                Some("Workflow needs attention"),
            ],
        ),
        ("tool", vec![started(), tool("t", "bash")], [Some("bash"), Some("bash"), None]),
        (
            "a blocked state that was said",
            vec![set(ReportState::Blocked, "secret")],
            [Some("secret"), None, None],
        ),
        (
            "a working state that was said",
            vec![set(ReportState::Working, "secret")],
            [Some("secret"), None, None],
        ),
    ];
    for (name, events, expected) in cases {
        for (privacy, expected) in LEVELS.into_iter().zip(expected) {
            let shown = show(&at(privacy), events.clone());
            assert_eq!(reason(&shown), expected, "{name} at {privacy:?}");
            let key = StateKey::from(shown.state);
            assert_eq!(shown_label(&shown, key), expected, "{name} at {privacy:?}");
        }
    }
}

fn everything() -> Vec<AgentEvent> {
    let mut session = SessionStarted::new("secret-session");
    session.session_path = Some("/home/secret/session".into());
    session.resume_argv = Some(vec!["agent".into(), "--secret".into()]);
    vec![
        AgentEvent::SessionStarted(session),
        title(Some("secret title")),
        model(Some("sonnet"), Some(200_000)),
        usage(1_000),
        tokens([("branch", Some("secret-branch"))]),
        label(StateKey::Working, Some("secret label")),
        started(),
        tool("t", "secret-tool"),
    ]
}

#[test]
fn fixed_holds_back_whatever_a_host_writes() {
    let config = config(|config| {
        config.privacy = Privacy::Fixed;
        config.reason_label = ReasonLabel::All;
        config.session_token = true;
        config.display_name = Some("Configured".into());
        config.state_labels.insert(StateKey::Working, "configured".into());
    });
    let blocking: [Vec<AgentEvent>; 5] = [
        vec![],
        vec![prompt("p", Prompt::approval("secret"))],
        vec![prompt("p", unknown_prompt("secret"))],
        vec![waiting("secret-run")],
        vec![set(ReportState::Blocked, "secret")],
    ];
    for more in blocking {
        let shown = show(&config, [everything(), more].concat());
        assert!(!format!("{shown:?}").contains("secret"), "{shown:?}");
        assert_eq!(shown_tokens(&shown), [("ctx", "1k/200k"), ("model", "sonnet")]);
        assert_eq!(shown.session, None);
        assert_eq!(shown_title(&shown), None);
        let name = shown.presentation.display_agent.as_ref().map(AsRef::as_ref);
        assert_eq!(name, Some("Configured"), "what the user configured goes out");
        let label = shown_label(&shown, StateKey::Working);
        assert_eq!(label, Some("configured"));
    }
}

#[test]
fn tool_and_text_let_titles_tokens_and_the_session_out() {
    for privacy in [Privacy::Text, Privacy::Tool] {
        let shown = show(&at(privacy), everything());
        assert_eq!(shown_title(&shown), Some("secret title"));
        assert!(shown_tokens(&shown).contains(&("branch", "secret-branch")));
        assert_eq!(shown_label(&shown, StateKey::Working), Some("secret label: secret-tool"));
        let session = shown.session.unwrap();
        assert_eq!(session.id.unwrap().to_string(), "secret-session");
    }
}
