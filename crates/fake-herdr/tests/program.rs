//! The program `fake-herdr`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;

/// The program without Herdr's variables from the environment of the test.
fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-herdr"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("HERDR_") {
            command.env_remove(name);
        }
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

fn ask(socket: &Path, method: &str) -> Value {
    let mut connection = UnixStream::connect(socket).unwrap();
    let line = format!("{{\"id\":\"1\",\"method\":\"{method}\",\"params\":{{}}}}\n");
    connection.write_all(line.as_bytes()).unwrap();
    let mut reply = String::new();
    connection.read_to_string(&mut reply).unwrap();
    serde_json::from_str(&reply).unwrap()
}

#[test]
fn serve_says_when_it_is_ready_and_goes_on_without_input() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s.sock");
    let mut command = program();
    command.args(["serve", "--panes", "3", "--protocol", "22", "--socket"]).arg(&socket);
    let mut child = command.spawn().unwrap();
    assert_eq!(first_line(&mut child), format!("ready {}", socket.display()));
    assert_eq!(ask(&socket, "ping")["result"]["protocol"], 22);
    let panes = ask(&socket, "pane.list");
    assert_eq!(panes["result"]["panes"].as_array().unwrap().len(), 3);
    assert_eq!(panes["result"]["panes"][0]["pane_id"], "w1:p1");
    assert_eq!(panes["result"]["panes"][0]["focused"], true);
    assert_eq!(ask(&socket, "server.stop")["result"]["type"], "ok");
    assert!(child.wait().unwrap().success());
    assert!(!socket.exists());
}

#[test]
fn a_terminal_shows_help_about_control_lines() {
    let folder = tempfile::tempdir().unwrap();
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let terminal = File::options().read(true).open(name.to_str().unwrap()).unwrap();
    let mut command = program();
    command.args(["serve", "--socket"]).arg(folder.path().join("s.sock"));
    let mut child = command.stdin(terminal).stderr(Stdio::piped()).spawn().unwrap();
    let mut help = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut help).unwrap();
    assert!(help.contains("{\"do\": \"observe\", \"pane\": \"w1:p1\"}"), "{help}");
    assert!(help.contains("live_handoff"), "{help}");
    File::from(master).write_all(b"{\"do\": \"stop\"}\n").unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn control_lines_come_in_by_stdin() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s.sock");
    let mut command = program();
    command.args(["serve", "--fault", "close", "--profile", "0.9.3", "--socket"]).arg(&socket);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(output.next(), Some(format!("ready {}", socket.display())));
    let mut input = child.stdin.take().unwrap();
    let mut say = |line: &str| {
        writeln!(input, "{line}").unwrap();
        serde_json::from_str::<Value>(&output.next().unwrap()).unwrap()
    };
    assert_eq!(say(r#"{"do":"clear_faults"}"#)["ok"], true);
    assert_eq!(ask(&socket, "ping")["result"]["version"], "0.9.3");
    assert_eq!(say(r#"{"do":"split","pane":"w1:p1"}"#)["pane"], "w1:p2");
    let log = say(r#"{"do":"log"}"#);
    assert_eq!(log["log"][0]["request"], r#"{"id":"1","method":"ping","params":{}}"#);
    // Two lines come in one write, and the last line has no newline.
    write!(
        input,
        "nope\n{{\"do\":\"env\",\"pane\":\"w1:p2\"}}\n{{\"do\":\"observe\",\"pane\":\"w1:p2\"}}"
    )
    .unwrap();
    // The end of the input does not end the server.
    drop(input);
    let mut replies = output.map(|line| serde_json::from_str::<Value>(&line).unwrap());
    let refused = replies.next().unwrap();
    assert!(refused["ok"] == false && refused["line"] == 4, "{refused}");
    assert_eq!(replies.next().unwrap()["env"]["HERDR_PANE_ID"], "w1:p2");
    assert_eq!(replies.next().unwrap()["pane"]["agent_status"], "unknown");
    assert_eq!(ask(&socket, "server.stop")["result"]["type"], "ok");
    assert!(child.wait().unwrap().success());
}

#[test]
fn server_starts_from_the_environment_with_nothing_open() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = program();
    command.arg("server").env("XDG_CONFIG_HOME", folder.path()).env("HERDR_SESSION", "work");
    let mut child = command.spawn().unwrap();
    let socket = folder.path().join("herdr/sessions/work/herdr.sock");
    assert_eq!(first_line(&mut child), format!("ready {}", socket.display()));
    assert_eq!(ask(&socket, "pane.list")["result"]["panes"], serde_json::json!([]));
    rustix::process::kill_process(
        rustix::process::Pid::from_child(&child),
        rustix::process::Signal::TERM,
    )
    .unwrap();
    assert!(child.wait().unwrap().success());
    assert!(!socket.exists(), "a signal leaves nothing behind");
}

#[test]
fn an_unusable_path_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a-file");
    std::fs::write(&file, "").unwrap();
    let output =
        program().args(["serve", "--socket"]).arg(&file).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("a-file") && message.contains("cannot serve"), "{message}");
    assert!(message.contains("not a socket"), "{message}");
}

/// Every layout event lists every split, so thousands of panes in one tab would take
/// minutes.
#[test]
fn a_number_of_panes_that_is_too_large_is_refused() {
    let mut command = program();
    command.args(["serve", "--socket", "s.sock", "--panes", "201"]).stderr(Stdio::piped());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("--panes") && message.contains("200"), "{message}");
}

#[test]
fn a_path_that_cannot_be_served_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let taken = folder.path().join("taken.sock");
    let _living = std::os::unix::net::UnixListener::bind(&taken).unwrap();
    let long = folder.path().join("x".repeat(120));
    let length = long.as_os_str().len().to_string();
    for (path, why) in [
        (taken.as_path(), "a server listens there already"),
        (&folder.path().join("missing/s.sock"), "the folder does not exist"),
        (folder.path(), "not a socket"),
        (&long, length.as_str()),
    ] {
        let mut command = program();
        let output = command.args(["serve", "--socket"]).arg(path).stderr(Stdio::piped()).output();
        let output = output.unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]));
        assert!(message.contains(why) && message.contains(path.to_str().unwrap()), "{message}");
    }
    assert!(taken.exists());
}

/// Each of these signals ends the server properly, even right after its start.
#[test]
fn a_signal_ends_the_server_and_its_socket() {
    use rustix::process::{Pid, Signal, kill_process};

    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s.sock");
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mut child = program().args(["serve", "--socket"]).arg(&socket).spawn().unwrap();
        assert!(first_line(&mut child).starts_with("ready "));
        let held = UnixStream::connect(&socket).unwrap();
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert!(child.wait().unwrap().success(), "{signal:?}");
        assert!(!socket.exists(), "{signal:?}");
        drop(held);
    }
    // After a kill the file stays, and the next server replaces it.
    let mut child = program().args(["serve", "--socket"]).arg(&socket).spawn().unwrap();
    assert!(first_line(&mut child).starts_with("ready "));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(socket.exists());
    let mut child = program().args(["serve", "--socket"]).arg(&socket).spawn().unwrap();
    assert!(first_line(&mut child).starts_with("ready "));
    assert_eq!(ask(&socket, "server.stop")["result"]["type"], "ok");
    assert!(child.wait().unwrap().success());
}

/// The answer always comes before the server ends.
#[test]
fn a_stop_by_control_line_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s.sock");
    for _ in 0..20 {
        let mut command = program();
        command.args(["serve", "--socket"]).arg(&socket).stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert!(output.next().unwrap().starts_with("ready "));
        writeln!(input, "{{\"do\":\"stop\"}}").unwrap();
        assert_eq!(output.next().as_deref(), Some("{\"ok\":true}"));
        assert!(child.wait().unwrap().success());
        assert!(!socket.exists());
    }
}

/// The program of a pane can have another working folder than the server.
#[test]
fn a_relative_path_is_absolute_in_a_pane() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = program();
    command.args(["serve", "--socket", "s.sock"]).current_dir(&folder).stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(output.next().as_deref(), Some("ready s.sock"));
    writeln!(input, "{{\"do\":\"env\",\"pane\":\"w1:p1\"}}").unwrap();
    let env: Value = serde_json::from_str(&output.next().unwrap()).unwrap();
    let path = folder.path().canonicalize().unwrap().join("s.sock");
    assert_eq!(env["env"]["HERDR_SOCKET_PATH"], path.to_str().unwrap());
    assert_eq!(ask(&path, "server.stop")["result"]["type"], "ok");
    assert!(child.wait().unwrap().success());
}
