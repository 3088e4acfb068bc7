//! One reporter for each pane, with real processes.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use fake_herdr::FakeHerdr;
use herdr_reporter::{Config, DiagnosticKind, Ended, Reporter};

use crate::processes::{Host, leases, runtime};
use crate::support::{AMPLE, builder, config, flushed};

/// How soon another process takes the pane over after the owner's death, with some time for a busy
/// machine.
const SOON: Duration = Duration::from_secs(4);

fn start(herdr: &FakeHerdr, leases: &Path) -> Reporter {
    let mut config = Config::default();
    config.runtime_folder = Some(leases.to_path_buf());
    builder(herdr).config(config).start()
}

fn host(label: &str, herdr: &FakeHerdr, runtime: &Path) -> Host {
    let host = Host::start(&mut Host::command(label, herdr, runtime));
    assert_eq!(host.says(AMPLE).as_deref(), Some("active"));
    host
}

fn shows(herdr: &FakeHerdr, agent: &str, patience: Duration) {
    herdr.wait_until(patience, |pane| pane.agent.as_deref() == Some(agent)).unwrap();
}

fn spoke(herdr: &FakeHerdr, label: &str) -> bool {
    let source = format!("custom:{label}");
    herdr.log().iter().any(|exchange| exchange.request.contains(&source))
}

#[test]
fn b19_a_child_defers_and_its_end_releases_nothing() {
    let (herdr, runtime) = (FakeHerdr::start().unwrap(), runtime());
    let parent = start(&herdr, &leases(runtime.path()));
    let turn = parent.turn();
    parent.set_title("the parent's");
    flushed(&parent);
    let before = herdr.observe("w1:p1").unwrap();

    let mut child = host("child", &herdr, runtime.path());
    child.title("the child's");
    let raised = child.says(AMPLE).expect("it says that it defers");
    assert!(raised.starts_with("deferred: "), "{raised}");
    child.title("the child's, again");
    // A process with the label of the parent does not get the pane either.
    let twin = host("host", &herdr, runtime.path());
    assert_eq!(child.end(), [""; 0]);
    twin.end();
    flushed(&parent);
    assert_eq!(herdr.observe("w1:p1").unwrap(), before);
    assert!(!spoke(&herdr, "child"));
    assert!(!herdr.log().iter().any(|exchange| exchange.request.contains("pane.release_agent")));

    drop(turn);
    assert_eq!(parent.close(AMPLE), Ended::Released);
}

#[test]
fn b19_a_child_that_just_started_gets_the_pane_of_a_killed_parent() {
    let (herdr, runtime) = (FakeHerdr::start().unwrap(), runtime());
    let mut parent = host("parent", &herdr, runtime.path());
    shows(&herdr, "parent", AMPLE);
    let child = host("child", &herdr, runtime.path());
    parent.kill();
    shows(&herdr, "child", SOON);
    assert_eq!(child.end(), [""; 0]);
    assert_eq!(herdr.observe("w1:p1").unwrap().agent, None);
}

#[test]
fn b19_a_child_that_deferred_gets_the_pane_of_a_killed_parent() {
    let (herdr, runtime) = (FakeHerdr::start().unwrap(), runtime());
    let mut parent = host("parent", &herdr, runtime.path());
    shows(&herdr, "parent", AMPLE);
    let child = host("child", &herdr, runtime.path());
    assert!(child.says(AMPLE).is_some_and(|raised| raised.starts_with("deferred: ")));
    assert!(!spoke(&herdr, "child"));
    parent.kill();
    shows(&herdr, "child", SOON);
    drop(child);
}

/// The source of each request that writes, in the order of connecting, and whether the request is a
/// release.
fn writes(herdr: &FakeHerdr) -> Vec<(String, bool)> {
    let mut log = herdr.log();
    // The log is in the order of the answers, which may differ on a busy machine.
    log.sort_by_key(|exchange| exchange.connection);
    let written = log.into_iter().filter_map(|exchange| {
        let request: serde_json::Value = serde_json::from_str(&exchange.request).unwrap();
        let source = request["params"]["source"].as_str()?.to_owned();
        Some((source, request["method"] == "pane.release_agent"))
    });
    written.collect()
}

#[test]
fn b19_processes_that_start_and_stop_together_never_share_the_pane() {
    let (herdr, runtime) = (FakeHerdr::start().unwrap(), runtime());
    for round in 0..6 {
        let start = |label| Host::start(&mut Host::command(label, &herdr, runtime.path()));
        let mut hosts = [start("one"), start("two"), start("three")];
        for host in &mut hosts {
            host.title("shown");
        }
        herdr.wait_until(AMPLE, |pane| pane.title.is_some()).unwrap();
        if round % 2 == 0 {
            hosts.reverse();
        }
        for host in hosts {
            host.end();
        }
        herdr.wait_until(AMPLE, |pane| pane.agent.is_none() && pane.title.is_none()).unwrap();
    }
    // From a process's first report to its release, no other process reports.
    let mut holder = None;
    for (source, releases) in writes(&herdr) {
        assert_eq!(*holder.get_or_insert(source.clone()), source, "{:?}", writes(&herdr));
        if releases {
            holder = None;
        }
    }
    assert_eq!(holder, None);
}

/// Checks that reporting goes on without a lease, and that one diagnostic says so.
fn goes_on(folder: &Path) {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr, folder);
    let mut diagnostics = pane.diagnostics();
    for n in 0..3 {
        let turn = pane.turn();
        pane.set_title(format!("title {n}"));
        flushed(&pane);
        assert_eq!(herdr.observe("w1:p1").unwrap().agent_status, "working");
        drop(turn);
    }
    assert_eq!(pane.close(AMPLE), Ended::Released);
    let raised: Vec<_> = diagnostics.iter().collect();
    assert_eq!(raised.len(), 1, "{raised:?}");
    assert_eq!(raised[0].kind, DiagnosticKind::Misconfigured);
    assert!(raised[0].detail.contains("lease"), "{}", raised[0].detail);
    assert_eq!(herdr.observe("w1:p1").unwrap().agent, None);
}

#[test]
fn a_runtime_folder_that_is_a_file_does_not_keep_reports_off() {
    goes_on(tempfile::NamedTempFile::new().unwrap().path());
}

#[test]
fn a_runtime_folder_that_others_can_write_to_does_not_keep_reports_off() {
    let folder = runtime();
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
    goes_on(folder.path());
}

#[test]
fn a_lease_that_cannot_be_a_file_does_not_keep_reports_off() {
    let (herdr, folder) = (FakeHerdr::start().unwrap(), runtime());
    // There is a folder at the path of the lease.
    let mut config = config(herdr.socket_path());
    config.runtime_folder = Some(folder.path().to_path_buf());
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
    let pane = herdr_proto::PaneId::parse("w1:p1").unwrap();
    let endpoint = herdr_socket_transport::Endpoint::new(herdr.socket_path(), pane);
    let lease = herdr_reporter::sidecar::LeaseFile::of_pane(&config, &endpoint);
    std::fs::create_dir(lease.path()).unwrap();
    let pane = builder(&herdr).config(config).start();
    let _turn = pane.turn();
    flushed(&pane);
    assert_eq!(herdr.observe("w1:p1").unwrap().agent_status, "working");
    let raised = pane.diagnostics().recv_timeout(AMPLE).unwrap();
    assert_eq!(raised.kind, DiagnosticKind::Misconfigured);
}
