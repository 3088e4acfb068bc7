//! Functions that most tests here need.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use fake_herdr::{FakeHerdr, Observation};
use herdr_proto::PaneId;
use herdr_reporter::{AgentEvent, Builder, Config, Flushed, Handle, Reporter};
use herdr_socket_transport::Endpoint;
use serde_json::Value;

/// Long enough for any machine, and short enough for a test that fails.
pub(crate) const AMPLE: Duration = Duration::from_secs(20);

/// The budget of a close.
pub(crate) const BUDGET: Duration = Duration::from_millis(500);

/// A reporter for the server at this path, which need not exist yet.
pub(crate) fn builder_at(socket: &Path) -> Builder {
    let endpoint = Endpoint::new(socket, PaneId::parse("w1:p1").unwrap());
    Reporter::builder("host").endpoint(endpoint).config(config(socket))
}

pub(crate) fn builder(herdr: &FakeHerdr) -> Builder {
    builder_at(herdr.socket_path())
}

/// The default settings, but with leases next to the socket, and without copies of requests, which
/// would be in the server's log.
pub(crate) fn config(socket: &Path) -> Config {
    let mut config = Config::default();
    config.hedge = false;
    config.runtime_folder = Some(socket.with_file_name("leases"));
    config
}

pub(crate) fn start_at(socket: &Path) -> Reporter {
    builder_at(socket).start()
}

pub(crate) fn start(herdr: &FakeHerdr) -> Reporter {
    let pane = builder(herdr).start();
    assert!(pane.is_active());
    pane
}

/// Waits until everything is delivered.
pub(crate) fn flushed(pane: &Handle) {
    assert_eq!(pane.flush(AMPLE), Flushed::Delivered);
}

/// What the pane shows once everything is delivered.
pub(crate) fn seen(herdr: &FakeHerdr, pane: &Handle) -> Observation {
    flushed(pane);
    herdr.observe(herdr.pane_id()).unwrap()
}

/// The status once everything is delivered.
pub(crate) fn status(herdr: &FakeHerdr, pane: &Handle) -> String {
    seen(herdr, pane).agent_status
}

/// Asserts that nothing of ours is on the pane.
pub(crate) fn assert_clean(herdr: &FakeHerdr) {
    let pane = herdr.observe(herdr.pane_id()).unwrap();
    assert_eq!((pane.agent, pane.title, pane.display_agent), (None, None, None));
    assert_eq!((pane.state_labels, pane.tokens), (BTreeMap::new(), BTreeMap::new()));
}

/// The requests so far, without those that ask for processes and panes, and without the held
/// stream, which may be opened at any time.
pub(crate) fn requests(herdr: &FakeHerdr) -> Vec<Value> {
    let log = herdr.log().into_iter();
    log.map(|exchange| serde_json::from_str(&exchange.request).unwrap())
        .filter(|request: &Value| {
            let aside = ["events.subscribe", "pane.process_info", "pane.list"];
            !aside.iter().any(|method| request["method"] == **method)
        })
        .collect()
}

pub(crate) fn methods(requests: &[Value]) -> Vec<&str> {
    requests.iter().map(|request| request["method"].as_str().unwrap()).collect()
}

pub(crate) fn states(requests: &[Value]) -> Vec<&str> {
    requests.iter().filter_map(|request| request["params"]["state"].as_str()).collect()
}

pub(crate) fn started() -> AgentEvent {
    AgentEvent::agent_started()
}

pub(crate) fn settled() -> AgentEvent {
    AgentEvent::agent_settled()
}
