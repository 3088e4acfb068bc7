//! Reads trace and flow files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde::Deserialize;
use serde_json::{Map, Value};

/// A trace or a flow.
#[derive(Debug)]
pub struct Script {
    /// The file it was read from.
    pub file: PathBuf,
    /// Whether the pane keeps the focus. Otherwise another workspace gets it, and an idle after
    /// work is shown as done.
    pub focused: bool,
    pub(super) steps: Vec<(usize, Step)>,
}

impl Script {
    /// Whether it has whole replies and snapshots, and so needs a server of its own.
    pub fn is_whole(&self) -> bool {
        self.steps.iter().any(|(_, step)| matches!(step, Step::Snapshot(_)))
    }
}

#[derive(Debug)]
pub(super) enum Step {
    Call {
        method: String,
        params: Value,
        reply: Value,
    },
    Raw {
        bytes: String,
        reply: Value,
    },
    Wait {
        ms: u64,
    },
    Observe(Value),
    Open {
        stream: String,
        subscriptions: Value,
        reply: Value,
    },
    Write {
        stream: String,
        bytes: String,
    },
    HalfClose {
        stream: String,
    },
    After {
        ms: u64,
        streams: BTreeMap<String, Expected>,
    },
    Appears {
        pane: String,
        agent: String,
    },
    Exits {
        pane: String,
    },
    /// The looks of the panes from then on, and for how long they were recorded, if known.
    Settles {
        looks: Vec<Look>,
        for_ms: Option<u64>,
    },
    /// The whole state of the server; `None` if it has not changed.
    Snapshot(Option<Value>),
    /// What a stream of each kind replays.
    Events(Map<String, Value>),
}

/// What the panes show some time after a step.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Look {
    pub(super) after_ms: u64,
    pub(super) panes: Value,
}

/// What arrived on a stream within a window.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct Expected {
    pub(super) events: Vec<Value>,
    #[serde(default)]
    pub(super) eof: bool,
}

/// All `.jsonl` files below some folders, sorted. The path of a file is also accepted.
///
/// # Errors
///
/// If a folder cannot be read.
pub fn find(dirs: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut open = dirs.to_vec();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries =
                fs::read_dir(&path).with_context(|| format!("cannot list {}", path.display()))?;
            for entry in entries {
                open.push(entry.with_context(|| format!("cannot list {}", path.display()))?.path());
            }
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            files.push(path);
        } else if !path.exists() {
            bail!("there is no {}", path.display());
        }
    }
    files.sort();
    Ok(files)
}

/// Reads a file; `None` if it is neither a trace nor a flow: its first line is not a head and
/// the second one is not a step.
///
/// # Errors
///
/// If the file cannot be read, or a line is not in the format. The message names the file and
/// the line.
pub fn read(file: &Path) -> anyhow::Result<Option<Script>> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut lines = bytes
        .split(|byte| *byte == b'\n')
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim_ascii()))
        .filter(|(_, line)| !line.is_empty());
    let Some((number, first)) = lines.next() else {
        return Ok(None);
    };
    let place = |number: usize| format!("{}:{number}", file.display());
    let head: Option<Value> = serde_json::from_slice(first).ok();
    let Some(head) = head.filter(|head| head.get("trace").is_some() || head.get("flow").is_some())
    else {
        // A trace with a damaged head must not be skipped.
        let spoiled = lines.next().is_some_and(|(_, line)| step(line).is_ok());
        anyhow::ensure!(!spoiled, "{}: not the head of a trace or a flow", place(number));
        return Ok(None);
    };
    let focused = match head.get("focused") {
        None => true,
        Some(focused) => focused.as_bool().with_context(|| {
            format!("{}: `focused` is {focused}, not true or false", place(number))
        })?,
    };
    let mut steps = Vec::new();
    for (number, line) in lines {
        let step = step(line).with_context(|| format!("{}: not a step", place(number)))?;
        steps.push((number, step));
    }
    anyhow::ensure!(!steps.is_empty(), "{}: no step follows the head", place(number));
    Ok(Some(Script { file: file.to_owned(), focused, steps }))
}

/// A program in a pane.
#[derive(Deserialize)]
struct Program {
    pane: String,
    #[serde(default)]
    agent: String,
}

fn step(line: &[u8]) -> anyhow::Result<Step> {
    let line = serde_json::from_slice::<Value>(line).map_err(|error| {
        // The message already has the line of the file; the JSON reader's line is always 1.
        anyhow::anyhow!("{}", error.to_string().replace(" at line 1 column ", ", at its byte "))
    })?;
    let Value::Object(mut line) = line else { bail!("it is not an object") };
    let mut text = |name: &str| match line.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    if let Some(stream) = text("open") {
        return Ok(Step::Open {
            stream,
            subscriptions: take(&mut line, "subscriptions")?,
            reply: take(&mut line, "reply")?,
        });
    }
    if let Some(stream) = text("write") {
        let bytes = text("bytes").context("`bytes` is missing")?;
        return Ok(Step::Write { stream, bytes });
    }
    if let Some(stream) = text("half_close") {
        return Ok(Step::HalfClose { stream });
    }
    if let Some(bytes) = text("raw") {
        return Ok(Step::Raw { bytes, reply: take(&mut line, "reply")? });
    }
    if let Some(mut call) = line.remove("call") {
        let method = call["method"].as_str().context("`method` is not a text")?.to_owned();
        let params = call["params"].take();
        return Ok(Step::Call { method, params, reply: take(&mut line, "reply")? });
    }
    if let Some(ms) = line.get("wait_ms") {
        return Ok(Step::Wait { ms: ms.as_u64().context("`wait_ms` is not a number")? });
    }
    if let Some(ms) = line.get("after_ms").cloned() {
        return Ok(Step::After {
            ms: ms.as_u64().context("`after_ms` is not a number")?,
            streams: serde_json::from_value(take(&mut line, "streams")?)?,
        });
    }
    if let Some(program) = line.remove("appears") {
        let Program { pane, agent } = serde_json::from_value(program)?;
        return Ok(Step::Appears { pane, agent });
    }
    if let Some(program) = line.remove("exits") {
        let Program { pane, .. } = serde_json::from_value(program)?;
        return Ok(Step::Exits { pane });
    }
    if let Some(looks) = line.remove("settles") {
        let for_ms = line.get("for_ms").and_then(Value::as_u64);
        return Ok(Step::Settles { looks: serde_json::from_value(looks)?, for_ms });
    }
    if let Some(snapshot) = line.remove("snapshot") {
        return Ok(Step::Snapshot(Some(snapshot).filter(|snapshot| snapshot != "same")));
    }
    if let Some(events) = line.remove("events") {
        return Ok(Step::Events(serde_json::from_value(events)?));
    }
    match line.remove("observe") {
        Some(observed) => Ok(Step::Observe(observed)),
        None => bail!(
            "it has no `call`, `raw`, `wait_ms`, `observe`, `open`, `write`, `half_close`, \
             `after_ms`, `appears`, `exits`, `settles`, `snapshot` or `events` of the right type"
        ),
    }
}

fn take(line: &mut Map<String, Value>, name: &str) -> anyhow::Result<Value> {
    line.remove(name).with_context(|| format!("`{name}` is missing"))
}
