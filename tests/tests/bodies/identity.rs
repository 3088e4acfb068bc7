//! Reports reach the right pane and no other.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use e2e::stage::{AGENT, PATIENCE, Stage, shows, sidecar, skipped, until};
use herdr_proto::{AgentStatus, PaneId, PaneInfo, ProcessInfoGet};
use herdr_reporter::{DiagnosticKind, Ended, Outcome, Prompt, Reporter};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

e2e::bodies! {
    shared:
        b31_the_right_pane_shows_when_its_neighbours_close,
        b34_a_process_that_is_not_in_the_pane_claims_nothing,
        b36_a_foreign_session_stops_the_state_and_nothing_else,
        b37_a_foreign_session_that_begins_later_stops_the_state_too,
        b38_a_known_agent_that_comes_and_goes_changes_nothing,
        b40_a_session_that_is_not_shown_is_not_a_failure,
        b31_a_closed_pane_ends_the_host_quietly,
        b31_a_moved_pane_is_known_by_its_old_id;
    own:
        b32_a_moved_pane_is_found_after_a_handoff;
}

fn split(stage: &Stage) -> String {
    let params = json!({ "target_pane_id": stage.pane(), "direction": "right", "focus": false });
    let made = stage.call("pane.split", &params);
    let id = made["pane"]["pane_id"].as_str();
    id.unwrap_or_else(|| panic!("no pane in {made}")).to_owned()
}

fn b31_the_right_pane_shows_when_its_neighbours_close(stage: &Stage) {
    let neighbours = [split(stage), split(stage)];
    let host = stage.reporter();
    let turn = host.turn();
    stage.wait_for("working");
    for neighbour in neighbours {
        stage.call("pane.close", &json!({ "pane_id": neighbour }));
        drop(turn.prompt(Prompt::approval("now?")));
        let ask = turn.prompt(Prompt::approval("which pane?"));
        stage.wait_for("blocked");
        drop(ask);
        stage.wait_for("working");
    }
    let newcomer = split(stage);
    drop(turn);
    stage.wait_for("idle");
    let theirs = stage.panes().into_iter().find(|pane| pane.pane_id.as_str() == newcomer);
    assert_eq!(theirs.map(|pane| pane.agent), Some(None));
}

/// Where the pane has a shell, this test provably does not run below that shell.
fn b34_a_process_that_is_not_in_the_pane_claims_nothing(stage: &Stage) {
    if !stage.has_shell() {
        return skipped("b34", "no process is behind the pane");
    }
    let host = stage.builder(AGENT, |config| config.any_pane = false).start();
    host.set_title("not here");
    let _turn = host.turn();
    let kind = stage.diagnostics(&host).wait().map(|diagnostic| diagnostic.kind);
    assert_eq!(kind, Some(DiagnosticKind::ForeignPane));
    let shown = until(Duration::from_secs(1), || stage.seen().agent);
    assert_eq!(shown, None);
    assert_eq!(stage.seen().title, None);
}

/// Makes the pane belong to a session of Claude's integration.
fn report_foreign_session(stage: &Stage) {
    let session = json!({
        "pane_id": stage.pane(), "source": "herdr:claude", "agent": "claude",
        "agent_session_id": "5f0c1c1e-0000-4000-8000-000000000001",
    });
    stage.call("pane.report_agent_session", &session);
    let owner = stage.seen().agent_session.map(|session| session.source);
    assert_eq!(owner.as_deref(), Some("herdr:claude"));
}

/// The host gives up its state, with a single diagnostic. Title and tokens go on.
fn gives_up_the_state(stage: &Stage, host: &Reporter) {
    let mut diagnostics = stage.diagnostics(host);
    let first = diagnostics.wait().expect("there is a diagnostic");
    assert_eq!(first.kind, DiagnosticKind::Ignored);
    assert!(first.detail.contains("herdr:claude"), "{}", first.detail);
    host.set_title("still here").set_token("branch", "main");
    // The guards of the title hide it while the claim is not ours.
    stage.wait(|pane| pane.tokens.get("branch").map(String::as_str) == Some("main"));
    let before = stage.requests();
    let turn = host.turn();
    for _ in 0..10 {
        drop(turn.prompt(Prompt::approval("again?")));
        stage.flushed(host);
    }
    drop(turn);
    stage.flushed(host);
    assert_eq!(diagnostics.try_next(), None, "there is one diagnostic");
    if let (Some(before), Some(after)) = (before, stage.requests()) {
        let new = &after[before.len()..];
        assert!(new.iter().all(|line| line["method"] != "pane.report_agent"), "{new:?}");
    }
    if let Some(requests) = stage.requests() {
        let ours = requests.iter().filter(|line| line["method"] == "pane.report_agent_session");
        assert_eq!(ours.count(), 1, "the only session is the foreign one");
    }
}

fn b36_a_foreign_session_stops_the_state_and_nothing_else(stage: &Stage) {
    report_foreign_session(stage);
    let host = stage.reporter();
    let turn = host.turn();
    gives_up_the_state(stage, &host);
    drop(turn);
    host.close(PATIENCE);
    stage.wait(|pane| pane.tokens.is_empty());
    assert!(stage.seen().agent_session.is_some(), "the session is not ours to end");
}

fn b37_a_foreign_session_that_begins_later_stops_the_state_too(stage: &Stage) {
    let host = stage.reporter();
    let turn = host.turn();
    stage.wait_for("working");
    stage.flushed(&host);
    report_foreign_session(stage);
    let ask = turn.prompt(Prompt::approval("Run it?"));
    gives_up_the_state(stage, &host);
    drop((ask, turn));
}

/// Runs a process with the name of a known agent in the pane, and `check` while it runs.
/// `false` if the pane has no shell.
fn with_known_agent(stage: &Stage, check: impl Fn()) -> bool {
    let pane = stage.pane().as_str();
    if !stage.has_shell() {
        return false;
    }
    // The sidecar, because many other programs behave by the name they are called by.
    // Outside Herdr it only reads its terminal.
    let program = stage.folder().join("claude");
    symlink(sidecar(), &program).unwrap();
    let line = format!("HERDR_ENV=0 {} run\n", program.display());
    stage.call("pane.send_text", &json!({ "pane_id": pane, "text": line }));
    let running = || {
        let info = stage.read(&ProcessInfoGet::new(stage.pane().clone())).unwrap().process_info;
        info.foreground_processes.into_iter().find(|process| process.name == "claude")
    };
    let claude = until(PATIENCE, running).expect("it runs in the foreground");
    check();
    // Ctrl-C may be ignored here if the tests themselves run in the background.
    let pid = i32::try_from(claude.pid).ok().and_then(Pid::from_raw).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    let ended = || running().is_none().then_some(());
    assert!(until(PATIENCE, ended).is_some(), "it has ended");
    true
}

fn b38_a_known_agent_that_comes_and_goes_changes_nothing(stage: &Stage) {
    let host = stage.reporter();
    let turn = host.turn();
    host.set_title("own label");
    stage.wait_for("working");
    stage.flushed(&host);
    let ours =
        |pane: &PaneInfo| shows(pane, "working") && pane.title.as_deref() == Some("own label");
    let back = || stage.wait_within(Duration::from_secs(6), ours);
    // First while it runs, then after it has ended.
    if !with_known_agent(stage, || drop(back())) {
        return skipped("b38", "no known agent can run here");
    }
    back();
    let ask = turn.prompt(Prompt::approval("Run it?"));
    stage.wait_for("blocked");
    drop((ask, turn));
    stage.wait_for("idle");
}

fn b40_a_session_that_is_not_shown_is_not_a_failure(stage: &Stage) {
    let host = stage.reporter_with(|config| config.session_token = true);
    let mut receipts = host.receipts();
    let id = format!("\u{1b}[1m0b7c1f\u{7}-{}", "x".repeat(100));
    host.set_session(&id);
    let turn = host.turn();
    let pane = stage.flushed(&host);
    let token = &pane.tokens["session"];
    assert!(token.starts_with("0b7c1f") && token.chars().count() == 80, "{token:?}");
    assert!(!token.chars().any(char::is_control), "{token:?}");
    assert_eq!(pane.agent_session, None);
    assert!(shows(&pane, "working"));
    drop(turn);
    stage.flushed(&host);
    assert_eq!(stage.diagnostics(&host).kinds(), []);
    host.close(PATIENCE);
    let bad: Vec<_> = receipts
        .iter()
        .filter(|receipt| matches!(receipt.outcome, Outcome::Ignored | Outcome::Failed))
        .collect();
    assert!(bad.is_empty(), "{bad:?}");
}

/// Starts a sidecar from the pane's shell. Its events are written into the returned pipe.
fn sidecar_in_the_pane(stage: &Stage) -> File {
    let pipe = stage.folder().join("events");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    // With both ends open here, opening does not wait for the sidecar.
    let events = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    let line = format!("{} run --agent {AGENT} <{}\n", sidecar().display(), pipe.display());
    stage.call("pane.send_text", &json!({ "pane_id": stage.pane(), "text": line }));
    events
}

fn b32_a_moved_pane_is_found_after_a_handoff(stage: &Stage) {
    if !stage.has_shell() {
        return skipped("b32", "no process is behind the pane");
    }
    let mut events = sidecar_in_the_pane(stage);
    events.write_all(b"{\"event\":\"agent_started\"}\n").unwrap();
    events.write_all(b"{\"event\":\"title_changed\",\"title\":\"on the move\"}\n").unwrap();
    stage.wait(|pane| shows(pane, "working") && pane.title.is_some());
    let destination = json!({ "type": "new_workspace", "label": "moved" });
    let moving = json!({ "pane_id": stage.pane(), "destination": destination, "focus": false });
    let moved = stage.call("pane.move", &moving);
    let id = moved["move_result"]["pane"]["pane_id"].as_str().expect("the moved pane");
    let id = PaneId::parse(id).unwrap();
    assert_ne!(id, *stage.pane());
    events
        .write_all(b"{\"event\":\"prompt_opened\",\"prompt_id\":\"p\",\"kind\":\"approval\"}\n")
        .unwrap();
    stage.wait_for("blocked");
    if stage.hand_off().is_none() {
        return skipped("b32", "this server hands nothing over");
    }
    stage.wait_anywhere_within(Duration::from_secs(3), |pane| {
        pane.pane_id == id && shows(pane, "blocked") && pane.title.as_deref() == Some("on the move")
    });
    let others = stage.panes().into_iter().filter(|pane| pane.pane_id != id);
    for other in others {
        assert_eq!((other.agent, other.agent_status), (None, AgentStatus::UNKNOWN));
    }
}

fn b31_a_closed_pane_ends_the_host_quietly(stage: &Stage) {
    let host = stage.reporter();
    let turn = host.turn();
    stage.wait_for("working");
    stage.flushed(&host);
    stage.call("pane.close", &json!({ "pane_id": stage.pane() }));
    drop(turn.prompt(Prompt::approval("unseen")));
    drop(turn);
    let start = Instant::now();
    let ended = host.close(Duration::from_secs(10));
    assert_eq!(ended, Ended::NothingToRelease);
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
}

fn b31_a_moved_pane_is_known_by_its_old_id(stage: &Stage) {
    let host = stage.reporter();
    let turn = host.turn();
    host.set_title("on the move");
    stage.wait_for("working");
    let destination = json!({ "type": "new_workspace", "label": "moved" });
    let moving = json!({ "pane_id": stage.pane(), "destination": destination, "focus": false });
    let moved = stage.call("pane.move", &moving);
    let ask = turn.prompt(Prompt::approval("there?"));
    let pane = stage.wait_for("blocked");
    assert_eq!(moved["move_result"]["pane"]["pane_id"], pane.pane_id.as_str());
    drop((ask, turn));
    host.close(PATIENCE);
    stage.wait_for_nothing();
    // A host that starts in the pane now still gets the old id from its environment.
    let host = stage.reporter();
    let _turn = host.turn();
    stage.wait_for("working");
    drop(host);
    stage.call("pane.close", &json!({ "pane_id": stage.pane() }));
}
