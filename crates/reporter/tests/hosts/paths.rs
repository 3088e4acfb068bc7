//! Paths that cannot be used.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fake_herdr::{FakeHerdr, Observation};
use herdr_reporter::{DiagnosticKind, Ended, Reporter};
use rustix::process::getuid;

use crate::processes::{Host, runtime, skipped};
use crate::support::{AMPLE, BUDGET, builder_at, config, flushed};

/// A folder in which `herdr.sock` has a path of this many bytes.
fn folder(within: &Path, length: usize) -> PathBuf {
    let name = length - within.as_os_str().len() - "//herdr.sock".len();
    let folder = within.join("x".repeat(name));
    std::fs::create_dir(&folder).unwrap();
    assert_eq!(folder.join("herdr.sock").as_os_str().len(), length);
    folder
}

fn start(socket: &Path, leases: &Path) -> Reporter {
    let mut config = config(socket);
    config.runtime_folder = Some(leases.to_path_buf());
    builder_at(socket).config(config).start()
}

#[test]
fn b64_a_path_that_is_too_long_is_reported_once_and_not_tried() {
    let base = runtime();
    let (long, short) = (folder(base.path(), 120), base.path().join("s"));
    symlink(&long, &short).unwrap();
    let herdr = FakeHerdr::builder().socket_path(short.join("herdr.sock")).start().unwrap();
    let leases = base.path().join("leases");

    let pane = start(&long.join("herdr.sock"), &leases);
    let mut diagnostics = pane.diagnostics();
    let _turn = pane.turn();
    let raised = diagnostics.recv_timeout(AMPLE).expect("it says so");
    assert_eq!(raised.kind, DiagnosticKind::ConnectFailed);
    assert!(raised.detail.contains("too long"), "{}", raised.detail);
    for n in 0..100 {
        pane.set_title(format!("title {n}"));
    }
    assert_eq!(diagnostics.recv_timeout(Duration::from_millis(600)), None, "reported once");
    assert_eq!(pane.close(BUDGET), Ended::NothingToRelease);
    assert_eq!(herdr.connections(), 0);

    let pane = start(&short.join("herdr.sock"), &leases);
    let _turn = pane.turn();
    flushed(&pane);
    assert_eq!(herdr.observe("w1:p1").unwrap().agent_status, "working");
}

#[test]
fn b64_the_longest_path_works() {
    let base = runtime();
    let socket = folder(base.path(), 107).join("herdr.sock");
    let herdr = FakeHerdr::builder().socket_path(&socket).start().unwrap();
    let pane = start(&socket, &base.path().join("leases"));
    let _turn = pane.turn();
    flushed(&pane);
    assert_eq!(herdr.observe("w1:p1").unwrap().agent_status, "working");
}

/// The user that root runs the host as, because file modes do not apply to root.
const SOMEBODY: u32 = 65_534;

/// A host to which file modes apply; `None` if none can be started here.
fn host(herdr: &FakeHerdr, runtime: &Path) -> Option<Host> {
    let mut command = Host::command("host", herdr, runtime);
    if getuid().is_root() {
        chown(runtime, Some(SOMEBODY), Some(SOMEBODY)).unwrap();
        command.current_dir("/").uid(SOMEBODY).gid(SOMEBODY);
    }
    let host = Host::try_start(&mut command).ok()?;
    (host.says(AMPLE)? == "active").then_some(host)
}

/// Forbids access to the path `locked`. Checks that this is reported once, and that the host does
/// not try again, even once the mode `allows` access.
fn is_reported_once_and_not_retried(locked: impl Fn(&FakeHerdr) -> PathBuf, allows: u32) {
    let (herdr, runtime) = (FakeHerdr::start().unwrap(), runtime());
    let allow = |path: &Path, mode| set_permissions(path, Permissions::from_mode(mode)).unwrap();
    let at = locked(&herdr);
    allow(herdr.socket_path().parent().unwrap(), 0o711);
    allow(herdr.socket_path(), 0o666);
    allow(&at, 0o000);
    let Some(mut host) = host(&herdr, runtime.path()) else {
        allow(&at, 0o700);
        return skipped("root cannot start this program as somebody else");
    };
    let raised = host.says(AMPLE).expect("it says so");
    assert!(raised.starts_with("connect_failed: ") && raised.contains("sandbox"), "{raised}");
    allow(&at, allows);
    // A new attempt would succeed now.
    for n in 0..15 {
        host.title(&format!("title {n}"));
        assert_eq!(host.says(Duration::from_millis(100)), None, "reported once");
    }
    assert!(herdr.connections() <= 2, "{} connections", herdr.connections());
    drop(host);
}

#[test]
fn b65_a_socket_without_permission_is_reported_once_and_not_tried_in_a_loop() {
    is_reported_once_and_not_retried(|herdr| herdr.socket_path().to_path_buf(), 0o666);
}

#[test]
fn b65_a_folder_without_permission_is_reported_once_and_not_tried_in_a_loop() {
    is_reported_once_and_not_retried(
        |herdr| herdr.socket_path().parent().unwrap().to_path_buf(),
        0o711,
    );
}

#[test]
fn b65_another_socket_is_tried_soon() {
    let (herdr, runtime) = (FakeHerdr::start().unwrap(), runtime());
    let allow = |path: &Path, mode| set_permissions(path, Permissions::from_mode(mode)).unwrap();
    allow(herdr.socket_path().parent().unwrap(), 0o711);
    allow(herdr.socket_path(), 0o000);
    let Some(host) = host(&herdr, runtime.path()) else {
        return skipped("root cannot start this program as somebody else");
    };
    assert!(host.says(AMPLE).is_some_and(|raised| raised.contains("sandbox")));
    // The reporter checks every two seconds which socket is there. The first socket may be gone
    // before it has checked.
    let shown = (0..4).any(|_| {
        herdr.restart();
        allow(herdr.socket_path(), 0o666);
        let shown = |pane: &Observation| pane.agent.as_deref() == Some("host");
        herdr.wait_until(Duration::from_millis(2500), shown).is_ok()
    });
    assert!(shown, "{:?}", herdr.observe("w1:p1"));
}
