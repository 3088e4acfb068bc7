//! `events.subscribe`: what can be subscribed to, and the running subscriptions of a
//! stream (protocol 7.5).

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use super::Model;
use super::call::{ReadOptions, ReadSource};
use super::events::{Event, EventRing};
use super::state::Status;

/// The lifecycle kinds. The ring has an underscore in place of the dot.
const LIFECYCLE: &str = "\
    workspace.created workspace.updated workspace.metadata_updated workspace.renamed \
    workspace.moved workspace.reordered workspace.closed workspace.focused worktree.created \
    worktree.opened worktree.removed tab.created tab.closed tab.focused tab.renamed \
    tab.moved pane.created pane.closed pane.updated pane.focused pane.moved pane.exited \
    pane.agent_detected layout.updated";

/// A checked entry of a subscription list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subscription {
    /// Lifecycle events of one kind.
    Lifecycle(String),
    /// `pane.agent_status_changed`
    Status { pane_id: String, filter: Option<Status> },
    /// `pane.scroll_changed`. Panes do not scroll here, so it has no events.
    Scroll { pane_id: String },
    /// `pane.output_matched` with a plain text.
    Output { pane_id: String, text: String },
}

/// The subscriptions that are about one pane. Lifecycle subscriptions have no other
/// field than `type` that is read.
#[derive(Deserialize)]
#[serde(tag = "type")]
enum PaneSubscription {
    #[serde(rename = "pane.agent_status_changed")]
    Status { pane_id: String, agent_status: Option<Status> },
    #[serde(rename = "pane.scroll_changed")]
    Scroll { pane_id: String },
    #[serde(rename = "pane.output_matched")]
    Output {
        pane_id: String,
        #[serde(rename = "source")]
        _source: ReadSource,
        #[serde(rename = "match")]
        output: OutputMatch,
    },
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum OutputMatch {
    Substring { value: String },
    Regex {},
}

impl<'de> Deserialize<'de> for Subscription {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let entry = Map::<String, Value>::deserialize(deserializer)?;
        let kind = entry.get("type").and_then(Value::as_str).unwrap_or_default();
        if LIFECYCLE.split_whitespace().any(|known| known == kind) {
            return Ok(Self::Lifecycle(kind.replace('.', "_")));
        }
        match PaneSubscription::deserialize(Value::Object(entry)).map_err(D::Error::custom)? {
            PaneSubscription::Status { pane_id, agent_status: filter } => {
                Ok(Self::Status { pane_id, filter })
            }
            PaneSubscription::Scroll { pane_id } => Ok(Self::Scroll { pane_id }),
            PaneSubscription::Output {
                pane_id,
                output: OutputMatch::Substring { value: text },
                ..
            } => Ok(Self::Output { pane_id, text }),
            PaneSubscription::Output { output: OutputMatch::Regex {}, .. } => {
                Err(D::Error::custom("this server matches output only by `substring`"))
            }
        }
    }
}

/// The data of an agent status event, in the ring and on a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) pane_id: String,
    pub(crate) workspace_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    pub(crate) agent_status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) display_agent: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) state_labels: BTreeMap<String, String>,
}

impl Row {
    pub(crate) fn data(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn line(&self) -> Option<String> {
        Some(Event::scoped_line("pane.agent_status_changed", self.data().as_object()?))
    }

    /// Whether a subscriber sees no difference. Ids and the agent's label do not count.
    fn looks_like(&self, other: &Self) -> bool {
        let of = |row: &Self| {
            (
                row.agent_status,
                row.title.clone(),
                row.display_agent.clone(),
                row.state_labels.clone(),
            )
        };
        of(self) == of(other)
    }
}

/// A running subscription, which has read the ring up to `cursor`.
#[derive(Debug, Clone)]
pub(crate) enum Active {
    Lifecycle {
        kind: String,
        cursor: u64,
    },
    Status {
        /// The id at the start. After a move the ring has the pane's new id, and only
        /// comparing with `shown` still finds changes.
        pane_id: String,
        filter: Option<Status>,
        cursor: u64,
        /// The data at the last turn; boxed to keep the enum small.
        shown: Box<Row>,
        /// Whether to send one event at the start, because the filter already holds.
        initial: bool,
    },
    Output {
        pane_id: String,
        text: String,
        matching: bool,
    },
    Silent,
}

impl Active {
    /// Runs one turn, which gives at most one line.
    pub(super) fn turn(&mut self, model: &Model) -> Option<String> {
        let ring = &model.events;
        match self {
            Self::Lifecycle { kind, cursor } => {
                for (number, event) in ring.after(*cursor) {
                    *cursor = number;
                    if event.kind == *kind {
                        return Some(event.line());
                    }
                }
                None
            }
            Self::Status { pane_id, filter, cursor, shown, initial } => {
                let wanted = |status: Status| filter.is_none_or(|filter| filter == status);
                for (number, event) in ring.after(*cursor) {
                    *cursor = number;
                    if event.kind != "pane_agent_status_changed" || !names(event, pane_id) {
                        continue;
                    }
                    *initial = false;
                    if let Ok(now) = Row::deserialize(Value::Object(event.data.clone())) {
                        let status = now.agent_status;
                        let line = now.line();
                        **shown = now;
                        if wanted(status) {
                            return line;
                        }
                    }
                }
                let now = model.row(model.find_pane(pane_id).ok()?)?;
                let changed = !now.looks_like(shown) || std::mem::take(initial);
                **shown = now;
                shown.line().filter(|_| changed && wanted(shown.agent_status))
            }
            Self::Output { pane_id, text, matching } => {
                let found = output(model, pane_id, text);
                let begins = found.is_some() && !*matching;
                *matching = found.is_some();
                let Some(Value::Object(data)) = found.filter(|_| begins) else {
                    return None;
                };
                Some(Event::scoped_line("pane.output_matched", &data))
            }
            Self::Silent => None,
        }
    }

    /// Whether the ring has dropped events that were not read yet.
    pub(crate) fn fell_behind(&self, ring: &EventRing) -> bool {
        match self {
            Self::Lifecycle { cursor, .. } | Self::Status { cursor, .. } => {
                ring.lost_after(*cursor)
            }
            Self::Output { .. } | Self::Silent => false,
        }
    }
}

/// The data of an output event: the first line of a pane's screen that contains a
/// text, with the read that found it.
fn output(model: &Model, pane_id: &str, text: &str) -> Option<Value> {
    let pane = model.find_pane(pane_id).ok()?;
    let read = model.read_view(pane, &ReadOptions::new(ReadSource::RecentUnwrapped))?;
    let line = read["text"].as_str()?.lines().find(|line| line.contains(text))?;
    Some(json!({ "pane_id": read["pane_id"], "matched_line": line, "read": read }))
}

fn names(event: &Event, pane_id: &str) -> bool {
    event.data.get("pane_id").and_then(Value::as_str) == Some(pane_id)
}
