//! A reporter that must not report has no thread and no connection, and raises a diagnostic only if
//! something is set up wrongly.
//!
//! There is only one test, because it counts the threads of the process.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use fake_herdr::FakeHerdr;
use herdr_proto::{PaneId, ReportState, SourceId, integrations};
use herdr_reporter::{
    Builder, Config, Counters, DiagnosticKind, Ended, Flushed, Handle, OffReason, Prompt, Reporter,
    Role, Status,
};
use herdr_socket_transport::Endpoint;

type Case = (String, Builder, Option<DiagnosticKind>);

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

fn with(change: impl FnOnce(&mut Config)) -> Config {
    let mut changed = Config::default();
    change(&mut changed);
    changed
}

/// Herdr's variables, with one variable changed or removed.
fn environment(
    herdr: &FakeHerdr,
    name: &'static str,
    value: Option<&str>,
) -> impl Fn(&str) -> Option<OsString> {
    let mut variables: BTreeMap<String, OsString> =
        herdr.env().into_iter().map(|(name, value)| (name, value.into())).collect();
    variables.remove(name);
    variables.extend(value.map(|value| (name.to_owned(), value.into())));
    move |name| variables.get(name).cloned()
}

fn outside(herdr: &FakeHerdr) -> Vec<Case> {
    let misconfigured = Some(DiagnosticKind::Misconfigured);
    let socket = herdr.socket_path().to_string_lossy();
    let mut cases =
        vec![("outside Herdr".to_owned(), Reporter::builder("host").environment(|_| None), None)];
    for (name, value, expected_kind) in [
        ("HERDR_ENV", None, None),
        ("HERDR_ENV", Some("0"), None),
        ("HERDR_ENV", Some(""), None),
        ("HERDR_ENV", Some("true"), None),
        ("HERDR_PANE_ID", None, None),
        ("HERDR_PANE_ID", Some(""), misconfigured),
        ("HERDR_PANE_ID", Some("w1:p1\n"), misconfigured),
        ("HERDR_PANE_ID", Some("w1 p1"), misconfigured),
        ("HERDR_SOCKET_PATH", None, misconfigured),
        ("HERDR_SOCKET_PATH", Some(""), misconfigured),
        ("HERDR_SOCKET_PATH", Some("herdr.sock"), misconfigured),
        ("HERDR_SOCKET_PATH", Some(&*format!("{socket} ")), misconfigured),
        ("HERDR_SOCKET_PATH", Some(&*format!("{socket}\n")), misconfigured),
    ] {
        let builder = Reporter::builder("host").environment(environment(herdr, name, value));
        cases.push((format!("{name}={value:?}"), builder, expected_kind));
    }
    cases
}

fn switched_off(builder: impl Fn(&str) -> Builder) -> Vec<Case> {
    let mut cases = vec![
        ("disabled".to_owned(), builder("host").config(with(|c| c.enabled = false)), None),
        (
            "disabled, and reports already".to_owned(),
            builder("host").config(with(|c| c.enabled = false)).initial(ReportState::Working),
            None,
        ),
    ];
    for role in [Role::Headless, Role::Subagent, Role::WorkflowStage] {
        cases.push((format!("{role:?}"), builder("host").role(role), None));
        let config = with(|c| c.role = role);
        cases.push((format!("{role:?} by config"), builder("host").config(config), None));
    }
    cases
}

fn left_to_others(builder: impl Fn(&str) -> Builder) -> Vec<Case> {
    let mut cases: Vec<Case> = integrations()
        .map(|(source, label, _)| {
            let config = with(|c| c.source = Some(SourceId::parse(source).unwrap()));
            let builder = builder(label).config(config);
            (format!("{source} {label}"), builder, Some(DiagnosticKind::Misconfigured))
        })
        .collect();
    assert_eq!(cases.len(), 17);
    let deferred = [
        with(|c| c.loaded_reporters = vec!["/opt/ext/herdr-agent-state.ts".into()]),
        with(|c| {
            c.loaded_reporters = vec!["/a".into(), "/b/x-reporter.js".into()];
            c.defer_to = vec!["nothing".into(), "x-reporter".into()];
        }),
    ];
    for config in deferred {
        let name = format!("defers to {:?}", config.loaded_reporters);
        cases.push((name, builder("host").config(config), Some(DiagnosticKind::Deferred)));
    }
    cases
}

/// Makes every kind of call.
fn use_everything(pane: &Handle) {
    pane.set_session("s").set_title("T").set_model("m", None).set_usage(1).set_token("k", "v");
    let turn = pane.turn();
    let tool = turn.tool("grep");
    let ask = turn.prompt(Prompt::approval("x"));
    pane.release();
    drop((tool, ask, turn));
    let flushed = pane.flush(Duration::from_secs(60));
    assert_eq!(flushed, Flushed::NotReporting(pane.status()));
    assert_eq!(pane.receipts().iter().next(), None, "over from the beginning");
    assert_eq!(pane.counters(), Counters::default());
}

#[test]
fn an_inert_reporter_leaves_no_trace() {
    let herdr = FakeHerdr::start().unwrap();
    let endpoint = Endpoint::new(herdr.socket_path(), PaneId::parse(herdr.pane_id()).unwrap());
    let builder = |label: &str| Reporter::builder(label).endpoint(endpoint.clone());
    let cases = [outside(&herdr), switched_off(builder), left_to_others(builder)];

    let leases = herdr.socket_path().with_file_name("leases");
    let before = threads();
    for (name, builder, expected_kind) in cases.into_iter().flatten() {
        let pane = builder.start();
        assert_eq!(threads(), before, "{name}");
        assert!(!pane.is_active(), "{name}");
        let status = pane.status();
        let expected = match expected_kind {
            None => matches!(
                status,
                Status::NotInHerdr | Status::Off(OffReason::Disabled | OffReason::Role(_))
            ),
            Some(DiagnosticKind::Deferred) => status == Status::Off(OffReason::LoadedReporter),
            Some(_) => status == Status::Off(OffReason::Misconfigured),
        };
        assert!(expected, "{name}: {status:?}");
        use_everything(&pane);
        let mut diagnostics = pane.diagnostics();
        let kinds: Vec<_> = diagnostics.iter().map(|diagnostic| diagnostic.kind).collect();
        assert_eq!(kinds, Vec::from_iter(expected_kind), "{name}");
        assert_eq!(pane.close(Duration::from_secs(60)), Ended::NothingToRelease, "{name}");
        assert_eq!(threads(), before, "{name}");
    }
    assert_eq!(herdr.connections(), 0);
    assert!(!leases.exists());

    // These settings do not make a reporter inert.
    for (name, config) in [
        ("a loaded reporter of another kind", with(|c| c.loaded_reporters = vec!["/x.ts".into()])),
        (
            "an empty pattern",
            with(|c| {
                c.defer_to = vec![String::new()];
                c.loaded_reporters = vec!["/x.ts".into()];
            }),
        ),
        ("nothing", Config::default()),
    ] {
        let mut config = config;
        config.runtime_folder = Some(leases.clone());
        let pane = builder("host").config(config).start();
        assert!(pane.is_active(), "{name}");
        assert!(threads() > before, "{name}");
        pane.set_state(ReportState::Working);
        assert_eq!(pane.flush(Duration::from_secs(20)), Flushed::Delivered);
        assert_eq!(pane.close(Duration::from_millis(500)), Ended::Released);
    }
    assert!(herdr.connections() > 0 && leases.exists());
}
