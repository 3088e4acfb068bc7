//! The sources and labels that a reporter uses.

use fake_herdr::FakeHerdr;
use herdr_proto::{AgentLabel, ReportState, SourceId, integrations};
use herdr_reporter::sidecar::SourceNotice;
use herdr_reporter::{Builder, DiagnosticKind, ErrorKind, Reporter};

use crate::processes::requests;
use crate::support::{AMPLE, builder, config, flushed};

fn named(herdr: &FakeHerdr, source: &str, label: &str) -> Builder {
    let mut config = config(herdr.socket_path());
    config.source = Some(SourceId::parse(source).unwrap());
    let pane = herdr_proto::PaneId::parse("w1:p1").unwrap();
    let endpoint = herdr_socket_transport::Endpoint::new(herdr.socket_path(), pane);
    Reporter::builder(label).endpoint(endpoint).config(config)
}

#[test]
fn b39_an_official_pair_is_refused_and_nothing_connects() {
    let herdr = FakeHerdr::start().unwrap();
    let mut pairs = 0;
    for (source, label, _) in integrations() {
        let error = named(&herdr, source, label).check().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OfficialSource, "{source}");
        let text = error.to_string();
        assert!(text.contains(source) && text.contains("custom:"), "{text}");
        let pane = named(&herdr, source, label).initial(ReportState::Working).start();
        assert!(!pane.is_active(), "{source}");
        let raised = pane.diagnostics().recv_timeout(AMPLE).unwrap();
        assert_eq!((raised.kind, raised.detail), (DiagnosticKind::Misconfigured, text));
        pairs += 1;
    }
    assert!(pairs > 0 && herdr.connections() == 0);
}

#[test]
fn b39_herdrs_prefix_causes_a_warning_and_works() {
    let herdr = FakeHerdr::start().unwrap();
    let source = SourceId::parse("herdr:mine").unwrap();
    let notice = SourceNotice::of(&source, &AgentLabel::parse("host").unwrap()).unwrap();
    assert!(!notice.is_refused() && notice.text().contains("custom:"), "{}", notice.text());
    let builder = named(&herdr, "herdr:mine", "host");
    builder.check().unwrap();
    let pane = builder.start();
    pane.set_state(ReportState::Working);
    flushed(&pane);
    assert_eq!(herdr.observe("w1:p1").unwrap().agent_status, "working");
    assert_eq!(herdr.with_model(|model| model.authority("w1:p1")).unwrap().0, "herdr:mine");
}

#[test]
fn b39_the_default_source_is_custom() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = builder(&herdr).start();
    pane.set_title("T").set_state(ReportState::Working);
    flushed(&pane);
    drop(pane);
    let requests = requests(&herdr);
    let sources: Vec<_> =
        requests.iter().filter_map(|request| request["params"]["source"].as_str()).collect();
    assert!(sources.len() >= 4, "a report, a title, and both taken back: {sources:?}");
    assert!(sources.iter().all(|source| *source == "custom:host"), "{sources:?}");
}
