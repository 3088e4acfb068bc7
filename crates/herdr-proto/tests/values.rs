//! What may be said: every parser takes exactly its alphabet and its range
//! (failures B05, B47, B52, B55).

mod support;

use herdr_proto::{
    AgentLabel, Integration, InvalidValue, PaneId, ResumeArgv, Seq, SessionId, SessionPath,
    SourceId, TokenKey, Ttl, integration, limits,
};
use proptest::prelude::*;
use support::rough_text;

/// Words near the limits of every alphabet.
fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[A-Za-z0-9:._-]{0,90}", "[A-Za-z0-9_-]{0,40}", "\\PC{0,8}", any::<String>()]
}

fn only(word: &str, extra: &str, max: usize) -> bool {
    (1..=max).contains(&word.len())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || extra.contains(c))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_source_has_80_of_its_alphabet(word in word()) {
        prop_assert_eq!(SourceId::parse(word.as_str()).is_ok(), only(&word, ":._-", 80));
    }

    #[test]
    fn a_token_key_has_32_of_its_alphabet(word in word()) {
        prop_assert_eq!(TokenKey::parse(word.as_str()).is_ok(), only(&word, "_-", 32));
    }

    #[test]
    fn a_pane_id_has_no_blanks(word in word()) {
        let fits = (1..=limits::PANE_ID_MAX).contains(&word.len())
            && !word.chars().any(|c| c.is_whitespace() || c.is_control());
        prop_assert_eq!(PaneId::parse(word.as_str()).is_ok(), fits);
    }

    #[test]
    fn a_session_has_no_control_characters(word in prop_oneof![word(), "/\\PC{0,20}"]) {
        let clean = !word.is_empty() && !word.chars().any(char::is_control);
        prop_assert_eq!(SessionId::parse(word.as_str()).is_ok(), clean);
        let path = clean && word.starts_with('/');
        prop_assert_eq!(SessionPath::parse(word.as_str()).is_ok(), path);
    }

    #[test]
    fn a_time_to_live_has_up_to_a_day(millis in prop_oneof![0..3_u64, 86_399_990..86_400_010_u64, any::<u64>()]) {
        let fits = (1..=86_400_000).contains(&millis);
        prop_assert_eq!(Ttl::from_millis(millis).is_ok(), fits);
        prop_assert_eq!(serde_json::from_value::<Ttl>(millis.into()).is_ok(), fits);
    }

    #[test]
    fn a_label_of_any_text_is_one_that_parses(text in rough_text()) {
        if let Some(label) = AgentLabel::normalize(&text) {
            prop_assert_eq!(AgentLabel::parse(&label), Ok(label));
        }
    }

    #[test]
    fn a_label_that_parses_is_clean(text in prop_oneof![rough_text(), word()]) {
        if let Ok(label) = AgentLabel::parse(&text) {
            prop_assert_eq!(herdr_proto::strip_controls(label.as_str()), label.as_str());
            prop_assert_eq!(AgentLabel::normalize(label.as_str()), Some(label));
        }
    }
}

#[test]
fn lengths_count_to_the_last_one() {
    fn edge<T>(max: usize, parse: impl Fn(String) -> Result<T, InvalidValue>) {
        assert!(parse("x".repeat(max)).is_ok());
        assert!(parse("x".repeat(max + 1)).is_err());
    }
    edge(80, SourceId::parse);
    edge(32, TokenKey::parse);
    edge(128, PaneId::parse);
    edge(512, SessionId::parse);
    edge(80, AgentLabel::parse);
    edge(4095, |path| SessionPath::parse(format!("/{path}")));
    // Characters count, not bytes.
    assert!(SessionId::parse("é".repeat(512)).is_ok());
    assert!(AgentLabel::parse("é".repeat(80)).is_ok());
}

#[test]
fn b47_a_label_is_cleaned_or_refused() {
    let long = "x".repeat(10_000);
    for bad in ["zz\nq\u{1b}[31m", &long, "   ", "", "a\u{202e}b", "\u{200b}", "a\u{2028}b"] {
        let error = AgentLabel::parse(bad).unwrap_err();
        assert_eq!(error.field(), "agent");
        let words = error.to_string();
        assert!(bad.trim().is_empty() || !words.contains(bad), "{words}");
    }
    for (raw, clean) in [("zz\nq\u{1b}[31m", "zz q"), ("\u{200b}Bot ", "Bot")] {
        assert_eq!(AgentLabel::normalize(raw).unwrap().as_str(), clean);
    }
    assert_eq!(AgentLabel::normalize(&long).unwrap().as_str().chars().count(), 80);
    assert_eq!(AgentLabel::normalize(" \u{1b}[0m "), None);
}

#[test]
fn b47_every_name_of_an_agent_leads_to_one() {
    for canonical in herdr_proto::known_labels() {
        for ending in ["", ".exe", ".cmd", ".bat", ".ps1", ".js"] {
            let spelled = format!("  {}{ending} ", canonical.to_uppercase());
            assert_eq!(AgentLabel::parse(spelled).unwrap().as_str(), canonical);
        }
    }
    assert_eq!(herdr_proto::known_labels().count(), 22);
    for (spelled, canonical) in [(" claude-code ", "claude"), ("devin cli", "devin")] {
        assert_eq!(AgentLabel::parse(spelled).unwrap().as_str(), canonical);
    }
    for unknown in ["HostBot", "x/claude", "claude.exe.exe", "pi agent"] {
        assert_eq!(AgentLabel::parse(unknown).unwrap().as_str(), unknown);
    }
}

#[test]
fn b47_an_error_says_what_is_wrong_and_what_is_right() {
    for (error, words) in [
        (
            SourceId::parse("my source").unwrap_err(),
            "source holds ' '; expected 1 to 80 of A-Z a-z 0-9 : . _ -",
        ),
        (
            TokenKey::parse("k".repeat(33)).unwrap_err(),
            "token key has 33 characters; expected 1 to 32 of A-Z a-z 0-9 _ -",
        ),
        (Ttl::from_millis(0).unwrap_err(), "ttl_ms is 0; expected 1 to 86400000 milliseconds"),
        (
            SessionPath::parse("a/b").unwrap_err(),
            "agent_session_path is relative; expected an absolute path of up to 4096 characters",
        ),
        (
            ResumeArgv::parse(vec!["/bin/x".into()]).unwrap_err(),
            "resume_argv begins with a path, not a bare command name; expected a bare command \
             name and plain arguments, up to 64 words and 8192 bytes",
        ),
        (PaneId::parse("").unwrap_err(), "pane_id is empty; expected an id such as w1:p1"),
    ] {
        assert_eq!(error.to_string(), words);
    }
}

#[test]
fn b52_a_token_key_that_the_server_would_refuse_is_refused() {
    for bad in ["", "a b", "a.b", "a:b", "é", "a\n", "a/b", &"k".repeat(33)] {
        assert!(TokenKey::parse(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn b05_a_sequence_number_is_a_whole_number() {
    assert_eq!(serde_json::to_string(&Seq::new(u64::MAX)).unwrap(), "18446744073709551615");
    assert_eq!(serde_json::from_str::<Seq>("9007199254740993").unwrap().get(), (1 << 53) + 1);
    for bad in ["1e18", "1.0", "-1", "\"5\"", "18446744073709551616", "null"] {
        assert!(serde_json::from_str::<Seq>(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_resume_command_has_its_limits() {
    let words = |n: usize| ResumeArgv::parse(vec!["a".to_owned(); n]);
    assert!(words(64).is_ok() && words(65).is_err() && words(0).is_err());
    let bytes = |n: usize| ResumeArgv::parse(vec!["a".to_owned(), "b".repeat(n - 1)]);
    assert!(bytes(8192).is_ok() && bytes(8193).is_err());
    for bad in ["", "a/b", "a\\b", "a b", "a'b", "a\u{1b}"] {
        assert!(ResumeArgv::parse(vec![bad.to_owned()]).is_err(), "{bad:?}");
    }
}

#[test]
fn b36_a_pair_is_one_of_herdrs_own_only_whole() {
    assert_eq!(integration("herdr:pi", "pi"), Some(Integration::FullLifecycle));
    assert_eq!(integration("herdr:antigravity_cli", "agy"), Some(Integration::IdentityOnly));
    assert_eq!(integration("herdr:pi", "prime-agent"), None);
    assert_eq!(integration("custom:pi", "pi"), None);
}
