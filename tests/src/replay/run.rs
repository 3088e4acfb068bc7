//! Plays one script on one target.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::script::{Expected, Script, Step};
use super::target::Target;
use super::whole::Whole;
use super::{Mismatch, Summary, compare};

/// What was recorded, and what came.
pub(super) type Difference = (Value, Value);

/// Plays a script in a workspace that is created for it and removed afterwards. A whole
/// recording is played on a server with nothing open.
///
/// # Errors
///
/// If the server cannot be reached or creates no workspace. A step that goes differently is a
/// mismatch and not an error.
pub fn play(script: &Script, target: &mut dyn Target) -> anyhow::Result<Summary> {
    let mut summary = Summary { traces: 1, steps: script.steps.len(), ..Summary::default() };
    let mut note = |line: usize, difference: Option<Difference>| {
        summary.mismatches.extend(difference.map(|(expected, got)| Mismatch {
            file: script.file.clone(),
            line,
            expected: expected.to_string(),
            got: got.to_string(),
        }));
    };
    if script.is_whole() {
        let mut whole = Whole::begin(target)?;
        for (line, step) in &script.steps {
            note(*line, whole.step(step)?);
        }
        return Ok(summary);
    }
    let mut player =
        Player { target, ids: BTreeMap::new(), workspaces: Vec::new(), lag: Duration::ZERO };
    player.set_up(script.focused)?;
    for (line, step) in &script.steps {
        note(*line, player.step(step)?);
    }
    player.clean_up()?;
    Ok(summary)
}

struct Player<'a> {
    target: &'a mut dyn Target,
    /// The pane ids by the script's names, such as `$PANE`.
    ids: BTreeMap<String, String>,
    workspaces: Vec<String>,
    /// How much longer to wait, because ttls were made longer.
    lag: Duration,
}

impl Player<'_> {
    fn set_up(&mut self, focused: bool) -> anyhow::Result<()> {
        let pane = self.create_workspace("replay")?;
        self.ids.insert("$PANE".to_owned(), pane);
        if !focused {
            self.create_workspace("elsewhere")?;
        }
        Ok(())
    }

    fn clean_up(&mut self) -> anyhow::Result<()> {
        // A pane may be gone together with its workspace.
        for pane in self.ids.clone().into_values() {
            self.call("pane.close", &json!({ "pane_id": pane }))?;
        }
        for workspace in std::mem::take(&mut self.workspaces) {
            self.call("workspace.close", &json!({ "workspace_id": workspace }))?;
        }
        Ok(())
    }

    /// Plays a step. If it goes differently, returns what was recorded and what came.
    fn step(&mut self, step: &Step) -> anyhow::Result<Option<Difference>> {
        Ok(match step {
            Step::Call { method, params, reply } => {
                let mut params = self.fill(params);
                self.lengthen(&mut params);
                let line = self.call(method, &params)?;
                self.learn(method, line.as_deref());
                differs(reply, compare::reply(line.as_deref()))
            }
            Step::Raw { bytes, reply } => {
                let bytes = self.fill_text(bytes);
                let line = self.target.exchange(bytes.as_bytes())?;
                differs(reply, compare::reply(line.as_deref()))
            }
            Step::Wait { ms } => {
                self.target.wait(Duration::from_millis(*ms) + self.lag)?;
                None
            }
            Step::Observe(expected) => {
                let pane = self.ids["$PANE"].clone();
                let line = self.call("pane.get", &json!({ "pane_id": pane }))?;
                differs(expected, compare::observation(line.as_deref()))
            }
            Step::Open { stream, subscriptions, reply } => {
                let params = json!({ "subscriptions": self.fill(subscriptions) });
                let request = request("sub", "events.subscribe", &params);
                let line = self.target.open(stream, &request)?;
                differs(reply, compare::reply(line.as_deref()))
            }
            Step::Write { stream, bytes } => {
                self.target.write(stream, bytes.as_bytes())?;
                None
            }
            Step::HalfClose { stream } => {
                self.target.half_close(stream)?;
                None
            }
            Step::After { ms, streams } => {
                self.target.wait(Duration::from_millis(*ms))?;
                self.check_streams(streams)?
            }
            _ => anyhow::bail!("this step needs a whole recording, with snapshots"),
        })
    }

    /// Makes a ttl longer that is so short that a request may outlast it.
    fn lengthen(&mut self, params: &mut Value) {
        let lag = self.target.lag();
        if let Some(ttl) = params["ttl_ms"].as_u64().filter(|ttl| (1..1000).contains(ttl)) {
            params["ttl_ms"] = (ttl + u64::try_from(lag.as_millis()).unwrap_or(0)).into();
            self.lag = lag;
        }
    }

    fn check_streams(
        &mut self,
        streams: &BTreeMap<String, Expected>,
    ) -> anyhow::Result<Option<Difference>> {
        let names: BTreeMap<String, String> =
            self.ids.iter().map(|(name, id)| (id.clone(), name.clone())).collect();
        let mut came: BTreeMap<String, Expected> = BTreeMap::new();
        let mut grace = self.target.grace();
        loop {
            let mut late = false;
            for (name, expected) in streams {
                let (lines, eof) = self.target.take(name);
                let entry = came.entry(name.clone()).or_default();
                entry.events.extend(compare::events(&lines, &expected.events, &names));
                entry.eof = eof;
                late |= entry.events.len() < expected.events.len() || expected.eof && !eof;
            }
            if !late || grace.is_zero() {
                break;
            }
            let more = grace.min(Duration::from_millis(100));
            self.target.wait(more)?;
            grace -= more;
        }
        let show = |streams: &BTreeMap<String, Expected>| {
            let show = |entry: &Expected| json!({ "events": entry.events, "eof": entry.eof });
            Value::Object(streams.iter().map(|(name, entry)| (name.clone(), show(entry))).collect())
        };
        Ok((*streams != came).then(|| (show(streams), show(&came))))
    }

    fn create_workspace(&mut self, label: &str) -> anyhow::Result<String> {
        let params = json!({ "cwd": "/", "label": label, "focus": true });
        let line = self.call("workspace.create", &params)?;
        let line = line.context("no answer to workspace.create")?;
        let reply: Value = serde_json::from_str(&line).context("workspace.create")?;
        let result = &reply["result"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let workspace = text(&result["workspace"]["workspace_id"]);
        let pane = text(&result["root_pane"]["pane_id"]);
        ensure!(pane.is_some(), "workspace.create answered without a pane: {line}");
        self.workspaces.extend(workspace);
        pane.context("unreachable")
    }

    /// Gives new panes the names that recordings use for them.
    fn learn(&mut self, method: &str, line: Option<&str>) {
        let reply: Value =
            line.and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
        let (name, id) = match method {
            "pane.split" => {
                let number = self.ids.keys().filter(|name| name.starts_with("$PANE")).count() + 1;
                (format!("$PANE{number}"), &reply["result"]["pane"]["pane_id"])
            }
            "pane.move" => {
                let moved = &reply["result"]["move_result"]["pane"]["pane_id"];
                ("$MOVED".to_owned(), moved)
            }
            _ => return,
        };
        if let Some(id) = id.as_str() {
            self.ids.insert(name, id.to_owned());
        }
    }

    fn call(&mut self, method: &str, params: &Value) -> anyhow::Result<Option<String>> {
        self.target.exchange(&request("t", method, params))
    }

    fn fill(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill_text(text)),
            Value::Array(items) => items.iter().map(|item| self.fill(item)).collect(),
            Value::Object(fields) => {
                let fields = fields.iter().map(|(name, value)| (name.clone(), self.fill(value)));
                Value::Object(fields.collect())
            }
            other => other.clone(),
        }
    }

    fn fill_text(&self, text: &str) -> String {
        // Longer names are replaced first, because $PANE is the beginning of $PANE2.
        self.ids.iter().rev().fold(text.to_owned(), |text, (name, id)| text.replace(name, id))
    }
}

pub(super) fn request(id: &str, method: &str, params: &Value) -> Vec<u8> {
    format!("{}\n", json!({ "id": id, "method": method, "params": params })).into_bytes()
}

fn differs(expected: &Value, got: Value) -> Option<Difference> {
    (*expected != got).then(|| (expected.clone(), got))
}
