//! Paths that are not sockets, and environments that do not make sense.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;

use crate::support::{Output, Setup, sidecar};

const EVENT: &str = "{\"event\": \"agent_started\"}\n";

fn in_pane(socket: &Path, arguments: &[&str]) -> Setup {
    let socket = socket.to_str().unwrap();
    sidecar(arguments)
        .env("HERDR_ENV", "1")
        .env("HERDR_PANE_ID", "w1:p1")
        .env("HERDR_SOCKET_PATH", socket)
}

/// Expects one sentence with these words and the right exit code, whatever the input.
fn check(what: &str, socket: &Path, words: &str) {
    let one_diagnostic = |output: &Output, code: i32| {
        assert_eq!(output.stderr.lines().count(), 1, "{what}: {}", output.stderr);
        assert!(output.stderr.contains(words), "{what}: {}", output.stderr);
        assert_eq!(output.code, Some(code), "{what}");
        assert!(output.stdout.is_empty(), "{what}");
    };
    one_diagnostic(&in_pane(socket, &["run"]).run(EVENT), 0);
    one_diagnostic(&in_pane(socket, &["run", "--strict"]).run(EVENT), 3);
    one_diagnostic(&in_pane(socket, &["run", "--strict"]).run(""), 3);
    // Far more than a pipe holds, so it has to be read.
    one_diagnostic(&in_pane(socket, &["run"]).run(EVENT.repeat(40_000)), 0);
}

#[test]
fn each_kind_of_broken_socket_has_its_diagnostic() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);

    drop(UnixListener::bind(at("refused")).unwrap());
    std::fs::write(at("file"), "").unwrap();
    std::fs::create_dir(at("folder")).unwrap();
    std::os::unix::fs::symlink(at("nowhere"), at("dangling")).unwrap();
    let cases = [
        ("missing", at("missing"), "connect_failed: there is no socket at"),
        ("refused", at("refused"), "connect_failed: "),
        ("a file", at("file"), "is not a stream socket"),
        ("a folder", at("folder"), "is not a stream socket"),
        ("a dangling link", at("dangling"), "connect_failed: "),
        ("too long", at(&"x".repeat(150)), "is too long for a socket"),
        ("relative", "herdr.sock".into(), "misconfigured: HERDR_SOCKET_PATH"),
        ("empty", "".into(), "misconfigured: HERDR_SOCKET_PATH is set but empty"),
        ("a line break", at("herdr.sock\n"), "misconfigured: HERDR_SOCKET_PATH"),
    ];
    thread::scope(|scope| {
        for (what, socket, words) in &cases {
            scope.spawn(move || check(what, socket, words));
        }
    });
}

#[test]
fn a_forbidden_socket_has_its_diagnostic() {
    if rustix::process::geteuid().is_root() {
        // Root may open everything, so there is nothing to test.
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("closed");
    let _listener = UnixListener::bind(&path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    check("forbidden", &path, "sandbox");
}

#[test]
fn diagnostics_are_output_lines_too() {
    let output = in_pane(Path::new("/nowhere/herdr.sock"), &["run", "--receipts"]).run(EVENT);
    let is_it = |line: &str| line.starts_with(r#"{"diagnostic":"connect_failed","detail":"#);
    assert!(output.stdout.lines().any(is_it), "{}", output.stdout);
    let output = in_pane(Path::new(""), &["run", "--receipts"]).run(EVENT);
    assert!(output.stdout.starts_with(r#"{"diagnostic":"misconfigured""#), "{}", output.stdout);
}

#[test]
fn switched_off_nothing_is_tried() {
    let output = in_pane(Path::new("/nowhere"), &["run", "--strict", "--enabled=false"]).run(EVENT);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    let setup = in_pane(Path::new("/nowhere"), &["run"]).env("HERDR_ENV", "0");
    let output = setup.run(EVENT);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
}
