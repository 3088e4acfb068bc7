//! The rows of docs/compatibility.md, one test each: where other servers differ
//! from Herdr 0.8.2.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support;
mod wire;

use std::fs;
use std::io::Write as _;
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use fake_herdr::{Answer, FakeHerdr, Fault, Profile};
use serde_json::{Value, json};
use support::Herdr;

/// All servers, by the columns of the table.
fn servers() -> [(&'static str, Herdr); 4] {
    ["0.8.2", "0.9.0", "0.9.3", "tuios"].map(|name| (name, Herdr::with(name.parse().unwrap())))
}

fn raw(herdr: &mut Herdr, line: &str) -> Value {
    serde_json::from_str(herdr.model.request(herdr.now, line.as_bytes()).line().unwrap()).unwrap()
}

/// The first pane, whatever the server calls it.
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

/// Every row of the servers' table names a test that exists.
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
    assert!(named.len() > 15, "{named:?}");
    for name in named {
        assert!(tests.contains(&format!("fn {name}()")), "no test {name}");
    }
}

#[test]
fn ping_tells_who_it_is() {
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
        let params = json!({ "subscriptions": [{ "type": "pane.agent_detected" }] });
        let line = json!({ "id": "t", "method": "events.subscribe", "params": params });
        let Answer::Stream { mut stream, .. } =
            herdr.model.request(herdr.now, line.to_string().as_bytes())
        else {
            panic!("no stream");
        };
        let replayed = herdr.model.tick(herdr.now, &mut stream).len();
        assert_eq!(replayed, usize::from(name == "0.8.2"), "{name}");
    }
}

/// Five changes at once: one line a turn, or all of them; and what a reader
/// that fell behind is told.
#[test]
fn bursts_and_lost_events() {
    for (name, mut herdr) in servers() {
        let params = json!({ "subscriptions": [
            { "type": "pane.agent_status_changed", "pane_id": pane(&herdr) },
        ]});
        let line = json!({ "id": "t", "method": "events.subscribe", "params": params });
        let Answer::Stream { mut stream, .. } =
            herdr.model.request(herdr.now, line.to_string().as_bytes())
        else {
            panic!("no stream");
        };
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
        assert_eq!(code, if name == "tuios" { "invalid_params" } else { "invalid_request" });
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
        // A number from before counts again.
        report(&mut herdr, "blocked", Some(1));
        assert_eq!(status(&herdr), "blocked");
    }
}

#[test]
fn claims_over_an_idle_shell() {
    for (name, mut herdr) in servers() {
        let first = pane(&herdr);
        report(&mut herdr, "working", None);
        herdr.pass(10_000);
        assert_eq!(status(&herdr), "working", "a program runs");
        herdr.model.set_shell_idle(herdr.now, &first, true);
        herdr.pass(1_000);
        herdr.call("ping", json!({}));
        assert_eq!(status(&herdr), "working");
        herdr.pass(1_100);
        herdr.call("ping", json!({}));
        let cleared = ["0.9.3", "tuios"].contains(&name);
        assert_eq!(status(&herdr), if cleared { "unknown" } else { "working" }, "{name}");
    }
}

/// A label that Herdr knows is left to its detector, except on TUIOS.
#[test]
fn known_labels_over_an_idle_shell() {
    for (name, mut herdr) in servers() {
        let first = pane(&herdr);
        let params = json!({
            "pane_id": first, "source": "custom:a", "agent": "claude", "state": "working",
        });
        herdr.call("pane.report_agent", params);
        herdr.model.set_shell_idle(herdr.now, &first, true);
        herdr.pass(2_100);
        herdr.call("ping", json!({}));
        assert_eq!(status(&herdr), if name == "tuios" { "unknown" } else { "working" }, "{name}");
    }
}

#[test]
fn pane_ids() {
    for (name, herdr) in servers() {
        let id = pane(&herdr);
        if name == "tuios" {
            let (workspace, pane) = id.split_once(':').unwrap();
            let hex = |text: &str, letter: char| {
                let digits = text.strip_prefix(letter).unwrap();
                digits.len() == 12 && digits.chars().all(|c| c.is_ascii_hexdigit())
            };
            assert!(hex(workspace, 'w') && hex(pane, 'p'), "{id}");
            assert!(herdr.model.observe(herdr.now, "w1:p1").is_none());
        } else {
            assert_eq!(id, "w1:p1");
        }
    }
}

#[test]
fn idle_and_done() {
    for (name, mut herdr) in servers() {
        report(&mut herdr, "idle", None);
        assert_eq!(status(&herdr), "idle");
        report(&mut herdr, "working", None);
        report(&mut herdr, "idle", None);
        // The pane is looked at, which only Herdr cares about.
        assert_eq!(status(&herdr), if name == "tuios" { "done" } else { "idle" }, "{name}");
    }
}

#[test]
fn a_reported_unknown() {
    for (name, mut herdr) in servers() {
        report(&mut herdr, "working", None);
        report(&mut herdr, "unknown", None);
        assert_eq!(status(&herdr), if name == "tuios" { "working" } else { "unknown" }, "{name}");
    }
}

#[test]
fn unsequenced_after_sequenced() {
    for (name, mut herdr) in servers() {
        report(&mut herdr, "working", Some(5));
        report(&mut herdr, "blocked", None);
        assert_eq!(status(&herdr), if name == "tuios" { "blocked" } else { "working" }, "{name}");
    }
}

#[test]
fn metadata_numbers() {
    for (name, mut herdr) in servers() {
        report(&mut herdr, "working", Some(100));
        let params =
            json!({ "pane_id": pane(&herdr), "source": "custom:a", "title": "T", "seq": 1 });
        assert_eq!(herdr.code("pane.report_metadata", params), "ok");
        let title = herdr.model.observe(herdr.now, &pane(&herdr)).unwrap().title;
        assert_eq!(title.is_some(), name != "tuios", "{name}");
    }
}

#[test]
fn sessions_of_custom_sources() {
    for (name, mut herdr) in servers() {
        let mut params = json!({ "pane_id": pane(&herdr), "source": "custom:a", "agent": "bot" });
        let without = herdr.code("pane.report_agent_session", params.clone());
        assert_eq!(without, if name == "tuios" { "invalid_params" } else { "ok" });
        params["agent_session_id"] = "s-1".into();
        assert_eq!(herdr.code("pane.report_agent_session", params), "ok");
        let session = herdr.model.observe(herdr.now, &pane(&herdr)).unwrap().agent_session;
        assert_eq!(session.is_some(), name == "tuios", "{name}");
    }
}

#[test]
fn report_rates() {
    for (name, mut herdr) in servers() {
        let first = pane(&herdr);
        let params =
            |n: usize| json!({ "pane_id": first, "source": "custom:a", "title": format!("{n}") });
        let refused =
            (0..25).filter(|n| herdr.code("pane.report_metadata", params(*n)) == "rate_limited");
        assert_eq!(refused.count(), if name == "tuios" { 5 } else { 0 }, "{name}");
    }
}

#[test]
fn methods_that_tuios_has_not() {
    for (name, mut herdr) in servers() {
        report(&mut herdr, "working", None);
        for (method, params) in [
            ("agent.explain", json!({ "target": pane(&herdr) })),
            (
                "workspace.report_metadata",
                json!({ "workspace_id": "w1", "source": "a", "tokens": { "k": "v" } }),
            ),
            ("pane.clear_agent_authority", json!({ "pane_id": pane(&herdr) })),
            ("server.live_handoff", json!({})),
        ] {
            let unsupported = herdr.code(method, params) == "unsupported";
            assert_eq!(unsupported, name == "tuios", "{name} {method}");
        }
    }
}

#[test]
fn typed_text() {
    for (name, mut herdr) in servers() {
        let first = pane(&herdr);
        herdr.call("pane.send_text", json!({ "pane_id": first, "text": "exit\n" }));
        let gone = herdr.model.observe(herdr.now, &first).is_none();
        assert_eq!(gone, name != "tuios", "{name}: pasted text has no Enter");
    }
}

#[test]
fn sockets_and_lines() {
    for name in ["0.8.2", "0.9.0", "0.9.3", "tuios"] {
        let profile: Profile = name.parse().unwrap();
        assert_eq!(profile.line_deadline().as_secs(), if name == "tuios" { 2 } else { 5 });
        let herdr = FakeHerdr::builder().profile(profile).start().unwrap();
        let mode = fs::metadata(herdr.socket_path()).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, if name == "tuios" { 0o700 } else { 0o600 });
        let mut connection = wire::connect(herdr.socket_path());
        let line = wire::ping();
        connection.write_all(&line[..line.len() - 1]).unwrap();
        connection.shutdown(Shutdown::Write).unwrap();
        assert_eq!(wire::rest(&connection).is_empty(), name != "tuios", "{name}");
    }
}

#[test]
fn the_name_of_the_terminal() {
    for name in ["0.8.2", "0.9.0", "0.9.3", "tuios"] {
        let herdr = FakeHerdr::builder().profile(name.parse().unwrap()).start().unwrap();
        let named = ("TERM_PROGRAM".to_owned(), "herdr".to_owned());
        assert_eq!(herdr.env().contains(&named), name == "0.9.3", "{name}");
        assert_eq!(herdr.env().iter().filter(|(name, _)| name.starts_with("HERDR_")).count(), 6);
    }
}

#[test]
fn reports_from_outside_the_pane() {
    let herdr = FakeHerdr::builder()
        .profile(Profile::tuios())
        .fault("refuse:pane.report_agent:forbidden".parse().unwrap())
        .start()
        .unwrap();
    let reply = wire::send(herdr.socket_path(), &wire::report("working"));
    assert!(reply.contains("forbidden"), "{reply}");
}

#[test]
fn another_protocol() {
    let herdr = FakeHerdr::builder().fault(Fault::JsonRpc).start().unwrap();
    let reply = wire::send(herdr.socket_path(), &wire::ping());
    let reply: Value = serde_json::from_str(&reply).unwrap();
    assert_eq!((&reply["jsonrpc"], &reply["error"]["code"]), (&json!("2.0"), &json!(-32601)));
    assert!(reply["error"]["data"]["hint"].is_string());
}
