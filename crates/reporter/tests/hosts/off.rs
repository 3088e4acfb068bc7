//! A reporter that must not report does not connect.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use fake_herdr::FakeHerdr;
use herdr_proto::ReportState;
use herdr_reporter::{Builder, DiagnosticKind, Ended, Prompt, Reporter, Role};

use crate::processes::{Host, runtime, until};
use crate::support::{AMPLE, BUDGET, builder, config, flushed};

fn use_it(builder: Builder) -> Vec<DiagnosticKind> {
    let pane = builder.initial(ReportState::Working).start();
    assert!(!pane.is_active());
    pane.set_session("s").set_title("T").set_token("k", "v");
    drop(pane.turn().prompt(Prompt::approval("Run it?")));
    let mut diagnostics = pane.diagnostics();
    assert_eq!(pane.close(BUDGET), Ended::NothingToRelease);
    diagnostics.iter().map(|diagnostic| diagnostic.kind).collect()
}

/// The environment of this server's pane, with one variable changed.
fn environment(herdr: &FakeHerdr, name: &str, value: Option<&str>) -> Builder {
    let variables = herdr.env().into_iter().map(|(name, value)| (name, OsString::from(value)));
    let mut variables: BTreeMap<String, OsString> = variables.collect();
    variables.remove(name);
    variables.extend(value.map(|value| (name.to_owned(), value.into())));
    let lookup = move |name: &str| variables.get(name).cloned();
    Reporter::builder("host").environment(lookup).config(config(herdr.socket_path()))
}

#[test]
fn b21_a_run_without_a_person_never_connects() {
    let herdr = FakeHerdr::start().unwrap();
    for role in [Role::Headless, Role::Subagent, Role::WorkflowStage] {
        assert_eq!(use_it(builder(&herdr).role(role)), [], "{role:?}");
    }
    assert_eq!(use_it(environment(&herdr, "HERDR_ENV", Some("0"))), []);
    let mut off = config(herdr.socket_path());
    off.enabled = false;
    assert_eq!(use_it(builder(&herdr).config(off)), []);
    assert_eq!(herdr.connections(), 0);

    // Inside Herdr, the same host reports.
    let pane = environment(&herdr, "HERDR_ENV", Some("1")).start();
    pane.set_state(ReportState::Working);
    flushed(&pane);
    assert_eq!(herdr.observe("w1:p1").unwrap().agent_status, "working");
}

#[test]
fn b21_a_process_is_inert_if_its_environment_says_so() {
    let (herdr, runtime) = (FakeHerdr::start().unwrap(), runtime());
    let mut command = Host::command("host", &herdr, runtime.path());
    let host = Host::start(command.env("HERDR_ENV", "0"));
    assert_eq!(host.says(AMPLE).as_deref(), Some("inert"));
    assert_eq!(host.end(), [""; 0]);
    assert_eq!(herdr.connections(), 0);
}

#[test]
fn b22_a_scrubbed_environment_keeps_a_process_off_the_pane() {
    let (herdr, runtime) = (FakeHerdr::start().unwrap(), runtime());
    let ours = builder(&herdr).start();
    ours.set_title("ours").set_token("k", "v");
    ours.set_state(ReportState::Working);
    flushed(&ours);
    let before = herdr.observe("w1:p1").unwrap();

    // The lease is in another folder, so only the environment keeps the process off.
    let mut command = Host::command("tests", &herdr, runtime.path());
    herdr_reporter::scrub(&mut command);
    let mut host = Host::start(&mut command);
    assert_eq!(host.says(AMPLE).as_deref(), Some("inert"));
    host.title("theirs");
    assert_eq!(host.end(), [""; 0]);
    assert_eq!(herdr.observe("w1:p1").unwrap(), before);
    let theirs = herdr.log().iter().any(|exchange| exchange.request.contains("custom:tests"));
    assert!(!theirs);
    assert_eq!(std::fs::read_dir(runtime.path()).unwrap().count(), 0, "not even a lease");

    // With its whole environment, the same process connects.
    let host = Host::start(&mut Host::command("tests", &herdr, runtime.path()));
    assert_eq!(host.says(AMPLE).as_deref(), Some("active"));
    herdr.wait_until(AMPLE, |pane| pane.agent.as_deref() == Some("tests")).unwrap();
}

#[test]
fn b67_a_pane_without_a_socket_is_reported_once() {
    let herdr = FakeHerdr::start().unwrap();
    let raised = use_it(environment(&herdr, "HERDR_SOCKET_PATH", None));
    assert_eq!(raised, [DiagnosticKind::Misconfigured]);
    assert_eq!(herdr.connections(), 0);
}

#[test]
fn b67_a_socket_of_another_machine_is_reported_once_and_does_no_harm() {
    let (herdr, folder) = (FakeHerdr::start().unwrap(), runtime());
    let elsewhere = folder.path().join("not/on/this/machine/herdr.sock");
    let mut config = config(herdr.socket_path());
    config.runtime_folder = Some(folder.path().join("leases"));
    let builder = environment(&herdr, "HERDR_SOCKET_PATH", elsewhere.to_str());
    let pane = builder.config(config).start();
    let (mut diagnostics, handle) = (pane.diagnostics(), pane.handle());
    let _turn = pane.turn();
    let raised = diagnostics.recv_timeout(AMPLE).expect("it says so");
    assert_eq!(raised.kind, DiagnosticKind::ConnectFailed);
    assert!(raised.detail.contains("not/on/this/machine/herdr.sock"), "{}", raised.detail);
    for n in 0..1000 {
        handle.set_title(format!("title {n}")).set_usage(n);
    }
    pane.flush(Duration::from_millis(600));
    assert_eq!(pane.close(BUDGET), Ended::NothingToRelease);
    assert_eq!(diagnostics.iter().next(), None, "reported once");
    assert!(!folder.path().join("not").exists(), "nothing is made there");
    assert!(until(AMPLE, || !handle.is_active()));
}
