//! Panes with real programs.
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
        assert!(Instant::now() < end, "the condition was not reached");
        std::thread::yield_now();
    }
}

#[test]
fn a_shell_is_read_typed_into_and_named() {
    let herdr = FakeHerdr::builder().program(["/bin/sh"]).start().unwrap();
    let pane = json!({ "pane_id": "w1:p1" });
    let info = call(&herdr, "pane.process_info", &pane)["result"]["process_info"].clone();
    let shell = info["shell_pid"].as_u64().unwrap();
    // The shell leads a session, by which clients recognise the pane of a process.
    let pid = rustix::process::Pid::from_raw(i32::try_from(shell).unwrap());
    assert_eq!(rustix::process::getsid(pid).ok(), pid);
    wait_for(|| {
        let info = call(&herdr, "pane.process_info", &pane);
        info["result"]["process_info"]["foreground_processes"][0]["name"] == "sh"
    });

    let text = "echo pane=$HERDR_PANE_ID in=$HERDR_ENV\n";
    call(&herdr, "pane.send_text", &json!({ "pane_id": "w1:p1", "text": text }));
    wait_for(|| screen(&herdr, "w1:p1").contains("pane=w1:p1 in=1"));

    // Job control: another program gets the foreground, and Ctrl-C ends it.
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
fn programs_start_and_end_with_their_panes() {
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

    // A moved pane keeps its shell; closing a pane ends its shell.
    let moved = json!({ "pane_id": "w1:p2", "destination": { "type": "new_workspace" } });
    call(&herdr, "pane.move", &moved);
    assert_eq!(shell("w2:p1"), Some(other));
    call(&herdr, "pane.close", &json!({ "pane_id": "w2:p1" }));
    let alive = |pid: u64| std::path::Path::new("/proc").join(pid.to_string()).exists();
    wait_for(|| !alive(other));

    // A handoff keeps the programs; a restart does not.
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

/// Started as `herdr server`, the program gives new workspaces a shell.
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

fn alive(pid: i32) -> bool {
    // A process that waits to be reaped has ended.
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        let state = stat.rsplit_once(')').unwrap().1.trim_start().to_owned();
        !state.starts_with(['Z', 'X'])
    })
}

fn type_text(herdr: &FakeHerdr, text: &str) {
    call(herdr, "pane.send_text", &json!({ "pane_id": "w1:p1", "text": text }));
}

/// The number that a program in the pane wrote to a file.
fn written(file: &std::path::Path) -> i32 {
    let mut number = None;
    wait_for(|| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        number = text.ends_with('\n').then(|| text.trim().parse().unwrap());
        number.is_some()
    });
    number.unwrap()
}

/// As when a terminal closes, a program gets a hangup signal and can end properly
/// (failure B16).
#[test]
fn a_program_gets_a_hangup_when_its_pane_closes() {
    let folder = tempfile::tempdir().unwrap();
    let (ready, said) = (folder.path().join("ready"), folder.path().join("said"));
    let script = format!(
        "trap 'echo 1 > {}; exit' HUP; echo $$ > {}; while :; do sleep 0.05; done",
        said.display(),
        ready.display()
    );
    let herdr = FakeHerdr::builder().program(["/bin/sh", "-c", &script]).start().unwrap();
    written(&ready);
    call(&herdr, "pane.close", &json!({ "pane_id": "w1:p1" }));
    assert_eq!(written(&said), 1);
    std::fs::remove_file(&said).unwrap();
    std::fs::remove_file(&ready).unwrap();

    let herdr = FakeHerdr::builder().program(["/bin/sh", "-c", &script]).start().unwrap();
    written(&ready);
    drop(herdr);
    assert_eq!(written(&said), 1, "the end of the server sends it as well");
}

/// The leader of the session and the foreground program end with the server even if they
/// ignore the hangup.
#[test]
fn a_program_that_ignores_the_hangup_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let herdr = FakeHerdr::builder().program(["/bin/sh"]).start().unwrap();
    let leader = call(&herdr, "pane.process_info", &json!({ "pane_id": "w1:p1" }));
    let leader = leader["result"]["process_info"]["shell_pid"].as_i64().unwrap();
    let command = format!("trap '' HUP; sh -c 'echo $$ > {}; exec sleep 600'\n", file.display());
    type_text(&herdr, &command);
    let program = written(&file);
    let leader = i32::try_from(leader).unwrap();
    assert!(alive(leader) && alive(program));
    drop(herdr);
    assert!(!alive(leader));
    wait_for(|| !alive(program));
}

#[test]
fn a_pane_closes_with_its_shell_even_if_a_job_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let herdr = FakeHerdr::builder().program(["/bin/sh"]).start().unwrap();
    let text = format!("nohup sh -c 'echo $$ > {}; exec sleep 600' &\n", file.display());
    type_text(&herdr, &text);
    let job = written(&file);
    type_text(&herdr, "exit\n");
    herdr.wait_until_pane("w1:p1", PATIENCE, |_| true).unwrap();
    wait_for(|| herdr.observe("w1:p1").is_none());
    assert!(alive(job), "a detached job stays");
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(job).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
}

/// A text that is longer than the terminal's buffer reaches a program that reads.
#[test]
fn a_long_text_arrives_completely() {
    let folder = tempfile::tempdir().unwrap();
    let (ready, count) = (folder.path().join("ready"), folder.path().join("count"));
    let herdr = FakeHerdr::builder().program(["/bin/sh"]).start().unwrap();
    let command = format!(
        "stty raw -echo; echo 1 > {}; head -c 300000 | wc -c > {}; stty sane\n",
        ready.display(),
        count.display()
    );
    type_text(&herdr, &command);
    written(&ready);
    for part in ["x".repeat(100_000), "\u{e9}".repeat(100_000)] {
        type_text(&herdr, &part);
    }
    assert_eq!(written(&count), 300_000);
}

#[test]
fn fifty_panes_are_served_and_leave_no_processes() {
    let herdr = FakeHerdr::builder().panes(50).program(["/bin/sh"]).start().unwrap();
    let shells: std::collections::BTreeSet<i32> = herdr
        .with_model(|model| model.pane_ids())
        .iter()
        .map(|pane| {
            let info = call(&herdr, "pane.process_info", &json!({ "pane_id": pane }));
            let shell = info["result"]["process_info"]["shell_pid"].as_i64().unwrap();
            i32::try_from(shell).unwrap()
        })
        .collect();
    assert_eq!(shells.len(), 50);
    assert!(shells.iter().all(|shell| alive(*shell)));
    drop(herdr);
    assert!(!shells.iter().any(|shell| alive(*shell)));
}

/// When a server is killed, the kernel hangs up its terminals, and the next server can
/// use the path.
#[test]
fn a_killed_server_ends_its_shells() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::{Command, Stdio};

    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s.sock");
    let start = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fake-herdr"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("HERDR_") {
                command.env_remove(name);
            }
        }
        command.args(["serve", "--shell", "/bin/sh", "--socket"]).arg(&socket);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut ready = String::new();
        output.read_line(&mut ready).unwrap();
        (child, output)
    };
    let (mut child, mut output) = start();
    let info = send(&socket, &line("pane.process_info", &json!({ "pane_id": "w1:p1" })));
    let info: Value = serde_json::from_str(&info).unwrap();
    let shell = info["result"]["process_info"]["shell_pid"].as_i64().unwrap();
    // A control line cannot set the screen of a real program.
    let screen = b"{\"do\":\"screen\",\"pane\":\"w1:p1\",\"text\":\"x\"}\n";
    child.stdin.as_mut().unwrap().write_all(screen).unwrap();
    let mut reply = String::new();
    output.read_line(&mut reply).unwrap();
    assert!(reply.contains("type into it"), "{reply}");
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for(|| !alive(i32::try_from(shell).unwrap()));

    let (mut child, _output) = start();
    send(&socket, &line("server.stop", &json!({})));
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_missing_program_is_an_error() {
    let error = FakeHerdr::builder().program(["/no/such/program"]).start().unwrap_err();
    assert!(error.to_string().contains("/no/such/program"), "{error}");
    assert!(FakeHerdr::builder().program(Vec::<String>::new()).start().is_err());
}
