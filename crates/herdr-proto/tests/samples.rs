//! Every recorded request and reply in `protocol-fixtures/samples`: the methods
//! that have types here decode into them and encode back to the same JSON, the
//! others decode as a result or a refusal. A file that this test does not
//! understand fails it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};

use herdr_proto::{
    Ack, AgentGet, AgentInfo, AgentList, Call, ClearAgentAuthority, PaneCurrent, PaneGet, PaneInfo,
    PaneList, PaneRead, Ping, ProcessInfoGet, ReleaseAgent, ReportAgent, ReportAgentSession,
    ReportMetadata, SessionSnapshot, decode, encode,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn samples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn sample(name: &str) -> Value {
    let file = samples().into_iter().find(|path| path.ends_with(name)).expect(name);
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

/// The request as its type, encoded again, is the sample's.
fn request<C: Call + DeserializeOwned>(request: &Value) -> C {
    assert_eq!(request["method"], C::METHOD);
    let call: C = serde_json::from_value(request["params"].clone()).unwrap();
    let line = encode(request["id"].as_str().unwrap(), &call).unwrap();
    assert_eq!(&serde_json::from_slice::<Value>(&line).unwrap(), request);
    call
}

/// A typed request and its typed reply.
fn exchange<C>(sample: &Value) -> C::Reply
where
    C: Call<Reply: Debug> + DeserializeOwned,
{
    request::<C>(&sample["request"]);
    decode::<C::Reply>(sample["reply"].to_string().as_bytes()).unwrap().expect("no refusal")
}

/// The type and the sample are the same.
fn same_pane(pane: &PaneInfo, sent: &Value) {
    assert_eq!(&serde_json::to_value(pane).unwrap(), sent);
}

fn same_agent(agent: &AgentInfo, sent: &Value) {
    assert_eq!(&serde_json::to_value(agent).unwrap(), sent);
}

/// Checks a sample of a method with types; false if the method has none.
fn typed(sample: &Value) -> bool {
    let result = &sample["reply"]["result"];
    match sample["request"]["method"].as_str().unwrap() {
        "ping" => {
            let pong = exchange::<Ping>(sample);
            assert_eq!((pong.version.as_str(), pong.protocol), ("0.8.2", 20));
            assert!(pong.capabilities.live_handoff && pong.capabilities.detached_server_daemon);
            assert!(!pong.takes_resume_argv());
        }
        "pane.report_agent" => assert_eq!(exchange::<ReportAgent>(sample), Ack::default()),
        "pane.report_agent_session" => {
            assert_eq!(exchange::<ReportAgentSession>(sample), Ack::default());
        }
        "pane.report_metadata" => assert_eq!(exchange::<ReportMetadata>(sample), Ack::default()),
        "pane.release_agent" => assert_eq!(exchange::<ReleaseAgent>(sample), Ack::default()),
        "pane.clear_agent_authority" => {
            assert_eq!(exchange::<ClearAgentAuthority>(sample), Ack::default());
        }
        "pane.get" => same_pane(&exchange::<PaneGet>(sample).pane, &result["pane"]),
        "pane.current" => same_pane(&exchange::<PaneCurrent>(sample).pane, &result["pane"]),
        "pane.list" => {
            let panes = exchange::<PaneList>(sample).panes;
            let sent = result["panes"].as_array().unwrap();
            assert_eq!(panes.len(), sent.len());
            panes.iter().zip(sent).for_each(|(pane, sent)| same_pane(pane, sent));
        }
        "pane.process_info" => {
            let info = exchange::<ProcessInfoGet>(sample).process_info;
            let process = &info.foreground_processes[0];
            let said = json!({
                "pane_id": info.pane_id,
                "shell_pid": info.shell_pid,
                "foreground_process_group_id": info.foreground_process_group_id,
                "foreground_processes": [{
                    "pid": process.pid,
                    "name": process.name,
                    "argv": process.argv,
                    "cmdline": process.cmdline,
                    "cwd": process.cwd,
                }],
            });
            assert_eq!(said, result["process_info"]);
        }
        "agent.get" => same_agent(&exchange::<AgentGet>(sample).agent, &result["agent"]),
        "agent.list" => {
            let agents = exchange::<AgentList>(sample).agents;
            let sent = result["agents"].as_array().unwrap();
            assert_eq!(agents.len(), sent.len());
            agents.iter().zip(sent).for_each(|(agent, sent)| same_agent(agent, sent));
        }
        "session.snapshot" => {
            let snapshot = exchange::<SessionSnapshot>(sample).snapshot;
            let sent = &result["snapshot"];
            assert_eq!((snapshot.version.as_str(), snapshot.protocol), ("0.8.2", 20));
            assert_eq!(sent["focused_workspace_id"], json!(snapshot.focused_workspace_id));
            assert_eq!(sent["focused_tab_id"], json!(snapshot.focused_tab_id));
            assert_eq!(sent["focused_pane_id"], json!(snapshot.focused_pane_id));
            assert_eq!(snapshot.workspaces.len(), sent["workspaces"].as_array().unwrap().len());
            assert_eq!(snapshot.tabs.len(), sent["tabs"].as_array().unwrap().len());
            for (n, pane) in snapshot.panes.iter().enumerate() {
                same_pane(pane, &sent["panes"][n]);
            }
            for (n, agent) in snapshot.agents.iter().enumerate() {
                same_agent(agent, &sent["agents"][n]);
            }
            assert_eq!((snapshot.panes.len(), snapshot.agents.len()), (2, 1));
        }
        "pane.read" => {
            let read = exchange::<PaneRead>(sample).read;
            let sent = &result["read"];
            assert_eq!(sent["text"], json!(read.text));
            assert_eq!(sent["truncated"], json!(read.truncated));
        }
        _ => return false,
    }
    true
}

/// A reply that no type is known for is at least a result or a refusal.
fn envelope(sample: &Value) {
    let reply = &sample["reply"];
    match decode::<Value>(reply.to_string().as_bytes()).unwrap() {
        Ok(result) => assert_eq!(result, reply["result"]),
        Err(refusal) => {
            assert_eq!(refusal.code.as_str(), reply["error"]["code"]);
            assert_eq!(refusal.message, reply["error"]["message"]);
        }
    }
}

#[test]
fn every_sample_is_understood() {
    let mut met = BTreeSet::new();
    for path in samples() {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("json") => {
                let sample: Value = serde_json::from_slice(&fs::read(&path).unwrap())
                    .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                envelope(&sample);
                if sample["reply"]["error"].is_null() && typed(&sample) {
                    met.insert(sample["request"]["method"].as_str().unwrap().to_owned());
                }
            }
            // A stream has its own test, which knows one by name.
            Some("jsonl") if path.ends_with("events.subscribe.jsonl") => {}
            _ => panic!("{} is not a sample that this test knows", path.display()),
        }
    }
    let with_types = [
        "agent.get",
        "agent.list",
        "pane.current",
        "pane.get",
        "pane.list",
        "pane.process_info",
        "pane.read",
        "pane.release_agent",
        "pane.report_agent",
        "pane.report_metadata",
        "ping",
        "session.snapshot",
    ];
    assert_eq!(met, with_types.map(str::to_owned).into());
}

#[test]
fn refused_requests_are_typed_too() {
    request::<PaneGet>(&sample("error-pane_not_found.json")["request"]);
    request::<AgentGet>(&sample("error-agent_not_found.json")["request"]);
    // `done` cannot be reported (failure B30): no value of the type says it.
    let done = &sample("error-invalid_request.json")["request"]["params"];
    assert!(serde_json::from_value::<ReportAgent>(done.clone()).is_err());
}
