//! How one-shots end: they never fail a hook, and report the outcome if asked.

use fake_herdr::Fault;
use serde_json::json;

use crate::emit::panes;
use crate::pane::{Pane, complaints};

#[test]
fn a_hook_is_never_failed() {
    let pane = Pane::new();
    pane.herdr.fault(Fault::Gone);
    for arguments in [
        &["state", "working"][..],
        &["title", "T"],
        &["release"],
        &["emit", "{no json"],
        &["emit", r#"{"event": "nonsense"}"#],
        &["state", "done"],
        &["labels", "busy=x"],
        &["labels", "idle"],
        &["tokens", "bad key=x"],
        &["tokens", "novalue"],
        &["state"],
        &["state", "working", "--no-such-flag"],
        &["title", "T", "--ttl", "0"],
        &["title", "T", "--privacy", "often"],
    ] {
        let output = pane.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_ne!(complaints(&output), "", "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
    pane.herdr.clear_faults();
    let mut broken = pane.command(&["title", "T"]);
    let output = broken.env("HERDR_SOCKET_PATH", "relative").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(complaints(&output).contains("HERDR_SOCKET_PATH"));
}

#[test]
fn a_look_that_shows_the_state_is_its_confirmation() {
    let pane = Pane::new();
    pane.quietly(&["state", "working", "--confirm", "--hedge=false"]);
    let log = pane.herdr.log();
    let requests = log.iter().map(|exchange| exchange.request.parse::<serde_json::Value>());
    let methods: Vec<_> = requests.map(|request| request.unwrap()["method"].take()).collect();
    assert_eq!(methods, ["pane.process_info", "pane.get", "pane.report_agent", "pane.get"]);
}

#[test]
fn asked_for_the_outcome_it_is_in_the_exit_code() {
    let pane = Pane::new();
    let code = |arguments: &[&str]| {
        let output = pane.run(arguments);
        (output.status.code().unwrap(), complaints(&output))
    };
    assert_eq!(code(&["state", "working", "--confirm"]), (0, String::new()));
    assert_eq!(code(&["title", "T", "--strict"]), (0, String::new()));
    assert_eq!(code(&["emit", "{", "--strict"]).0, 2);
    assert_eq!(code(&["state", "done", "--confirm"]).0, 2);
    assert_eq!(code(&["state", "--confirm"]).0, 2);
    assert_eq!(code(&["tokens", "bad key=x", "--strict"]).0, 2);
    let refused = code(&["title", "T", "--strict", "--pane", "w9:p9"]);
    assert_eq!(refused.0, 4, "{}", refused.1);
    pane.herdr.fault(Fault::Gone);
    let unreachable = code(&["state", "idle", "--confirm"]);
    assert_eq!(unreachable.0, 3, "{}", unreachable.1);
    assert!(unreachable.1.contains("no socket"), "{}", unreachable.1);
}

#[test]
fn f28_outside_herdr_whoever_asks_for_the_outcome_gets_it() {
    let pane = Pane::new();
    for (arguments, outside, off) in
        [(&["state", "working", "--confirm"][..], 3, 5), (&["title", "T", "--strict"], 3, 0)]
    {
        let output = pane.outside(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(outside), "{}", complaints(&output));
        assert!(complaints(&output).contains("not a pane of Herdr"), "{}", complaints(&output));
        for (name, value) in [("HERDR_REPORT_ENABLED", "0"), ("HERDR_REPORT_ROLE", "headless")] {
            let output = pane.command(arguments).env(name, value).output().unwrap();
            assert_eq!(output.status.code(), Some(off), "{}", complaints(&output));
        }
    }
    assert_eq!(pane.herdr.connections(), 0);
}

#[test]
fn f26_a_confirmation_is_about_what_the_pane_shows() {
    let (pane, _owner) = panes().into_iter().nth(1).unwrap();
    pane.quietly(&[
        "emit",
        r#"{"event": "workflow_snapshot", "provider": "p", "ready": true,
        "running": ["r"], "waiting": []}"#,
    ]);
    pane.wait_status("working");
    let output = pane.run(&["state", "idle", "--confirm"]);
    assert_eq!(output.status.code(), Some(5), "{}", complaints(&output));
    assert!(complaints(&output).contains("the pane shows \"working\""), "{}", complaints(&output));
    assert_eq!(pane.run(&["state", "working", "--confirm"]).status.code(), Some(0));
}

#[test]
fn with_an_owner_and_without_the_exit_codes_are_the_same() {
    let commands: [&[&str]; 9] = [
        &["state", "working", "--confirm"],
        &["state", "blocked", "--label", "q", "--confirm"],
        &["title", "T", "--strict"],
        &["tokens", "branch=main", "--strict"],
        &["tokens", "no good=x", "--strict"],
        &["labels", "idle=at rest", "--strict"],
        &["state", "idle", "--confirm"],
        &["session", "s", "--strict"],
        &["state", "idle", "--confirm"],
    ];
    let codes = |foreign: bool| {
        panes().map(|(pane, owner)| {
            if foreign {
                let session = json!({"id": "1", "method": "pane.report_agent_session", "params": {
                    "pane_id": "w1:p1", "source": "herdr:claude", "agent": "claude",
                    "agent_session_id": "s",
                }});
                let now = pane.herdr.now();
                let line = session.to_string();
                pane.herdr.with_model(|model| drop(model.request(now, line.as_bytes())));
            }
            let codes = commands.map(|command| pane.run(command).status.code().unwrap());
            drop(owner);
            codes
        })
    };
    let [straight, owned] = codes(false);
    assert_eq!(straight, owned);
    assert_eq!(straight, [0, 0, 0, 0, 2, 0, 0, 0, 0]);
    let [straight, owned] = codes(true);
    assert_eq!(straight, owned, "another integration's session owns the pane");
    assert_eq!(straight, [5, 5, 0, 0, 2, 0, 5, 0, 5]);
}
