//! The live view, as lines, as JSON and in a terminal.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;

use fake_herdr::{FakeHerdr, Fault};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Running, inside, sidecar};
use crate::terminal::{Terminal, pictures, visible};

/// Makes a request that has to be accepted.
fn tell(herdr: &FakeHerdr, method: &str, params: &Value) {
    let mut stream = UnixStream::connect(herdr.socket_path()).unwrap();
    writeln!(stream, "{}", json!({"id": "1", "method": method, "params": params})).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.contains("result"), "{reply}");
}

fn state(herdr: &FakeHerdr, state: &str) {
    let report = json!({"pane_id": herdr.pane_id(), "source": "custom:bot", "agent": "bot",
        "state": state});
    tell(herdr, "pane.report_agent", &report);
}

fn metadata(herdr: &FakeHerdr, params: &Value) {
    let mut report = json!({"pane_id": herdr.pane_id(), "source": "custom:bot"});
    report.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
    tell(herdr, "pane.report_metadata", &report);
}

fn record(watch: &mut Running) -> Value {
    serde_json::from_str(&watch.answer()).unwrap()
}

#[test]
fn each_change_is_a_line_of_json() {
    let herdr = FakeHerdr::builder().panes(2).start().unwrap();
    state(&herdr, "working");
    metadata(&herdr, &json!({"title": "Fix it", "tokens": {"ctx": "4k"}}));
    let mut watch = inside(&herdr, &["watch", "--json"]).start();
    let first = record(&mut watch);
    assert_eq!(first["change"], "appeared");
    assert_eq!((&first["agent"], &first["state"]), (&json!("bot"), &json!("working")));
    assert_eq!((&first["title"], &first["tokens"]), (&json!("Fix it"), &json!({"ctx": "4k"})));
    assert_eq!(first["pane_id"], herdr.pane_id());
    let seq = first["state_change_seq"].as_u64().unwrap();

    // However quickly it changed back, it is a new state.
    state(&herdr, "blocked");
    state(&herdr, "working");
    let mut second = record(&mut watch);
    while second["state"] != "working" {
        second = record(&mut watch);
    }
    assert_eq!((&second["change"], &second["seen_seconds"]), (&json!("changed"), &json!(0)));
    assert!(second["state_change_seq"].as_u64().unwrap() > seq);

    metadata(&herdr, &json!({"title": "Another"}));
    assert_eq!(record(&mut watch)["title"], "Another");
    let release = json!({"pane_id": herdr.pane_id(), "source": "custom:bot", "agent": "bot"});
    tell(&herdr, "pane.release_agent", &release);
    assert_eq!(record(&mut watch)["change"], "gone");
    watch.signal(Signal::TERM);
    let output = watch.wait();
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output:?}");
}

#[test]
fn lines_outlive_the_server() {
    let herdr = FakeHerdr::start().unwrap();
    state(&herdr, "blocked");
    let mut watch = inside(&herdr, &["watch"]).start();
    let line = watch.answer();
    assert!(line.contains("w1:p1 × bot: blocked"), "{line}");

    herdr.fault(Fault::Gone);
    let complaint = watch.complaint();
    assert!(complaint.contains("waiting for the server: there is no socket at"), "{complaint}");
    herdr.restart();
    herdr.clear_faults();
    assert!(watch.complaint().contains("the server is back"));
    // The claim was lost with the old server.
    assert!(watch.answer().contains("bot is gone"));
    state(&herdr, "working");
    let line = watch.answer();
    assert!(line.contains("◐ bot: working"), "{line}");
    watch.signal(Signal::INT);
    assert_eq!(watch.wait().code, Some(0));
}

#[test]
fn without_a_server_it_waits_unless_it_must_not() {
    let at = |path: &Path| path.to_str().unwrap().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("herdr.sock");
    let output = sidecar(&["watch", "--strict", "--socket", &at(&path)]).run("");
    assert_eq!(output.code, Some(3), "{output:?}");
    assert!(output.stderr.contains("there is no socket at"), "{}", output.stderr);

    let mut watch = sidecar(&["watch", "--socket", &at(&path)]).start();
    assert!(watch.complaint().contains("waiting for the server"));
    let herdr = FakeHerdr::builder().socket_path(&path).start().unwrap();
    state(&herdr, "idle");
    assert!(watch.answer().contains("bot: "));
    drop(watch);

    let output = sidecar(&["watch"]).env("HERDR_SOCKET_PATH", "relative").run("");
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(output.stderr.contains("HERDR_SOCKET_PATH is \"relative\""), "{}", output.stderr);
}

#[test]
fn a_session_is_found_by_its_name() {
    let setup = sidecar(&["watch", "--json"]).env("HERDR_SESSION", "other");
    let folder = setup.folder.path().join(".config/herdr/sessions/other");
    std::fs::create_dir_all(&folder).unwrap();
    let herdr = FakeHerdr::builder().socket_path(folder.join("herdr.sock")).start().unwrap();
    state(&herdr, "working");
    assert_eq!(record(&mut setup.start())["agent"], "bot");
}

#[test]
fn a_reader_that_had_enough_ends_it_quietly() {
    let herdr = FakeHerdr::start().unwrap();
    let mut setup = inside(&herdr, &["watch", "--json"]);
    let mut child = setup.command.stderr(Stdio::inherit()).spawn().unwrap();
    drop(child.stdout.take());
    // Nothing changes here.
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_server_that_is_stuck_does_not_hold_up_the_end() {
    let herdr = FakeHerdr::start().unwrap();
    herdr.fault(Fault::NeverAnswers);
    let watch = inside(&herdr, &["watch"]).start();
    assert!(herdr.wait_for_log(crate::support::PATIENCE, |log| !log.is_empty()));
    watch.signal(Signal::TERM);
    let output = watch.wait();
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), ""), "{output:?}");
}

#[test]
fn in_a_terminal_it_draws_in_place_and_gives_the_cursor_back() {
    let herdr = FakeHerdr::builder().panes(6).start().unwrap();
    for (number, pane) in herdr.with_model(|model| model.pane_ids()).iter().enumerate() {
        let agent = format!("bot{number}");
        let report = json!({"pane_id": pane, "source": format!("custom:{agent}"), "agent": agent,
            "state": "working", "message": "m"});
        tell(&herdr, "pane.report_agent", &report);
    }
    metadata(&herdr, &json!({"title": "x".repeat(79)}));

    let mut terminal = Terminal::start(inside(&herdr, &["watch"]), (40, 5));
    terminal.wait(|drawn| drawn.contains("+4 more"));
    herdr.fault(Fault::Gone);
    terminal.wait(|drawn| drawn.contains("waiting for the server"));
    herdr.clear_faults();
    terminal.wait(|drawn| drawn.contains("+4 more"));
    terminal.resize((30, 4));
    terminal.wait(|drawn| {
        let fits = |lines: &Vec<String>| {
            lines.len() == 4 && lines.iter().all(|line| line.chars().count() < 30)
        };
        pictures(drawn).last().is_some_and(fits)
    });
    terminal.stop();
    terminal.go_on();
    let (code, drawn) = terminal.end(Signal::INT);
    assert_eq!(code, Some(0));
    assert!(drawn.contains("\x1b[33m"), "working has its colour");
    let end = drawn.rfind("\x1b[?1049l").expect("the other screen is given back");
    assert!(drawn[..end].contains("\x1b[?25h") && !drawn[end..].contains("\x1b[?25l"));
    assert!(visible(&drawn[end..]).contains("6 agents"), "the last picture stays");
}
