//! The one-shots, with an owner and without.

use serde_json::json;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::pane::{Pane, Started, complaints};
use crate::support::requests;

/// A pane without a reporter, and one with a reporter.
pub(crate) fn panes() -> [(Pane, Option<Started>); 2] {
    let pane = Pane::new();
    let owner = pane.start(&["run"]);
    pane.client();
    [(Pane::new(), None), (pane, Some(owner))]
}

#[test]
fn each_of_them_says_one_thing() {
    for (pane, owner) in panes() {
        pane.quietly(&["emit", r#"{"event": "agent_started"}"#]);
        pane.wait_status("working");
        pane.quietly(&["title", "Fix \u{1b}[31mthe\nlogin"]);
        pane.quietly(&["labels", "blocked=needs you", "working=on it"]);
        pane.quietly(&["tokens", "branch=main", "gone=x"]);
        pane.quietly(&["tokens", "gone="]);
        let seen = pane.wait(|seen| {
            seen.tokens.len() == 1 && seen.title.is_some() && seen.state_labels.len() == 2
        });
        assert_eq!(seen.title.as_deref(), Some("Fix the login"), "{}", owner.is_some());
        assert_eq!(seen.tokens["branch"], "main");
        assert_eq!(seen.state_labels["blocked"], "needs you");
        pane.quietly(&["labels", "working="]);
        pane.wait(|seen| seen.state_labels.len() == 1);
        pane.quietly(&["session", "s-1"]);
        pane.quietly(&[
            "emit",
            r#"{"event": "agent_settled"}"#,
            r#"{"event": "usage_changed", "used": 34000}"#,
        ]);
        let seen = pane.wait(|seen| seen.tokens.contains_key("ctx"));
        assert_eq!(seen.tokens["ctx"], "34k");
        pane.wait(|seen| ["idle", "done"].contains(&seen.agent_status.as_str()));
        pane.quietly(&["state", "blocked"]);
        pane.wait_status("blocked");
        pane.quietly(&["title", ""]);
        pane.wait(|seen| seen.title.is_none());
        pane.quietly(&["release"]);
        let seen = pane.wait(|seen| seen.agent.is_none() && seen.state_labels.is_empty());
        assert!(!seen.tokens.contains_key("ctx"));
    }
}

/// Herdr answers `ok` to a release that changes nothing (C2, C3).
#[test]
fn a_release_of_somebody_elses_row_is_said() {
    let pane = Pane::new();
    pane.quietly(&["state", "working", "--agent", "other"]);
    let output = pane.run(&["release"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(complaints(&output).contains("the pane shows other"), "{}", complaints(&output));
    assert_eq!(pane.run(&["release", "--strict"]).status.code(), Some(4));
    assert_eq!(pane.now().agent.as_deref(), Some("other"));
    pane.quietly(&["release", "--agent", "other", "--strict"]);
    assert_eq!(pane.now().agent, None);
    pane.quietly(&["release", "--strict"]);
}

#[test]
fn a_pane_that_is_not_there_is_named() {
    let pane = Pane::new();
    let socket = pane.herdr.socket_path().to_str().unwrap();
    let place = ["--socket", socket, "--pane", "w9:p9", "--any-pane"];
    for report in [&["state", "working"][..], &["title", "T"], &["release"]] {
        let output = pane.run(&[report, &place, &["--strict"]].concat());
        assert_eq!(output.status.code(), Some(4), "{report:?}");
        assert!(complaints(&output).contains("no pane w9:p9"), "{}", complaints(&output));
    }
}

#[test]
fn a_label_that_is_taken_off_gives_way_to_the_configured_one() {
    for (pane, owner) in panes() {
        let configured = ["--state-labels", "blocked=needs you"];
        pane.quietly(&["state", "working"]);
        pane.quietly(&["labels", "blocked=asks", "done=look"]);
        pane.wait(|seen| seen.state_labels.get("blocked").is_some_and(|label| label == "asks"));
        if owner.is_none() {
            pane.quietly(&["labels", "blocked=", configured[0], configured[1]]);
            pane.wait(|seen| seen.state_labels["blocked"] == "needs you");
        }
        pane.quietly(&["labels", "blocked="]);
        let seen = pane.wait(|seen| !seen.state_labels.contains_key("blocked"));
        assert_eq!(seen.state_labels["done"], "look");
    }
}

#[test]
fn what_does_not_fit_is_named_by_its_argument() {
    for (pane, _owner) in panes() {
        let wrong = r#"{"event": "tokens_changed", "tokens": {"no key": "x"}}"#;
        let output = pane.run(&["emit", "{", r#"{"event": "flush"}"#, wrong]);
        let complaints = complaints(&output);
        let [first, second] = &complaints.lines().collect::<Vec<_>>()[..] else {
            panic!("{complaints}");
        };
        assert!(first.contains(": event 1: not JSON"), "{first}");
        assert!(second.contains(": event 3: token keys `no key`"), "{second}");
        let output = pane.run(&["emit", wrong]);
        let alone = crate::pane::complaints(&output);
        assert!(alone.starts_with("herdr-socket-report: token keys"), "{alone}");
    }
}

#[test]
fn a_flush_among_events_does_not_cut_the_answer_short() {
    for (pane, _owner) in panes() {
        let flush = r#"{"event": "flush", "id": "mine", "timeout_ms": 0}"#;
        let work = r#"{"event": "agent_started"}"#;
        pane.quietly(&["emit", "--strict", flush, work, flush]);
        assert_eq!(pane.now().agent_status, "working");
        pane.quietly(&["emit", "--strict", flush]);
    }
}

#[test]
fn b42_a_title_by_one_never_erases_the_labels_of_another() {
    for (pane, _owner) in panes() {
        pane.quietly(&["labels", "blocked=needs you", "done=look"]);
        pane.quietly(&["state", "working"]);
        for number in 0..3 {
            pane.quietly(&["title", &format!("Title {number}")]);
        }
        let seen = pane.wait(|seen| seen.title.as_deref() == Some("Title 2"));
        assert_eq!(seen.state_labels["blocked"], "needs you");
        assert_eq!(seen.state_labels["done"], "look");
    }
}

#[test]
fn b50_the_reason_of_a_block_shows_and_goes_and_the_label_comes_back() {
    for (pane, _owner) in panes() {
        pane.quietly(&["labels", "blocked=needs you"]);
        pane.quietly(&["state", "blocked", "--label", "Run tests?", "--confirm"]);
        pane.wait(|seen| {
            seen.agent_status == "blocked" && seen.state_labels["blocked"].contains("Run tests?")
        });
        pane.quietly(&["state", "working", "--confirm"]);
        let seen = pane.wait(|seen| {
            seen.agent_status == "working"
                && seen.state_labels.get("blocked").is_some_and(|label| label == "needs you")
        });
        assert_eq!(seen.state_labels.len(), 1);
    }
}

#[test]
fn without_an_owner_ends_without_a_beginning_change_nothing() {
    let pane = Pane::new();
    let emit = |event: &str| pane.quietly(&["emit", event]);
    emit(r#"{"event": "tool_finished", "tool_id": "t"}"#);
    emit(r#"{"event": "prompt_closed", "prompt_id": "p"}"#);
    emit(r#"{"event": "agent_settled", "agent_id": "helper"}"#);
    assert_eq!(requests(&pane.herdr, "pane.report_agent").len(), 0);
    emit(r#"{"event": "session_started", "session_id": "s"}"#);
    pane.wait(|seen| seen.agent.is_some());
    emit(r#"{"event": "tool_started", "tool_id": "t", "tool": "grep"}"#);
    pane.wait_status("working");
    emit(r#"{"event": "session_started", "session_id": "s", "reason": "compact"}"#);
    emit(r#"{"event": "tool_finished", "tool_id": "t"}"#);
    assert_eq!(pane.now().agent_status, "working");
    emit(r#"{"event": "prompt_opened", "prompt_id": "p", "kind": "question"}"#);
    assert_eq!(pane.now().agent_status, "blocked");
    emit(r#"{"event": "prompt_closed", "prompt_id": "p"}"#);
    assert_eq!(pane.now().agent_status, "working");
}

#[test]
fn without_an_owner_nothing_stays_on_disk_and_metadata_has_no_number() {
    let pane = Pane::new();
    pane.quietly(&["title", "T", "--ttl", "60"]);
    pane.quietly(&["tokens", "a=b"]);
    let reports = requests(&pane.herdr, "pane.report_metadata");
    assert_eq!(reports.len(), 2);
    assert!(reports.iter().all(|report| report.get("seq").is_none()), "{reports:?}");
    assert_eq!(reports[0]["clear_display_agent"], json!(true));
    assert_eq!(reports[0]["ttl_ms"], json!(60_000));
    assert_eq!(reports[1]["ttl_ms"], json!(86_400_000));
    for file in std::fs::read_dir(pane.leases()).unwrap() {
        assert_eq!(file.unwrap().metadata().unwrap().len(), 0, "locks alone");
    }
}

#[test]
fn fifty_at_once_all_arrive() {
    for (pane, owner) in panes() {
        pane.quietly(&["state", "working"]);
        pane.wait_status("working");
        let mut children: Vec<Child> = Vec::new();
        for number in 0..50 {
            let words = match number % 5 {
                0 => ["title".to_owned(), format!("Title {number}")],
                1 => ["labels".to_owned(), format!("blocked=label {number}")],
                2 => ["labels".to_owned(), format!("done=label {number}")],
                3 => ["tokens".to_owned(), format!("k{number}=v{number}")],
                _ => ["state".to_owned(), "blocked".to_owned()],
            };
            let mut command = pane.command(&[&words[0], &words[1]]);
            children.push(command.stderr(Stdio::piped()).spawn().unwrap());
        }
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(0));
            assert_eq!(complaints(&output), "", "{}", owner.is_some());
        }
        let seen = pane.wait(|seen| {
            seen.agent_status == "blocked"
                && seen.title.is_some()
                && seen.tokens.len() == 10
                && seen.state_labels.len() == 2
        });
        assert!((3..50).step_by(5).all(|n| seen.tokens[&format!("k{n}")] == format!("v{n}")));
    }
}

#[test]
fn a_session_of_an_integration_keeps_the_state_and_it_is_said() {
    for (pane, _owner) in panes() {
        let session = r#"{"id":"1","method":"pane.report_agent_session","params":{"pane_id":"w1:p1","source":"herdr:claude","agent":"claude","agent_session_id":"s","session_start_source":"startup"}}"#;
        let now = pane.herdr.now();
        pane.herdr.with_model(|model| drop(model.request(now, session.as_bytes())));
        let output = pane.run(&["state", "working", "--confirm"]);
        assert_eq!(output.status.code(), Some(5), "{}", complaints(&output));
        assert!(complaints(&output).starts_with("herdr-socket-report: not shown:"));
        assert_eq!(pane.run(&["state", "working"]).status.code(), Some(0));
        // Titles and tokens do not belong to the session.
        pane.quietly(&["tokens", "branch=main"]);
        pane.wait(|seen| !seen.tokens.is_empty());
    }
}

#[test]
fn b03_a_mark_of_another_clock_is_climbed_over_and_the_highest_is_told() {
    let pane = Pane::new();
    let mark = |seq: u64| {
        let report = json!({"id": "1", "method": "pane.report_agent", "params": {
            "pane_id": "w1:p1", "source": "custom:agent", "agent": "agent",
            "state": "idle", "seq": seq,
        }});
        let now = pane.herdr.now();
        pane.herdr.with_model(|model| drop(model.request(now, report.to_string().as_bytes())));
    };
    // Nearly three hundred years ahead in microseconds, and long ago in nanoseconds.
    mark(10_000_000_000_000_000);
    pane.quietly(&["state", "working", "--confirm"]);
    assert_eq!(pane.now().agent_status, "working");
    pane.quietly(&["state", "blocked", "--confirm"]);
    assert_eq!(pane.now().agent_status, "blocked");
    mark(u64::MAX);
    let output = pane.run(&["state", "working", "--confirm"]);
    assert_eq!(output.status.code(), Some(5));
    assert!(complaints(&output).contains("sequence mark"), "{}", complaints(&output));
}

#[test]
fn a_reporter_without_a_control_socket_keeps_its_pane() {
    let pane = Pane::new();
    pane.quietly(&["title", "T"]);
    let lease = pane.beside_the_lease("lock");
    let held = std::fs::File::options().write(true).open(lease).unwrap();
    held.try_lock().unwrap();
    let before = pane.herdr.log().len();
    let output = pane.run(&["state", "working", "--strict"]);
    assert_eq!(output.status.code(), Some(4));
    assert!(complaints(&output).contains("deferred"), "{}", complaints(&output));
    assert_eq!(pane.herdr.log().len(), before);
}

#[test]
fn f05_who_names_a_supervisor_that_is_gone_says_nothing() {
    let pane = Pane::new();
    let late = |mut command: std::process::Command| {
        let output = command.env("HERDR_REPORT_SOCKET", "/no/such/socket").output().unwrap();
        (output.status.code(), complaints(&output))
    };
    assert_eq!(late(pane.command(&["title", "T"])), (Some(0), String::new()));
    // The same holds if there is no other route.
    assert_eq!(late(pane.outside(&["title", "T"])), (Some(0), String::new()));
    let (code, why) = late(pane.command(&["title", "T", "--strict"]));
    assert_eq!(code, Some(4));
    assert!(why.contains("late: the supervisor that HERDR_REPORT_SOCKET names"), "{why}");
    assert_eq!(pane.herdr.connections(), 0);
    // A pane that the flags name takes precedence.
    let id = pane.herdr.pane_id().to_owned();
    let code = late(pane.command(&["title", "T", "--strict", "--pane", &id])).0;
    assert_eq!((code, pane.now().title.as_deref()), (Some(0), Some("T")));
}

#[test]
fn f15_what_was_started_last_wins() {
    for _ in 0..3 {
        let pane = Pane::new();
        let state = |word: &str| pane.command(&["state", word, "--agent", "bot"]).spawn().unwrap();
        let working: Vec<_> = (0..4).map(|_| state("working")).collect();
        // The kernel's start times have a resolution of a hundredth of a second.
        std::thread::sleep(Duration::from_millis(100));
        let idle = state("idle");
        for mut one in working.into_iter().chain([idle]) {
            assert!(one.wait().unwrap().success());
        }
        assert_eq!(pane.now().agent_status, "idle");
    }
}

#[test]
fn f17_a_session_leaves_the_reason_of_a_block() {
    for (pane, _owner) in panes() {
        pane.quietly(&["state", "blocked", "--label", "why"]);
        pane.wait(|seen| seen.state_labels.contains_key("blocked"));
        pane.quietly(&["session", "s1", "--strict"]);
        let seen = pane.now();
        assert_eq!(seen.agent_status, "blocked");
        assert_eq!(seen.state_labels["blocked"], "why");
    }
}
