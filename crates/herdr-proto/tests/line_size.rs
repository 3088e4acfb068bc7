//! Failure B61: values of any length are cut or refused before anything is
//! sent, and the largest that pass fit a line together.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use herdr_proto::limits::{
    PANE_ID_MAX, REQUEST_LINE_MAX, RESUME_ARGV_MAX_BYTES, SERVER_LINE_MAX, SESSION_ID_MAX,
    SESSION_PATH_MAX, SOURCE_MAX, TOKEN_KEY_MAX, TOKENS_PER_PANE,
};
use herdr_proto::{
    AgentGet, AgentLabel, ErrorKind, PaneId, PresentationText, ReportAgent, ReportMetadata,
    ReportState, ResumeArgv, Seq, SessionId, SessionPath, SourceId, StateKey, TokenEdit, TokenKey,
    TokenPatch, Ttl, encode,
};

const TWO_MB: usize = 2_000_000;

/// Four bytes a scalar in UTF-8; JSON leaves it as it is.
const WIDE: &str = "𝕏";

fn pane() -> PaneId {
    PaneId::parse("\"".repeat(PANE_ID_MAX)).unwrap()
}

fn source() -> SourceId {
    SourceId::parse("s".repeat(SOURCE_MAX)).unwrap()
}

fn label() -> AgentLabel {
    AgentLabel::normalize(&WIDE.repeat(TWO_MB / 4)).unwrap()
}

fn text(filler: &str) -> PresentationText {
    PresentationText::normalize(&filler.repeat(TWO_MB / filler.len())).unwrap()
}

#[test]
fn b61_the_largest_report_fits() {
    for filler in [WIDE, "\"", "\\"] {
        let mut report = ReportAgent::new(pane(), source(), label(), ReportState::Working);
        report.message = Some(text(filler));
        report.seq = Some(Seq::new(u64::MAX));
        report.agent_session_id = Some(SessionId::parse(filler.repeat(SESSION_ID_MAX)).unwrap());
        report.agent_session_path =
            Some(SessionPath::parse(format!("/{}", filler.repeat(SESSION_PATH_MAX - 1))).unwrap());
        let word = "\"".repeat(RESUME_ARGV_MAX_BYTES - 1);
        report.resume_argv = Some(ResumeArgv::parse(vec!["a".into(), word]).unwrap());
        assert!(encode("r1", &report).unwrap().len() <= REQUEST_LINE_MAX, "{filler}");
    }
}

#[test]
fn b61_the_largest_metadata_fits() {
    for filler in [WIDE, "\"", "\\"] {
        let mut report = ReportMetadata::new(pane(), source());
        report.agent = Some(label());
        report.applies_to_source = Some(source());
        report.title = Some(text(filler));
        report.display_agent = Some(text(filler));
        report.state_labels = StateKey::ALL.map(|key| (key, text(filler))).into();
        report.tokens = TokenPatch::new();
        for n in 0..TOKENS_PER_PANE {
            let key = TokenKey::parse(format!("{n:0>TOKEN_KEY_MAX$}")).unwrap();
            report.tokens.edit(key, TokenEdit::Set(text(filler)));
        }
        report.seq = Some(Seq::new(u64::MAX));
        report.ttl_ms = Some(Ttl::from_millis(86_400_000).unwrap());
        assert!(encode("r1", &report).unwrap().len() <= REQUEST_LINE_MAX, "{filler}");
    }
}

#[test]
fn b61_what_cannot_be_cut_is_refused() {
    let long = "x".repeat(TWO_MB);
    assert!(SessionId::parse(long.as_str()).is_err());
    assert!(SessionPath::parse(format!("/{long}")).is_err());
    assert!(SourceId::parse(long.as_str()).is_err());
    assert!(PaneId::parse(long.as_str()).is_err());
    assert!(AgentLabel::parse(&long).is_err());
    assert!(TokenKey::parse(long.as_str()).is_err());
    assert!(ResumeArgv::parse(vec!["a".into(), long.clone()]).is_err());
}

#[test]
fn a_free_text_that_fits_no_line_is_oversize() {
    let mut call = AgentGet::of(&pane());
    call.target = "x".repeat(REQUEST_LINE_MAX);
    let error = encode("r1", &call).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Oversize);
    assert!(error.to_string().contains(&REQUEST_LINE_MAX.to_string()), "{error}");
}

#[test]
fn our_lines_are_far_below_the_servers_limit() {
    const { assert!(REQUEST_LINE_MAX * 8 < SERVER_LINE_MAX) }
}

#[test]
fn the_limit_is_exact() {
    let mut call = AgentGet::of(&pane());
    call.target = String::new();
    let rest = encode("r1", &call).unwrap().len();
    call.target = "x".repeat(REQUEST_LINE_MAX - rest);
    assert_eq!(encode("r1", &call).unwrap().len(), REQUEST_LINE_MAX);
    call.target.push('x');
    assert_eq!(encode("r1", &call).unwrap_err().kind(), ErrorKind::Oversize);
}
