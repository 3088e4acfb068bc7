//! Tests of the rows of docs/compatibility.md, where other servers differ from
//! Herdr 0.8.2.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support;
mod wire;

use std::fs;
use std::path::Path;

use fake_herdr::{FakeHerdr, Fault};
use serde_json::{Value, json};
use support::Herdr;

/// All servers, in the order of the table's columns.
fn servers() -> [(&'static str, Herdr); 4] {
    ["0.8.2", "0.9.0", "0.9.3", "tuios"].map(|name| (name, Herdr::with(name.parse().unwrap())))
}

fn raw(herdr: &mut Herdr, line: &str) -> Value {
    serde_json::from_str(herdr.model.request(herdr.now, line.as_bytes()).line().unwrap()).unwrap()
}

/// The id of the first pane.
fn pane(herdr: &Herdr) -> String {
    herdr.model.pane_ids()[0].clone()
}

fn report(herdr: &mut Herdr, state: &str, seq: Option<u64>) {
    let params = json!({
        "pane_id": pane(herdr), "source": "custom:a", "agent": "bot", "state": state, "seq": seq,
    });
    assert_eq!(herdr.code("pane.report_agent", params), "ok");
}

fn status(herdr: &Herdr) -> String {
    herdr.model.observe(herdr.now, &pane(herdr)).unwrap().agent_status
}

/// Every row of the servers' table names an existing test.
#[test]
fn the_table_names_its_tests() {
    let table =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compatibility.md"))
            .unwrap();
    let tests = include_str!("compatibility.rs");
    let servers = table.split("\n## ").find(|section| section.starts_with("Servers")).unwrap();
    let rows: Vec<_> = servers.lines().filter(|line| line.starts_with("| ")).collect();
    let named: Vec<_> = rows
        .iter()
        .filter_map(|row| row.rsplit('`').nth(1))
        .filter(|name| !name.contains(' '))
        .collect();
    assert!(named.len() >= 7, "{named:?}");
    for name in named {
        assert!(tests.contains(&format!("fn {name}()")), "no test {name}");
    }
}

#[test]
fn ping_names_the_server() {
    for (name, mut herdr) in servers() {
        let pong = herdr.call("ping", json!({}))["result"].clone();
        let expected = match name {
            "tuios" => ("0.9.3+tuios", 22, Some("tuios")),
            "0.8.2" => ("0.8.2", 20, None),
            version => (version, 22, None),
        };
        let got = (
            pong["version"].as_str().unwrap(),
            pong["protocol"].as_u64().unwrap(),
            pong["server"].as_str(),
        );
        assert_eq!(got, expected);
        let has = |capability: &str| pong["capabilities"].get(capability).is_some();
        assert_eq!(has("endpoint_protocol_generation"), name != "0.8.2");
        assert_eq!(has("ssh_agent_registration"), ["0.9.3", "tuios"].contains(&name));
    }
}

#[test]
fn subscriptions_replay_or_start_live() {
    for (name, mut herdr) in servers() {
        report(&mut herdr, "working", None);
        let (_, mut stream) = herdr.subscribe(json!([{ "type": "pane.agent_detected" }]));
        let replayed = herdr.model.tick(herdr.now, &mut stream).len();
        assert_eq!(replayed, usize::from(name == "0.8.2"), "{name}");
    }
}

/// Five changes at once give one line a turn, or all lines at once. A reader that falls
/// behind gets an error on newer servers.
#[test]
fn bursts_and_lost_events() {
    for (name, mut herdr) in servers() {
        let subscription = json!({ "type": "pane.agent_status_changed", "pane_id": pane(&herdr) });
        let (_, mut stream) = herdr.subscribe(json!([subscription]));
        let batches = ["0.9.3", "tuios"].contains(&name);
        for state in ["working", "blocked", "working", "blocked", "working"] {
            report(&mut herdr, state, None);
        }
        let lines = herdr.model.tick(herdr.now, &mut stream);
        assert_eq!(lines.len(), if batches { 5 } else { 1 }, "{name}");
        for _ in 0..600 {
            report(&mut herdr, "blocked", None);
            report(&mut herdr, "working", None);
        }
        let lines = herdr.model.tick(herdr.now, &mut stream);
        assert_eq!(lines[0].contains("events_lost"), batches, "{name}");
        assert_eq!(stream.ended(), batches, "{name}");
    }
}

#[test]
fn decode_errors_name_their_request() {
    for (name, mut herdr) in servers() {
        let reply = raw(&mut herdr, r#"{"id":"7","method":"ping"}"#);
        assert_eq!(
            reply["id"],
            if name.starts_with("0.9.3") || name == "tuios" { "7" } else { "" }
        );
        let state = r#"{"id":"7","method":"pane.report_agent","params":{"pane_id":"x","source":"s","agent":"a","state":"done"}}"#;
        let code = raw(&mut herdr, state)["error"]["code"].clone();
        assert_eq!(code, "invalid_request");
        let code =
            raw(&mut herdr, r#"{"id":"7","method":"x","params":{}}"#)["error"]["code"].clone();
        let newer = ["0.9.3", "tuios"].contains(&name);
        assert_eq!(code, if newer { "unknown_method" } else { "invalid_request" });
    }
}

#[test]
fn subscription_errors_name_their_request() {
    for (name, mut herdr) in servers() {
        let reply = raw(
            &mut herdr,
            r#"{"id":"7","method":"events.subscribe","params":{"subscriptions":[{"type":"pane.agent_status_changed","pane_id":"w9:p9"}]}}"#,
        );
        let newer = ["0.9.3", "tuios"].contains(&name);
        assert_eq!(reply["id"], if newer { "7" } else { "7:sub:0:probe" });
    }
}

#[test]
fn resume_commands_are_checked_or_unknown() {
    for (name, mut herdr) in servers() {
        let code = |herdr: &mut Herdr, source: &str, argv: Value| {
            let params = json!({
                "pane_id": pane(herdr), "source": source, "agent": "bot", "state": "working",
                "resume_argv": argv,
            });
            herdr.code("pane.report_agent", params)
        };
        let checks = ["0.9.3", "tuios"].contains(&name);
        let bad = if checks { "invalid_resume_argv" } else { "ok" };
        assert_eq!(code(&mut herdr, "custom:a", json!(["/bin/agent"])), bad, "{name}");
        assert_eq!(code(&mut herdr, "custom:a", json!("agent")), bad, "{name}");
        assert_eq!(status(&herdr) == "unknown", checks, "a bad command fails the whole report");
        assert_eq!(code(&mut herdr, "custom:a", json!(["agent", "--resume", "7"])), "ok");
        let stranger = if checks { "resume_not_accepted" } else { "ok" };
        assert_eq!(code(&mut herdr, "custom:b", json!(["agent"])), stranger, "{name}");
    }
}

#[test]
fn claims_over_a_handoff() {
    for (name, mut herdr) in servers() {
        report(&mut herdr, "working", Some(5));
        herdr.model.live_handoff(herdr.now);
        let kept = ["0.9.3", "tuios"].contains(&name);
        assert_eq!(status(&herdr), if kept { "working" } else { "unknown" }, "{name}");
        // The mark is gone, so a lower number is accepted.
        report(&mut herdr, "blocked", Some(1));
        assert_eq!(status(&herdr), "blocked");
    }
}

#[test]
fn another_protocol() {
    let herdr = FakeHerdr::builder().fault(Fault::JsonRpc).start().unwrap();
    let reply = wire::send(herdr.socket_path(), &wire::ping());
    let reply: Value = serde_json::from_str(&reply).unwrap();
    assert_eq!((&reply["jsonrpc"], &reply["error"]["code"]), (&json!("2.0"), &json!(-32601)));
    assert!(reply["error"]["data"]["hint"].is_string());
}
