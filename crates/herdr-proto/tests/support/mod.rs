//! Arbitrary valid values of every type that a request is made of, and texts as
//! bad as they come.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(dead_code, reason = "every test file uses a part")]

pub(crate) mod calls;

use herdr_proto::{
    AgentLabel, PaneId, PresentationText, ReportMetadata, ReportState, ResumeArgv, Seq, SessionId,
    SessionPath, SourceId, StartSource, StateKey, StateLabels, TokenEdit, TokenKey, TokenPatch,
    Ttl,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// What the server does to a text before it keeps it (protocol §5.6 D6).
pub(crate) fn as_the_server_keeps_it(text: &str) -> String {
    let kept: String = text.trim().chars().filter(|c| !c.is_control()).take(80).collect();
    kept.trim().to_owned()
}

/// Texts with escape sequences, control and invisible characters, clusters and
/// lengths around the limits.
pub(crate) fn rough_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "\\PC{1,12}",
        2 => any::<char>().prop_map(String::from),
        1 => "[a-z ]{60,90}",
        2 => select(vec![
            " ", "  ", "\n", "\r\n", "\t", "\0", "\u{7f}", "\u{85}", "\u{2028}", "\u{a0}",
            "\u{1b}", "\u{1b}[", "\u{1b}[31m", "\u{1b}[0m", "\u{1b}]0;t\u{7}", "\u{1b}]8;;u\u{1b}\\",
            "\u{1b}P1q\u{1b}\\", "\u{1b}(B", "\u{9b}1m", "\u{9d}0;t\u{9c}", "\u{90}", "\\", "\u{7}",
            "\u{200d}", "\u{fe0f}", "\u{e0100}", "\u{200b}", "\u{202e}", "\u{2066}", "\u{feff}",
            "\u{e0041}", "\u{301}", "\u{600}", "👩\u{200d}👩\u{200d}👧\u{200d}👦", "🇩🇪", "日本", "…",
            "\u{e0b0}", "\"", "\\u0000",
        ])
        .prop_map(str::to_owned),
    ];
    vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

pub(crate) fn text() -> impl Strategy<Value = PresentationText> {
    rough_text().prop_filter_map("nothing is left", |text| PresentationText::normalize(&text))
}

pub(crate) fn pane_id() -> impl Strategy<Value = PaneId> {
    "[^\\s\\pC]{1,32}".prop_map(|id| PaneId::parse(id).unwrap())
}

pub(crate) fn source() -> impl Strategy<Value = SourceId> {
    "[A-Za-z0-9:._-]{1,80}".prop_map(|source| SourceId::parse(source).unwrap())
}

pub(crate) fn label() -> impl Strategy<Value = AgentLabel> {
    prop_oneof![
        "[A-Za-z][A-Za-z0-9 -]{0,20}",
        rough_text(),
        select(herdr_proto::known_labels().collect::<Vec<_>>()).prop_map(str::to_owned),
    ]
    .prop_filter_map("nothing is left", |label| AgentLabel::normalize(&label))
}

pub(crate) fn seq() -> impl Strategy<Value = Seq> {
    any::<u64>().prop_map(Seq::new)
}

pub(crate) fn ttl() -> impl Strategy<Value = Ttl> {
    (1..=86_400_000_u64).prop_map(|millis| Ttl::from_millis(millis).unwrap())
}

pub(crate) fn state() -> impl Strategy<Value = ReportState> {
    select(vec![
        ReportState::Idle,
        ReportState::Working,
        ReportState::Blocked,
        ReportState::Unknown,
    ])
}

pub(crate) fn start_source() -> impl Strategy<Value = StartSource> {
    select(vec![
        StartSource::Startup,
        StartSource::Resume,
        StartSource::Clear,
        StartSource::New,
        StartSource::Fork,
        StartSource::Compact,
    ])
}

pub(crate) fn session_id() -> impl Strategy<Value = SessionId> {
    "\\PC{1,64}".prop_map(|id| SessionId::parse(id).unwrap())
}

pub(crate) fn session_path() -> impl Strategy<Value = SessionPath> {
    "/\\PC{0,64}".prop_map(|path| SessionPath::parse(path).unwrap())
}

pub(crate) fn resume_argv() -> impl Strategy<Value = ResumeArgv> {
    ("[a-z][a-z0-9_.-]{0,20}", vec("[^'\\pC]{0,30}", 0..5))
        .prop_map(|(command, rest)| ResumeArgv::parse([vec![command], rest].concat()).unwrap())
}

pub(crate) fn state_labels() -> impl Strategy<Value = StateLabels> {
    btree_map(select(StateKey::ALL.to_vec()), text(), 0..=5)
}

pub(crate) fn token_key() -> impl Strategy<Value = TokenKey> {
    "[A-Za-z0-9_-]{1,32}".prop_map(|key| TokenKey::parse(key).unwrap())
}

pub(crate) fn token_patch() -> impl Strategy<Value = TokenPatch> {
    btree_map(token_key(), option::of(text()), 0..=4).prop_map(|edits| {
        let mut patch = TokenPatch::new();
        for (key, text) in edits {
            patch.edit(key, text.map_or(TokenEdit::Clear, TokenEdit::Set));
        }
        patch
    })
}

pub(crate) fn metadata() -> impl Strategy<Value = ReportMetadata> {
    (
        (pane_id(), source(), option::of(label()), option::of(source())),
        (option::of(text()), option::of(text()), state_labels(), token_patch()),
        (any::<bool>(), any::<bool>(), any::<bool>(), option::of(seq()), option::of(ttl())),
    )
        .prop_map(|(who, what, how)| {
            let mut report = ReportMetadata::new(who.0, who.1);
            (report.agent, report.applies_to_source) = (who.2, who.3);
            (report.title, report.display_agent) = (what.0, what.1);
            (report.state_labels, report.tokens) = (what.2, what.3);
            (report.clear_title, report.clear_display_agent) = (how.0, how.1);
            (report.clear_state_labels, report.seq, report.ttl_ms) = (how.2, how.3, how.4);
            report
        })
}
