//! Real programs behind panes.
#![cfg(all(target_os = "linux", feature = "pty"))]
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod wire;

use std::time::Instant;

use fake_herdr::FakeHerdr;
use serde_json::{Value, json};
use wire::{PATIENCE, line, send};

fn call(herdr: &FakeHerdr, method: &str, params: &Value) -> Value {
    let reply = send(herdr.socket_path(), &line(method, params));
    serde_json::from_str(&reply).unwrap()
}

fn screen(herdr: &FakeHerdr, pane: &str) -> String {
    let read = call(herdr, "pane.read", &json!({ "pane_id": pane, "source": "visible" }));
    read["result"]["read"]["text"].as_str().unwrap_or_default().to_owned()
}

fn wait_for(mut reached: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !reached() {
        assert!(Instant::now() < end, "it does not happen");
        std::thread::yield_now();
    }
}

#[test]
fn a_shell_is_read_typed_into_and_named() {
    let herdr = FakeHerdr::builder().program(["/bin/sh"]).start().unwrap();
    let pane = json!({ "pane_id": "w1:p1" });
    let info = call(&herdr, "pane.process_info", &pane)["result"]["process_info"].clone();
    let shell = info["shell_pid"].as_u64().unwrap();
    // The leader of a session of its own, which is what identity rests on.
    let pid = rustix::process::Pid::from_raw(i32::try_from(shell).unwrap());
    assert_eq!(rustix::process::getsid(pid).ok(), pid);
    wait_for(|| {
        let info = call(&herdr, "pane.process_info", &pane);
        info["result"]["process_info"]["foreground_processes"][0]["name"] == "sh"
    });

    let text = "echo pane=$HERDR_PANE_ID in=$HERDR_ENV\n";
    call(&herdr, "pane.send_text", &json!({ "pane_id": "w1:p1", "text": text }));
    wait_for(|| screen(&herdr, "w1:p1").contains("pane=w1:p1 in=1"));

    // Job control: another program in the foreground, and Ctrl-C ends it.
    call(&herdr, "pane.send_text", &json!({ "pane_id": "w1:p1", "text": "sleep 60\n" }));
    let foreground = || {
        let info = call(&herdr, "pane.process_info", &pane)["result"]["process_info"].clone();
        let name = info["foreground_processes"][0]["name"].as_str().unwrap_or_default().to_owned();
        (name, info["foreground_process_group_id"].as_u64().unwrap_or_default())
    };
    wait_for(|| foreground().0 == "sleep");
    assert_ne!(foreground().1, shell);
    call(&herdr, "pane.send_keys", &json!({ "pane_id": "w1:p1", "keys": ["ctrl+c"] }));
    wait_for(|| foreground() == ("sh".to_owned(), shell));
}

#[test]
fn panes_come_and_go_with_their_programs() {
    let herdr = FakeHerdr::builder().program(["/bin/sh"]).start().unwrap();
    let split = json!({ "target_pane_id": "w1:p1", "direction": "right" });
    let second = call(&herdr, "pane.split", &split)["result"]["pane"]["pane_id"].clone();
    assert_eq!(second, "w1:p2");
    let shell = |pane: &str| {
        let info = call(&herdr, "pane.process_info", &json!({ "pane_id": pane }));
        info["result"]["process_info"]["shell_pid"].as_u64()
    };
    let (first, other) = (shell("w1:p1").unwrap(), shell("w1:p2").unwrap());
    assert_ne!(first, other);

    // A moved pane keeps its shell; a closed one takes it along.
    let moved = json!({ "pane_id": "w1:p2", "destination": { "type": "new_workspace" } });
    call(&herdr, "pane.move", &moved);
    assert_eq!(shell("w2:p1"), Some(other));
    call(&herdr, "pane.close", &json!({ "pane_id": "w2:p1" }));
    let alive = |pid: u64| std::path::Path::new("/proc").join(pid.to_string()).exists();
    wait_for(|| !alive(other));

    // A handoff keeps programs, a restart does not.
    herdr.live_handoff();
    wait_for(|| shell("w1:p1") == Some(first));
    herdr.restart();
    wait_for(|| shell("w1:p1").is_some_and(|pid| pid != first));
    let last = shell("w1:p1").unwrap();
    call(&herdr, "pane.send_text", &json!({ "pane_id": "w1:p1", "text": "exit\n" }));
    wait_for(|| herdr.observe("w1:p1").is_none());
    assert!(!alive(last));
    drop(herdr);
}

/// The program started as `herdr server` gives new workspaces a shell.
#[test]
fn server_runs_the_users_shell() {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-herdr"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("HERDR_") {
            command.env_remove(name);
        }
    }
    command.arg("server").env("XDG_CONFIG_HOME", folder.path()).env("SHELL", "/bin/sh");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    let socket = folder.path().join("herdr/herdr.sock");
    let ask = |method: &str, params: &Value| -> Value {
        serde_json::from_str(&send(&socket, &line(method, params))).unwrap()
    };
    let made = ask("workspace.create", &json!({ "cwd": "/", "label": "w", "focus": true }));
    let pane = made["result"]["root_pane"]["pane_id"].clone();
    let info = ask("pane.process_info", &json!({ "pane_id": pane }));
    assert!(info["result"]["process_info"]["shell_pid"].is_u64(), "{info}");
    ask("server.stop", &json!({}));
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    assert!(FakeHerdr::builder().program(["/no/such/program"]).start().is_err());
    assert!(FakeHerdr::builder().program(Vec::<String>::new()).start().is_err());
}
