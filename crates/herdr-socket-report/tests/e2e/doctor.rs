//! `doctor` finds everything that keeps a report from showing, and leaves the pane as it was.

use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use fake_herdr::{FakeHerdr, Fault, Profile};
use rustix::process::{Signal, WaitOptions, waitpid};
use serde_json::Value;

use crate::pane::{Pane, complaints};
use crate::support::{inside, requests};
use crate::terminal::{Terminal, visible};

/// The result of one examination.
struct Seen {
    code: Option<i32>,
    report: Value,
}

impl Seen {
    fn of(output: &std::process::Output) -> Self {
        assert_eq!(complaints(output), "");
        let report = serde_json::from_slice(&output.stdout).unwrap();
        Self { code: output.status.code(), report }
    }

    fn check(&self, name: &str) -> &Value {
        let checks = self.report["checks"].as_array().unwrap();
        checks.iter().find(|check| check["check"] == name).unwrap()
    }

    /// Checks the outcome of a check and words in its finding.
    #[track_caller]
    fn says(&self, name: &str, ok: impl Into<Value>, words: &str) {
        let check = self.check(name);
        assert_eq!(check["ok"], ok.into(), "{:#}", self.report);
        assert!(check["finding"].as_str().unwrap().contains(words), "{:#}", self.report);
    }

    /// Checks that this check decides, has a remedy and leads to this exit code.
    #[track_caller]
    fn fails(&self, code: i32, name: &str, words: &str) {
        self.says(name, false, words);
        assert_eq!(self.code, Some(code), "{:#}", self.report);
        let verdict = &self.report["verdict"];
        assert_eq!(verdict["shows"], false);
        assert!(verdict["finding"].as_str().unwrap().contains(words), "{verdict}");
        assert!(verdict["remedy"].is_string(), "{verdict}");
    }

    #[track_caller]
    fn shows(&self) {
        assert_eq!(self.code, Some(0), "{:#}", self.report);
        assert_eq!(self.report["verdict"]["shows"], true);
    }
}

fn doctor(pane: &Pane, more: &[&str]) -> Seen {
    let arguments = [&["doctor", "--json"], more].concat();
    Seen::of(&pane.run(&arguments))
}

fn writes(pane: &Pane) -> usize {
    let log = pane.herdr.log();
    log.iter().filter(|exchange| exchange.request.contains("pane.re")).count()
}

fn say(pane: &Pane, method: &str, params: &str) {
    let line = format!(r#"{{"id":"1","method":"{method}","params":{params}}}"#);
    let now = pane.herdr.now();
    pane.herdr.with_model(|model| {
        model.request(now, line.as_bytes());
    });
}

/// The row of another reporter.
fn claim(pane: &Pane, source: &str, agent: &str) {
    let params = format!(
        r#"{{"pane_id":"w1:p1","source":"{source}","agent":"{agent}","state":"working","seq":5}}"#
    );
    say(pane, "pane.report_agent", &params);
    assert!(pane.now().agent.is_some());
}

#[test]
fn a_healthy_pane_is_tried_and_left_as_it_was() {
    let pane = Pane::new();
    pane.quietly(&["title", "Kept"]);
    pane.quietly(&["tokens", "branch=main"]);
    let seen = doctor(&pane, &[]);
    seen.shows();
    seen.says("report", true, "taken back");
    seen.says("variables", true, "HERDR_PANE_ID=\"w1:p1\"");
    seen.says("socket", true, "mode 0600");
    seen.says("server", true, "herdr 0.8.2, protocol 20");
    seen.says("pane", true, "w1:p1 exists");
    seen.says("identity", Value::Null, "does not name the pane's shell");
    seen.says("lease", true, "no process reports for the pane");
    seen.says("others", true, "a title, the tokens \"branch\"");
    let now = pane.now();
    assert_eq!((now.agent, now.title.as_deref()), (None, Some("Kept")));
    assert_eq!(now.tokens["branch"], "main");
    assert_eq!(requests(&pane.herdr, "pane.report_agent").len(), 1);
    // Later reports are not ignored.
    pane.quietly(&["state", "working", "--confirm"]);
}

#[test]
fn the_text_is_for_people_and_holds_no_control_characters() {
    let pane = Pane::new();
    claim(&pane, "custom:other", r"oth\u001b[2Jer\u0007");
    let output = pane.run(&["doctor"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for words in ["ok     server     herdr 0.8.2", "-> ", "verdict", "is shown, working"] {
        assert!(text.contains(words), "{text}");
    }
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    // The verdict names the check that decides and does not repeat its finding.
    let text = String::from_utf8(pane.outside(&["doctor"]).output().unwrap().stdout).unwrap();
    assert_eq!(text.matches("not in Herdr").count(), 1, "{text}");
    assert!(text.trim_end().ends_with("see variables above"), "{text}");
}

#[test]
fn at_a_terminal_it_wraps_and_has_colours_unless_they_are_switched_off() {
    for (no_color, coloured) in [("", true), ("1", false)] {
        let herdr = FakeHerdr::start().unwrap();
        let setup = inside(&herdr, &["doctor"]).env("NO_COLOR", no_color);
        let mut terminal = Terminal::start(setup, (90, 40));
        terminal.wait(|drawn| drawn.contains("verdict"));
        // It ends by itself.
        let (code, drawn) = terminal.end(Signal::CONT);
        assert_eq!(code, Some(0), "{drawn}");
        assert_eq!(drawn.contains("\u{1b}[32mok\u{1b}[0m"), coloured, "{drawn}");
        assert!(visible(&drawn).lines().all(|line| line.chars().count() <= 90), "{drawn}");
    }
}

#[test]
fn json_has_one_shape_in_and_out_of_herdr() {
    let pane = Pane::new();
    let outside = Seen::of(&pane.outside(&["doctor", "--json"]).output().unwrap());
    for seen in [&outside, &doctor(&pane, &[])] {
        let checks = seen.report["checks"].as_array().unwrap();
        let names: Vec<_> = checks.iter().map(|check| check["check"].as_str().unwrap()).collect();
        assert_eq!(
            names.join(" "),
            "settings source variables socket server pane identity lease others report \
             sidebar terminal"
        );
        for check in checks {
            assert!(check["ok"].is_boolean() || check["ok"].is_null(), "{check}");
            assert!(check["finding"].is_string(), "{check}");
            let keys = check.as_object().unwrap().keys();
            assert!(
                keys.into_iter().all(|key| ["check", "ok", "finding", "remedy"].contains(&&**key))
            );
        }
        assert!(seen.report["verdict"]["finding"].is_string());
    }
    outside.fails(3, "variables", "HERDR_ENV is not set");
}

#[test]
fn wrong_variables_and_sockets_are_named() {
    let pane = Pane::new();
    let with = |name: &str, value: &str| {
        let mut command = pane.command(&["doctor", "--json"]);
        Seen::of(&command.env(name, value).output().unwrap())
    };
    with("HERDR_ENV", "0").fails(3, "variables", "HERDR_ENV is not 1");
    with("HERDR_SOCKET_PATH", "").fails(3, "variables", "HERDR_SOCKET_PATH is set but empty");
    with("HERDR_SOCKET_PATH", "herdr.sock").fails(3, "variables", "not an absolute path");
    with("HERDR_PANE_ID", "w1:p1\n").fails(3, "variables", "HERDR_PANE_ID");
    with("HERDR_SOCKET_PATH", "/nowhere/s").fails(3, "socket", "there is no socket at");
    let long = format!("/{}", "x".repeat(150));
    with("HERDR_SOCKET_PATH", &long).fails(3, "socket", "too long");
    let folder = pane.path().to_str().unwrap();
    with("HERDR_SOCKET_PATH", folder).fails(3, "socket", "is a folder");
    let dead = pane.path().join("dead");
    drop(UnixListener::bind(&dead).unwrap());
    with("HERDR_SOCKET_PATH", dead.to_str().unwrap()).fails(3, "server", "no process listens");
    assert_eq!(writes(&pane), 0);
}

#[test]
fn a_hung_server_costs_less_than_ten_seconds() {
    let pane = Pane::new();
    let begun = Instant::now();
    pane.herdr.fault(Fault::NeverAnswers);
    doctor(&pane, &[]).fails(3, "server", "did not answer in time");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    pane.herdr.clear_faults();

    // A server that answers each request at the last moment.
    let begun = Instant::now();
    pane.herdr.fault(Fault::AnswersLate(Duration::from_millis(1800)));
    doctor(&pane, &[]).fails(3, "report", "");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    pane.herdr.clear_faults();
    pane.wait_clean();
}

#[test]
fn a_foreign_session_blocks_and_is_not_disturbed() {
    let pane = Pane::new();
    let now = pane.herdr.now();
    pane.herdr.with_model(|model| model.agent_appears(now, "w1:p1", "claude", "idle"));
    let session = r#"{"pane_id":"w1:p1","source":"herdr:claude","agent":"claude","agent_session_id":"s","session_start_source":"startup"}"#;
    say(&pane, "pane.report_agent_session", session);
    let before = format!("{:?}", pane.now());
    doctor(&pane, &[]).fails(5, "others", "a session of source \"herdr:claude\"");
    assert_eq!(format!("{:?}", pane.now()), before);
    assert_eq!(writes(&pane), 0);
}

#[test]
fn the_holder_of_the_lease_is_named_and_keeps_the_pane() {
    let pane = Pane::new();
    let mut owner = pane.start(&["run", "--agent", "bot"]);
    owner.line(r#"{"event": "agent_started"}"#);
    pane.wait_status("working");
    pane.client();
    let before = writes(&pane);
    let seen = doctor(&pane, &["--agent", "bot"]);
    seen.shows();
    seen.says("lease", true, "takes what hooks say at");
    if cfg!(target_os = "linux") {
        seen.says("lease", true, &format!("process {} (herdr-socket-report)", owner.child.id()));
    }
    seen.says("others", true, "\"bot\" is shown, working");
    seen.says("report", Value::Null, "not tried");
    // The same holds without the reporter's settings.
    doctor(&pane, &[]).says("others", true, "the row of the reporter that has the pane");
    assert_eq!(writes(&pane), before);
    assert_eq!(pane.now().agent_status, "working");

    // Without the control socket other processes cannot report.
    std::fs::remove_file(pane.beside_the_lease("sock")).unwrap();
    doctor(&pane, &[]).fails(4, "lease", "takes nothing from others");
    assert_eq!(writes(&pane), before);
    assert_eq!(owner.finish().code(), Some(0));
}

#[test]
fn a_reporter_that_was_stopped_is_told_from_one_that_listens() {
    let pane = Pane::new();
    let mut owner = pane.start(&["run"]);
    owner.line(r#"{"event": "agent_started"}"#);
    pane.wait_status("working");
    pane.client();
    owner.signal(Signal::STOP);
    let stopped = waitpid(Some(owner.pid()), WaitOptions::UNTRACED).unwrap();
    assert!(stopped.is_some_and(|(_, status)| status.stopped()));
    doctor(&pane, &[]).fails(4, "lease", "does not answer");
    let scrubbed = |pane: &Pane| {
        let mut command = pane.outside(&["doctor", "--json"]);
        command.env("HERDR_REPORT_SOCKET", pane.beside_the_lease("sock"));
        Seen::of(&command.output().unwrap())
    };
    scrubbed(&pane).fails(4, "lease", "does not answer");
    let hook = pane.run(&["title", "T", "--strict"]);
    assert_eq!(hook.status.code(), Some(3));
    assert!(complaints(&hook).contains("does not answer within 1 s; `doctor` says"), "{hook:?}");

    owner.signal(Signal::CONT);
    doctor(&pane, &[]).shows();
    scrubbed(&pane).shows();
    assert_eq!(owner.finish().code(), Some(0));
}

#[test]
fn without_herdrs_variables_the_reporter_is_still_found() {
    let pane = Pane::new();
    let _owner = pane.start(&["run"]);
    pane.client();
    let socket = pane.beside_the_lease("sock");
    let mut command = pane.outside(&["doctor", "--json"]);
    Seen::of(&command.env("HERDR_REPORT_SOCKET", socket).output().unwrap()).shows();
}

#[test]
fn another_reporters_row_is_left_alone_unless_told_to_write() {
    // The remedy works.
    let killed = Pane::new();
    killed.quietly(&["state", "working", "--agent", "killed"]);
    let seen = doctor(&killed, &[]);
    let remedy = seen.check("others")["remedy"].as_str().unwrap();
    assert!(remedy.ends_with("`release --agent \"killed\"` takes its row off"), "{remedy}");
    killed.quietly(&["release", "--agent", "killed"]);
    killed.wait_clean();

    let pane = Pane::new();
    claim(&pane, "custom:other", "other");
    let seen = doctor(&pane, &[]);
    seen.shows();
    seen.says("others", Value::Null, "another reporter's");
    assert_eq!(writes(&pane), 0);
    assert_eq!(pane.now().agent.as_deref(), Some("other"));
    let seen = doctor(&pane, &["--write"]);
    seen.shows();
    seen.says("report", true, "taken back");
    pane.wait_clean();
}

#[test]
fn f30_a_detected_agents_row_is_left_alone_also_by_write() {
    let pane = Pane::new();
    let now = pane.herdr.now();
    pane.herdr.with_model(|model| model.agent_appears(now, "w1:p1", "claude", "idle"));
    let seen = doctor(&pane, &["--write"]);
    seen.says("report", Value::Null, "Herdr shows an agent of its own");
    assert_eq!(writes(&pane), 0);
    assert_eq!(pane.now().agent.as_deref(), Some("claude"));
}

#[test]
fn other_servers_are_told_apart() {
    let pane = Pane::new();
    pane.herdr.fault(Fault::JsonRpc);
    doctor(&pane, &[]).fails(3, "server", "is not the pane API");

    let pane = Pane::of(FakeHerdr::builder().profile(Profile::tuios()).start().unwrap());
    let seen = doctor(&pane, &[]);
    seen.shows();
    seen.says("server", true, "TUIOS takes reports from the pane's own processes");
    pane.wait_clean();
    pane.herdr.fault("refuse:pane.report_agent:forbidden".parse().unwrap());
    doctor(&pane, &[]).fails(4, "report", "forbidden");
}

#[test]
fn a_known_label_is_warned_about_and_one_that_conflicts_blocks() {
    let pane = Pane::new();
    let seen = doctor(&pane, &["--agent", "claude", "--source", "custom:x"]);
    seen.shows();
    seen.says("source", Value::Null, "Herdr knows an agent of this name");
    pane.wait_clean();
    let now = pane.herdr.now();
    pane.herdr.with_model(|model| model.agent_appears(now, "w1:p1", "codex", "idle"));
    let before = writes(&pane);
    doctor(&pane, &["--agent", "claude"]).fails(5, "others", "\"codex\" is shown");
    assert_eq!(writes(&pane), before);
    assert_eq!(pane.now().agent.as_deref(), Some("codex"));
}

#[test]
fn settings_that_keep_reports_back_are_named() {
    let pane = Pane::new();
    doctor(&pane, &["--enabled=false"]).fails(5, "settings", "enabled is false");
    doctor(&pane, &["--role", "headless"]).fails(5, "settings", "never claims");
    let official = doctor(&pane, &["--agent", "pi", "--source", "herdr:pi"]);
    official.fails(5, "settings", "one of Herdr's own integrations");
    std::fs::write(pane.path().join(".herdr-socket-report.toml"), "titel = \"none\"\n").unwrap();
    let seen = doctor(&pane, &[]);
    seen.fails(5, "settings", ".herdr-socket-report.toml:1");
    seen.says("server", true, "herdr");
    assert_eq!(writes(&pane), 0);
    assert_eq!(pane.run(&["doctor", "--no-such-flag"]).status.code(), Some(2));
}

#[test]
fn a_pane_that_was_closed_or_moved_is_told() {
    let pane = Pane::of(FakeHerdr::builder().panes(2).start().unwrap());
    let now = pane.herdr.now();
    let moved = pane.herdr.with_model(|model| model.move_pane(now, "w1:p1")).unwrap();
    let socket = pane.herdr.socket_path().to_str().unwrap();
    let flags = ["--socket", socket, "--pane", "w1:p1"];
    let seen = doctor(&pane, &flags);
    seen.shows();
    seen.says("pane", true, &format!("w1:p1 has moved and is {moved} now"));
    pane.herdr.with_model(|model| model.close_pane(now, &moved));
    doctor(&pane, &flags).fails(4, "pane", "has no pane w1:p1");
}

#[test]
#[cfg(target_os = "linux")]
fn a_process_of_another_place_is_foreign() {
    use crate::whose::{Shell, leads};

    let pane = Pane::new();
    let shell = Shell::start(&pane);
    leads(&pane, shell.0.id());
    let foreign = doctor(&pane, &[]);
    let anyway = doctor(&pane, &["--any-pane"]);
    foreign.fails(4, "identity", "does not run in the pane");
    anyway.shows();
    anyway.says("identity", Value::Null, "any_pane reports anyway");
}
