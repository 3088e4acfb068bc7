//! Plays a whole recording: one with whole replies, the snapshot after each step, and the
//! programs in the panes. It needs a server with nothing open.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Map, Value, json};

use super::run::{self, Difference};
use super::script::{Look, Step};
use super::target::Target;

/// The interval between two looks at panes that settle.
const LOOK: Duration = Duration::from_millis(100);

/// How far the time of a look may differ, since the server does not look at its panes at fixed
/// times.
const TOLERANCE_MS: u64 = 600;

/// How long the recorder looked after a program had started or ended. After a request it looked
/// at least this long, and longer while something happened.
const AFTER_A_PROGRAM_MS: u64 = 5500;
const AFTER_A_REQUEST_MS: u64 = 3000;

/// How long the recorder listened at the end. Each kind sends one event per turn.
const LISTENED: Duration = Duration::from_millis(1200);
const TURN: Duration = Duration::from_millis(100);

/// A list with this many events may have been cut off by that limit.
const MAY_BE_CUT: usize = 11;

/// Fields that were not recorded.
const LEFT_OUT: [&str; 10] = [
    "scroll",
    "terminal_title",
    "terminal_title_stripped",
    "cwd",
    "foreground_cwd",
    "tty",
    "revision",
    "pid",
    "shell_pid",
    "foreground_process_group_id",
];

/// The fields of a pane in a look.
const OF_A_LOOK: [&str; 8] = [
    "agent",
    "agent_status",
    "title",
    "display_agent",
    "state_labels",
    "tokens",
    "agent_session",
    "focused",
];

/// Plays a whole recording.
pub(super) struct Whole<'a> {
    target: &'a mut dyn Target,
    /// The terminal ids by the recording's names for them.
    terminals: BTreeMap<String, String>,
    snapshot: Value,
    began: Option<Began>,
}

/// The last action, which may take some time to settle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Began {
    Program,
    Request,
}

impl<'a> Whole<'a> {
    /// Opens the workspace with which every whole recording begins.
    pub(super) fn begin(target: &'a mut dyn Target) -> anyhow::Result<Self> {
        let mut whole =
            Self { target, terminals: BTreeMap::new(), snapshot: Value::Null, began: None };
        let params = json!({ "cwd": "/tmp", "label": "demo", "focus": true });
        let made = whole.call("workspace.create", &params)?;
        ensure!(
            made["result"]["root_pane"]["pane_id"] == "w1:p1",
            "a whole recording needs a server on which nothing was opened yet"
        );
        whole.target.wait(Duration::from_millis(400))?;
        Ok(whole)
    }

    pub(super) fn step(&mut self, step: &Step) -> anyhow::Result<Option<Difference>> {
        match step {
            Step::Call { method, params, reply } => {
                self.began = Some(Began::Request);
                let got = self.call(method, params)?;
                Ok(self.compare(reply, &got))
            }
            Step::Wait { ms } => {
                self.target.wait(Duration::from_millis(*ms))?;
                Ok(None)
            }
            Step::Appears { pane, agent } => {
                self.began = Some(Began::Program);
                self.target.begin(pane, agent)?;
                Ok(None)
            }
            Step::Exits { pane } => {
                self.began = Some(Began::Program);
                self.target.end(pane)?;
                Ok(None)
            }
            Step::Settles { looks, for_ms } => self.settle(looks, *for_ms),
            Step::Snapshot(recorded) => {
                let mut got = self.call("session.snapshot", &json!({}))?;
                let got = got["result"]["snapshot"].take();
                if let Some(recorded) = recorded {
                    self.snapshot.clone_from(recorded);
                }
                let recorded = self.snapshot.clone();
                Ok(self.compare(&recorded, &got))
            }
            Step::Events(recorded) => self.events(recorded),
            _ => anyhow::bail!("this step does not belong in a whole recording"),
        }
    }

    /// The distinct looks of the panes have to come in the recorded order and at about the
    /// recorded times.
    fn settle(
        &mut self,
        recorded: &[Look],
        for_ms: Option<u64>,
    ) -> anyhow::Result<Option<Difference>> {
        let last = recorded.last().map_or(0, |look| look.after_ms);
        let window = match self.began {
            _ if for_ms.is_some() => for_ms.unwrap_or_default(),
            Some(Began::Program) => AFTER_A_PROGRAM_MS,
            _ => AFTER_A_REQUEST_MS.max(last + TOLERANCE_MS),
        };
        let mut came: Vec<Look> = Vec::new();
        let began = self.target.now();
        loop {
            let after = self.target.now().saturating_sub(began);
            let after_ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
            let panes = self.look()?;
            if came.last().is_none_or(|last| last.panes != panes) {
                came.push(Look { after_ms, panes });
            }
            if after_ms >= window {
                break;
            }
            self.target.wait(LOOK)?;
        }
        // A look that was over so soon may have been seen on one side only.
        let late = |looks: &[Look]| looks.get(1).is_some_and(|next| next.after_ms <= TOLERANCE_MS);
        let (skipped, missed) = match recorded.len().cmp(&came.len()) {
            Ordering::Less => (0, usize::from(late(&came))),
            Ordering::Equal => (0, 0),
            Ordering::Greater => (usize::from(late(recorded)), 0),
        };
        let (one, other) = (&recorded[skipped..], &came[missed..]);
        let alike = one.len() == other.len()
            && one.iter().zip(other).all(|(recorded, came)| {
                recorded.panes == came.panes
                    && recorded.after_ms.abs_diff(came.after_ms) <= TOLERANCE_MS
            });
        let show = |looks: &[Look]| {
            let show = |look: &Look| json!({ "after_ms": look.after_ms, "panes": look.panes });
            looks.iter().map(show).collect::<Value>()
        };
        Ok((!alike).then(|| (show(recorded), show(&came))))
    }

    fn look(&mut self) -> anyhow::Result<Value> {
        let listed = self.call("pane.list", &json!({}))?;
        let panes = listed["result"]["panes"].as_array().context("no panes in pane.list")?;
        let look = |pane: &Value| {
            let id = pane["pane_id"].as_str().unwrap_or_default().to_owned();
            let kept = OF_A_LOOK
                .into_iter()
                .filter_map(|name| Some((name.to_owned(), pane.get(name)?.clone())));
            (id, Value::Object(kept.collect()))
        };
        Ok(Value::Object(panes.iter().map(look).collect()))
    }

    /// Opens one stream for each kind, and compares everything that it replays.
    fn events(&mut self, recorded: &Map<String, Value>) -> anyhow::Result<Option<Difference>> {
        for kind in recorded.keys() {
            let params = json!({ "subscriptions": [{ "type": kind }] });
            self.target.open(kind, &run::request("s", "events.subscribe", &params))?;
        }
        // On a busy machine the recorder listened for longer.
        let most = recorded.values().filter_map(Value::as_array).map(Vec::len).max();
        let listened =
            LISTENED.max(TURN * u32::try_from(most.unwrap_or(0) + 1).unwrap_or(u32::MAX));
        self.target.wait(listened + self.target.grace())?;
        let mut came = Map::new();
        for (kind, recorded) in recorded {
            let (lines, _) = self.target.take(kind);
            let mut events: Vec<Value> = lines.iter().map(|line| parsed(Some(line))).collect();
            let recorded = recorded.as_array().map_or(0, Vec::len);
            if recorded >= MAY_BE_CUT {
                events.truncate(recorded);
            }
            came.insert(kind.clone(), events.into());
        }
        Ok(self.compare(&Value::Object(recorded.clone()), &Value::Object(came)))
    }

    fn call(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        let line = self.target.exchange(&run::request("t", method, params))?;
        Ok(parsed(line.as_deref()))
    }

    /// The first place at which two values differ.
    fn compare(&mut self, recorded: &Value, got: &Value) -> Option<Difference> {
        let place = self.differs(recorded, got)?;
        let at = |value: &Value| {
            let value = value.pointer(&place).cloned();
            json!({ (if place.is_empty() { "/" } else { &place }): value })
        };
        Some((at(recorded), at(got)))
    }

    fn differs(&mut self, recorded: &Value, got: &Value) -> Option<String> {
        match (recorded, got) {
            (Value::Object(recorded), Value::Object(got)) => {
                let names =
                    recorded.keys().chain(got.keys().filter(|name| !recorded.contains_key(*name)));
                for name in names {
                    let (one, other) = (recorded.get(name), got.get(name));
                    let place = match (one, other) {
                        (Some(Value::String(known)), Some(Value::String(id)))
                            if name == "terminal_id" =>
                        {
                            self.other_terminal(known, id).then(String::new)
                        }
                        (Some(one), Some(other)) => self.differs(one, other),
                        _ => Some(String::new()),
                    };
                    if let Some(place) = place {
                        return Some(format!("/{name}{place}"));
                    }
                }
                None
            }
            (Value::Array(recorded), Value::Array(got)) if recorded.len() == got.len() => {
                recorded.iter().zip(got).enumerate().find_map(|(index, (one, other))| {
                    Some(format!("/{index}{}", self.differs(one, other)?))
                })
            }
            _ => (recorded != got).then(String::new),
        }
    }

    /// Whether a recorded terminal is another one than this.
    fn other_terminal(&mut self, known: &str, id: &str) -> bool {
        if let Some(before) = self.terminals.get(known) {
            return before != id;
        }
        let taken = self.terminals.values().any(|other| other == id);
        self.terminals.insert(known.to_owned(), id.to_owned());
        taken
    }
}

/// A line without the fields that were not recorded; of an error the code.
fn parsed(line: Option<&str>) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|name, _| !LEFT_OUT.contains(&name.as_str()));
                if let Some(error) = fields.get_mut("error").and_then(Value::as_object_mut) {
                    error.remove("message");
                }
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value = line.map_or(Value::Null, |line| {
        serde_json::from_str(line).unwrap_or_else(|_| json!({ "unreadable": line }))
    });
    strip(&mut value);
    value
}
