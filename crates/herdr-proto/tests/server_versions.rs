//! Failure B77: a version tells nothing but its name. Every server that answers
//! `pong` is worked with, whatever else it says or leaves out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use herdr_proto::{Pong, decode};
use serde_json::{Value, json};

fn pong(mut fields: Value) -> Pong {
    fields["type"] = json!("pong");
    let line = json!({"id": "r1", "result": fields}).to_string();
    decode::<Pong>(line.as_bytes()).unwrap().expect("no refusal")
}

#[test]
fn b77_every_version_is_read() {
    for (version, protocol) in
        [("0.7.4", 16), ("0.8.2", 20), ("0.9.1", 22), ("1.0.0", 99), ("nightly", u64::MAX)]
    {
        let pong = pong(json!({"version": version, "protocol": protocol}));
        assert_eq!((pong.version.as_str(), pong.protocol), (version, protocol));
        assert_eq!(pong.server, None);
    }
}

#[test]
fn b77_missing_fields_are_not_said() {
    let said_nothing = pong(json!({}));
    assert_eq!(said_nothing, Pong::default());
    assert!(said_nothing.version.is_empty() && !said_nothing.takes_resume_argv());
}

#[test]
fn b77_extra_capabilities_are_skipped() {
    let pong = pong(json!({
        "version": "0.9.3",
        "protocol": 22,
        "capabilities": {
            "live_handoff": true,
            "endpoint_protocol_generation": 1,
            "surface_interest": true,
            "program_status_root_v1": {"any": "thing"},
            "ssh_agent_registration": false,
        },
        "uptime": 7,
    }));
    assert!(pong.capabilities.live_handoff && !pong.capabilities.detached_server_daemon);
    assert!(pong.capabilities.ssh_agent_registration.is_some(), "present, whatever it says");
}

#[test]
fn b77_fields_of_another_type_are_not_said() {
    let odd = pong(json!({
        "version": {"major": 1},
        "protocol": "22",
        "server": 5,
        "capabilities": {"live_handoff": {"max_panes": 64}, "detached_server_daemon": true},
    }));
    assert_eq!((odd.version.as_str(), odd.protocol, &odd.server), ("", 0, &None));
    assert!(!odd.capabilities.live_handoff && odd.capabilities.detached_server_daemon);
    for capabilities in [json!(null), json!([]), json!("all"), json!(7)] {
        let odd = pong(json!({"version": "1.0.0", "capabilities": capabilities}));
        assert_eq!(odd.version, "1.0.0");
    }
}

#[test]
fn b77_resume_argv_goes_to_servers_that_know_it() {
    for (fields, takes) in [
        (json!({"version": "0.8.2"}), false),
        (json!({"version": "0.9.1", "protocol": 22}), false),
        (json!({"version": "0.9.2"}), true),
        (json!({"version": "0.10.0"}), true),
        (json!({"version": "0.9.3+tuios", "server": "tuios"}), true),
        (json!({"version": "1.0.0-rc.1", "protocol": 99}), true),
        (json!({"version": "nightly"}), false),
        (json!({"version": "0.9"}), false),
        (json!({"capabilities": {"ssh_agent_registration": {}}}), true),
    ] {
        assert_eq!(pong(fields.clone()).takes_resume_argv(), takes, "{fields}");
    }
}
