//! No text of a server, a host, a file, a variable or a command line can put a control sequence
//! or a line of its own on the terminal.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::thread;

use fake_herdr::FakeHerdr;
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Setup, inside, sidecar};
use crate::terminal::{Terminal, visible};

/// A window title, a cleared screen, colours by an 8-bit control character, a line of its own,
/// and right-to-left text.
const WILD: &str = "x\u{1b}]0;t\u{7}\u{1b}[2J\u{9b}31m\u{85}\r\nFORGED\u{2028}\u{202e}\u{2067}\u{200f}\u{8}\u{7f}y";

/// Characters that the output must not contain.
fn moves_something(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[track_caller]
fn is_tame(what: &str, text: &str) {
    assert!(!text.contains(moves_something), "{what}: {text:?}");
    let forged = text.lines().any(|line| line.trim_start().starts_with("FORGED"));
    assert!(!forged, "{what}: {text:?}");
}

/// Runs it to its end with this input. The text has to appear in the output.
#[track_caller]
fn runs_tamely(setup: Setup, input: impl AsRef<[u8]>) -> String {
    let what = format!("{:?}", setup.command);
    let output = setup.run(input);
    is_tame(&what, &output.stdout);
    is_tame(&what, &output.stderr);
    output.stdout + &output.stderr
}

/// A server that cleans nothing and refuses requests that contain `refuses`. With `ids`, the
/// panes' ids contain the same text.
fn server(refuses: &'static str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("herdr.sock");
    let listener = UnixListener::bind(&path).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut request = String::new();
            let read = BufReader::new(&stream).read_line(&mut request);
            let Ok(request) = serde_json::from_str::<Value>(&request) else { continue };
            let method = request["method"].as_str().unwrap_or_default();
            let mut reply = if read.is_ok() && !refuses.is_empty() && method.contains(refuses) {
                json!({"error": {"code": WILD, "message": WILD}})
            } else {
                json!({ "result": result(method, if refuses == "ids" { WILD } else { "w1:p1" }) })
            };
            reply["id"] = request["id"].clone();
            // A client may already have closed.
            let _ = writeln!(&stream, "{reply}");
        }
    });
    (folder, path)
}

fn result(method: &str, pane: &str) -> Value {
    let agent = json!({
        "pane_id": pane, "terminal_id": WILD, "workspace_id": "w1", "agent": WILD,
        "agent_status": WILD, "display_agent": WILD, "title": WILD, "label": WILD,
        "state_labels": {WILD: WILD, "working": WILD}, "tokens": {WILD: WILD},
        "agent_session": {"source": WILD, "agent": WILD, "kind": "id", "value": WILD},
    });
    match method {
        "ping" => json!({"type": "pong", "version": WILD, "protocol": 20, "server": WILD}),
        "pane.get" => json!({"type": "pane_info", "pane": agent}),
        "pane.process_info" => json!({"type": "pane_process_info", "process_info": {
            "pane_id": pane, "foreground_processes": [{"pid": 1, "name": WILD}]}}),
        "session.snapshot" => json!({"type": "session_snapshot", "snapshot": {
            "workspaces": [{"workspace_id": "w1", "label": WILD}], "agents": [agent]}}),
        _ => json!({"type": "ok"}),
    }
}

/// Sends it to a server.
fn at(path: &PathBuf, arguments: &[&str]) -> Setup {
    let mut setup = sidecar(arguments);
    setup.command.env("HERDR_ENV", "1").env("HERDR_SOCKET_PATH", path);
    setup.env("HERDR_PANE_ID", "w1:p1").env("HERDR_REPORT_LOG", "trace")
}

const WORK: &str = "{\"event\": \"session_started\", \"session_id\": \"s\", \"title\": \"T\"}\n\
                    {\"event\": \"agent_started\"}\n{\"event\": \"flush\", \"timeout_ms\": 300}\n";

#[test]
fn of_a_server() {
    thread::scope(|scope| {
        for refuses in ["", "ids", "ping", "pane.get", "process_info", "report", "session"] {
            scope.spawn(move || {
                let (_folder, path) = server(refuses);
                let told = runs_tamely(at(&path, &["doctor"]), "");
                assert!(told.contains("FORGED"), "{refuses}: {told}");
                runs_tamely(at(&path, &["doctor", "--json"]), "");
                runs_tamely(at(&path, &["doctor", "--write"]), "");
                runs_tamely(at(&path, &["run", "--receipts", "--strict"]), WORK);
                runs_tamely(at(&path, &["state", "working", "--confirm"]), "");
                runs_tamely(at(&path, &["title", "T", "--strict"]), "");
                if refuses == "session" {
                    let told = runs_tamely(at(&path, &["watch", "--strict"]), "");
                    assert!(told.contains("FORGED"), "{told}");
                }
            });
        }
    });
}

#[test]
fn of_a_server_that_is_looked_at() {
    let (_folder, path) = server("");
    for arguments in [&["watch"][..], &["watch", "--json"], &["demo", "--live", "--plain"]] {
        let mut looking = at(&path, arguments).start();
        let mut line = looking.answer();
        while !line.contains("FORGED") {
            is_tame(arguments[0], &line);
            line = looking.answer();
        }
        is_tame(arguments[0], &line);
        looking.signal(Signal::TERM);
        let output = looking.wait();
        is_tame(arguments[0], &output.stdout);
        is_tame(arguments[0], &output.stderr);
    }
    for arguments in [&["watch"][..], &["demo", "--live"]] {
        let mut terminal = Terminal::start(at(&path, arguments), (100, 30));
        terminal.wait(|drawn| drawn.contains("FORGED"));
        let (code, drawn) = terminal.end(Signal::INT);
        assert!(code.is_some());
        is_tame(arguments[0], &visible(&drawn).replace('\r', ""));
    }
}

#[test]
fn of_a_host() {
    let herdr = FakeHerdr::start().unwrap();
    let wild = json!(WILD).to_string();
    // As JSON writes it, and unchanged.
    let raw = WILD.replace('\n', "");
    let mut lines = vec![format!("{{\"event\": \"{raw}\"}}"), raw.clone()];
    for event in [
        &json!({"event": WILD}),
        &json!({"event": "state_set", "state": WILD, "label": WILD}),
        &json!({"event": "prompt_opened", "prompt_id": WILD, "kind": WILD, "label": WILD}),
        &json!({"event": "tokens_changed", "tokens": {WILD: WILD}}),
        &json!({"event": "labels_changed", "labels": {WILD: WILD}}),
        &json!({"event": "session_started", "session_id": WILD, "session_path": WILD}),
        &json!({"event": "workflow_snapshot", "provider": WILD, "running": WILD}),
        &json!({"event": "usage_changed", "used": WILD}),
        &json!({"event": "flush", "id": WILD, "timeout_ms": WILD}),
        &json!({"event": "flush", "id": WILD}),
    ] {
        lines.push(event.to_string());
    }
    let input = lines.join("\n") + "\n";
    let run = inside(&herdr, &["run", "--receipts"]).env("HERDR_REPORT_LOG", "trace");
    let told = runs_tamely(run, &input);
    let answer = told.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let ids: Vec<_> = answer.filter(|line| line["flushed"].is_string()).collect();
    assert_eq!(ids.len(), 1, "{told}");
    assert_eq!(ids[0]["flushed"], WILD, "the id comes back as it was: {wild}");
    for line in &lines {
        runs_tamely(inside(&herdr, &["emit", "--strict", line]), "");
    }
}

#[test]
fn of_a_command_line() {
    let equal = format!("{WILD}=1");
    let flag = format!("--{WILD}");
    let cases: [&[&str]; 28] = [
        &[WILD],
        &[&flag],
        &["run", WILD],
        &["run", &flag],
        &["run", "--privacy", WILD],
        &["run", "--agent", WILD, "--source", WILD],
        &["run", "--socket", WILD],
        &["run", "--socket", WILD, "--pane", WILD],
        &["run", "--socket", WILD, "--pane", "w1:p1", "--strict"],
        &["run", "--pid", WILD],
        &["run", "--state-labels", &equal],
        &["exec", WILD],
        &["exec", "--state", WILD, "true"],
        &["attach", "--pid", WILD],
        &["emit", WILD],
        &["state", WILD],
        &["title", "T", "--ttl", WILD],
        &["title", &flag],
        &["tokens", WILD],
        &["tokens", &equal],
        &["labels", &equal],
        &["session", &flag],
        &["watch", "--strict", "--socket", WILD],
        &["tee", "--listen", "t", "--socket", WILD, WILD],
        &["doctor", "--socket", WILD, "--pane", "w1:p1"],
        &["completions", WILD],
        &["man", WILD],
        &["config", "show", "--display-name", WILD],
    ];
    let herdr = FakeHerdr::start().unwrap();
    for arguments in cases {
        let told = runs_tamely(inside(&herdr, arguments), WORK);
        assert!(!told.is_empty(), "{arguments:?}");
    }
    for arguments in [&["--help"][..], &["run", "-h"], &["completions", "bash"], &["nothing"]] {
        let mut setup = sidecar(arguments);
        setup.command.arg0(WILD);
        let told = runs_tamely(setup, "").replace('\t', " ");
        assert!(!told.contains("FORGED"), "{arguments:?}");
    }
}

#[test]
fn of_a_variable() {
    let names = ["HERDR_SOCKET_PATH", "HERDR_PANE_ID", "HERDR_ENV", "HERDR_SESSION"];
    let ours = ["SOCKET", "LOG", "AGENT", "VERIFY", "SETTLE_MS", "STATE_LABELS", "ENABLED", "X"];
    let ours = ours.map(|name| format!("HERDR_REPORT_{name}"));
    let names = names.into_iter().chain(ours.iter().map(String::as_str));
    let herdr = FakeHerdr::start().unwrap();
    let herdr = &herdr;
    thread::scope(|scope| {
        for name in names {
            scope.spawn(move || {
                for arguments in [
                    &["run", "--strict", "--receipts"][..],
                    &["state", "working", "--strict"],
                    &["exec", "true"],
                    &["doctor"],
                    &["config", "show"],
                    &["watch", "--strict", "--socket", "/nowhere/herdr.sock"],
                ] {
                    runs_tamely(inside(herdr, arguments).env(name, WILD), WORK);
                }
                runs_tamely(sidecar(&["watch", "--strict"]).env(name, WILD), "");
            });
        }
    });
}

#[test]
fn of_a_file_and_its_name() {
    let wild = json!(WILD).to_string();
    let raw = WILD.replace(['\r', '\n'], "");
    for text in [
        format!("display_name = {wild}"),
        format!("agent = {wild}"),
        format!("privacy = {wild}"),
        format!("{wild} = 1"),
        format!("defer_to = [{wild}]"),
        format!("state_labels = {{ {wild} = {wild} }}"),
        format!("title = \"{raw}\""),
        raw,
    ] {
        for arguments in [&["config", "show"][..], &["doctor"], &["run"], &["title", "T"]] {
            let mut setup = sidecar(arguments);
            let home = setup.folder.path().join(WILD);
            let folder = home.join(".config/herdr-socket-report");
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("config.toml"), &text).unwrap();
            std::fs::write(home.join(".herdr-socket-report.toml"), &text).unwrap();
            setup.command.env("HOME", &home).env("XDG_RUNTIME_DIR", &home).current_dir(&home);
            let told = runs_tamely(setup, "");
            let named = told.contains("FORGED") || told.is_empty();
            assert!(named || arguments == ["doctor"], "{arguments:?} {text:?}: {told}");
        }
    }
}
