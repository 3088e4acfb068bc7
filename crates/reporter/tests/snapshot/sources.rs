//! The source for a label.

use herdr_proto::{AgentLabel, SourceId};
use herdr_reporter::sidecar::{SourceNotice, source_for};

fn source(label: &str) -> String {
    source_for(&AgentLabel::normalize(label).unwrap()).to_string()
}

#[test]
fn any_label_becomes_a_source() {
    let x80 = "x".repeat(80);
    let long = format!("custom:{}", "x".repeat(73));
    for (label, expected) in [
        ("host", "custom:host"),
        ("  host  ", "custom:host"),
        ("HostBot", "custom:hostbot"),
        ("My Agent", "custom:my-agent"),
        ("a:b", "custom:a-b"),
        ("a/b\\c", "custom:a-b-c"),
        ("a.b_c-d", "custom:a.b_c-d"),
        ("two\nlines", "custom:two-lines"),
        ("tab\there", "custom:tab-here"),
        ("\u{1b}[31mred\u{1b}[0m", "custom:red"),
        ("Ärger 2", "custom:-rger-2"),
        ("日本 bot", "custom:---bot"),
        ("GPT\u{202e}-5", "custom:gpt-5"),
        ("🤖 bot", "custom:--bot"),
        ("herdr:pi", "custom:herdr-pi"),
        ("Claude-Code.exe", "custom:claude"),
        (x80.as_str(), long.as_str()),
    ] {
        assert_eq!(source(label), expected, "{label:?}");
    }
}

#[test]
fn labels_without_a_letter_of_the_alphabet_do_not_share_a_source() {
    let labels = ["日本", "日本語", "🤖", "🤖🤖", "Я", "...", "---", "_"];
    let mut sources: Vec<String> = labels.iter().map(|label| source(label)).collect();
    for source in &sources {
        assert!(source.starts_with("custom:") && SourceId::parse(source.as_str()).is_ok());
        assert_eq!(source.len(), "custom:".len() + 16, "{source}");
    }
    assert_eq!(sources, labels.map(source), "the same label, the same source");
    sources.sort();
    sources.dedup();
    assert_eq!(sources.len(), labels.len());
}

#[test]
fn no_source_that_is_made_here_is_one_of_herdrs_own() {
    for label in herdr_proto::known_labels() {
        let label = AgentLabel::parse(label).unwrap();
        let notice = SourceNotice::of(&source_for(&label), &label);
        assert_eq!(notice, Some(SourceNotice::KnownLabel), "{label}");
    }
}
