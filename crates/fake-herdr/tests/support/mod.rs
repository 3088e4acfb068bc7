//! A model with a clock that the test controls.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "each test file uses a part of this, and tests may panic"
)]

use std::time::Duration;

use fake_herdr::{Answer, Model, Observation, Profile, Stream};
use serde_json::{Value, json};

pub(crate) struct Herdr {
    pub(crate) model: Model,
    pub(crate) now: Duration,
}

impl Herdr {
    pub(crate) fn new() -> Self {
        Self { model: Model::new(), now: Duration::ZERO }
    }

    pub(crate) fn with(profile: Profile) -> Self {
        Self { model: Model::with_profile(profile), now: Duration::ZERO }
    }

    pub(crate) fn pass(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }

    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        let line = json!({ "id": "t", "method": method, "params": params }).to_string();
        match self.model.request(self.now, line.as_bytes()) {
            Answer::Reply(reply) => serde_json::from_str(&reply).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    /// The error code of the reply, or `ok`.
    pub(crate) fn code(&mut self, method: &str, params: Value) -> String {
        let reply = self.call(method, params);
        reply["error"]["code"].as_str().unwrap_or("ok").to_owned()
    }

    /// The reply and the stream of a subscription.
    pub(crate) fn subscribe(&mut self, subscriptions: Value) -> (Value, Stream) {
        let params = json!({ "subscriptions": subscriptions });
        let line = json!({ "id": "t", "method": "events.subscribe", "params": params }).to_string();
        match self.model.request(self.now, line.as_bytes()) {
            Answer::Stream { reply, stream } => (serde_json::from_str(&reply).unwrap(), stream),
            other => panic!("{other:?}"),
        }
    }

    /// Runs turns of the stream until one has no events, and returns the data of all.
    pub(crate) fn events(&mut self, stream: &mut Stream) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            self.now = self.now.max(stream.due());
            let lines = self.model.tick(self.now, stream);
            if lines.is_empty() {
                return events;
            }
            events.extend(
                lines
                    .iter()
                    .map(|line| serde_json::from_str::<Value>(line).unwrap()["data"].take()),
            );
        }
    }

    pub(crate) fn report(&mut self, source: &str, agent: &str, state: &str, seq: Option<u64>) {
        let params = json!({
            "pane_id": "w1:p1", "source": source, "agent": agent, "state": state, "seq": seq,
        });
        assert_eq!(self.code("pane.report_agent", params), "ok");
    }

    pub(crate) fn session(
        &mut self,
        source: &str,
        agent: &str,
        id: &str,
        start: Option<&str>,
        seq: Option<u64>,
    ) {
        let params = json!({
            "pane_id": "w1:p1", "source": source, "agent": agent, "agent_session_id": id,
            "session_start_source": start, "seq": seq,
        });
        assert_eq!(self.code("pane.report_agent_session", params), "ok");
    }

    pub(crate) fn metadata(&mut self, source: &str, more: Value) -> String {
        let mut params = json!({ "pane_id": "w1:p1", "source": source });
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        self.code("pane.report_metadata", params)
    }

    pub(crate) fn release(&mut self, source: &str, agent: &str, seq: Option<u64>) {
        let params = json!({ "pane_id": "w1:p1", "source": source, "agent": agent, "seq": seq });
        assert_eq!(self.code("pane.release_agent", params), "ok");
    }

    pub(crate) fn see(&self) -> Observation {
        self.model.observe(self.now, "w1:p1").unwrap()
    }

    /// The agent, or `-` without one, and the status.
    pub(crate) fn row(&self) -> String {
        let seen = self.see();
        format!("{} {}", seen.agent.as_deref().unwrap_or("-"), seen.agent_status)
    }

    /// The source and the value of the session.
    pub(crate) fn owner(&self) -> Option<(String, String)> {
        self.see().agent_session.map(|session| (session.source, session.value))
    }
}
