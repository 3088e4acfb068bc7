use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::absent;
use crate::envelope::{Envelope, Reply, part};
use crate::error::Error;
use crate::ids::PaneId;
use crate::open::{AgentStatus, EventKind};
use crate::pane::PaneInfo;

/// One line of a stream.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// Its kind, also if we know nothing of it.
    pub kind: EventKind,
    /// What it says.
    pub data: EventData,
}

/// What an event says.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum EventData {
    /// An agent appeared on a pane or went from it.
    AgentDetected(AgentDetected),
    /// A pane's state, title, name or labels changed.
    StatusChanged(AgentStatusChanged),
    /// A pane's tokens or layout changed.
    Updated(Box<PaneInfo>),
    /// A pane got another id.
    Moved(Box<PaneMoved>),
    /// A pane was closed.
    Closed(PaneGone),
    /// A pane's program ended.
    Exited(PaneGone),
    /// A kind that has no type here; always an object.
    Other(serde_json::Value),
}

/// An agent appeared on a pane or went from it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct AgentDetected {
    /// The pane.
    pub pane_id: PaneId,
    /// The agent's label.
    #[serde(default)]
    pub agent: Option<String>,
    /// Whether it went; absent means that it came.
    #[serde(default, deserialize_with = "absent::null")]
    pub released: bool,
    /// The state after it went.
    #[serde(default)]
    pub final_status: Option<AgentStatus>,
}

/// A pane's state, title, name or labels changed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct AgentStatusChanged {
    /// The pane.
    pub pane_id: PaneId,
    /// The state.
    #[serde(default, deserialize_with = "absent::null")]
    pub agent_status: AgentStatus,
    /// The agent's label.
    #[serde(default)]
    pub agent: Option<String>,
    /// The title.
    #[serde(default)]
    pub title: Option<String>,
    /// The display name.
    #[serde(default)]
    pub display_agent: Option<String>,
    /// The labels by state.
    #[serde(default, deserialize_with = "absent::null_texts")]
    pub state_labels: BTreeMap<String, String>,
}

/// A pane got another id.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct PaneMoved {
    /// The id that it had.
    pub previous_pane_id: PaneId,
    /// The pane as it is now.
    pub pane: PaneInfo,
}

/// A pane that is no more.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct PaneGone {
    /// The id that it had.
    pub pane_id: PaneId,
}

/// Reads one line of a stream: an event, or the refusal that ends it (servers
/// from 0.9.2 on say `events_lost`).
///
/// # Errors
///
/// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) if the line is
/// neither, or a known kind lacks what makes it that kind;
/// [`ErrorKind::NotPaneApi`](crate::ErrorKind::NotPaneApi) if it is JSON-RPC.
pub fn decode_event(line: &[u8]) -> Result<Reply<Event>, Error> {
    let envelope = match Envelope::open(line)? {
        Ok(envelope) => envelope,
        Err(rejection) => return Ok(Err(rejection)),
    };
    let kind = envelope.event.ok_or_else(|| Error::malformed("the line is no event"))?;
    let kind: EventKind = serde_json::from_str(kind.get())
        .map_err(|_| Error::malformed("the event's kind is no text"))?;
    let data = decode_data(&kind, envelope.data)?;
    Ok(Ok(Event { kind, data }))
}

fn decode_data(kind: &EventKind, data: Option<&RawValue>) -> Result<EventData, Error> {
    #[derive(Deserialize)]
    struct Updated {
        pane: PaneInfo,
    }

    Ok(if *kind == EventKind::PANE_AGENT_DETECTED {
        EventData::AgentDetected(typed(data)?)
    } else if *kind == EventKind::PANE_AGENT_STATUS_CHANGED {
        EventData::StatusChanged(typed(data)?)
    } else if *kind == EventKind::PANE_UPDATED {
        EventData::Updated(Box::new(typed::<Updated>(data)?.pane))
    } else if *kind == EventKind::PANE_MOVED {
        EventData::Moved(Box::new(typed(data)?))
    } else if *kind == EventKind::PANE_CLOSED {
        EventData::Closed(typed(data)?)
    } else if *kind == EventKind::PANE_EXITED {
        EventData::Exited(typed(data)?)
    } else {
        EventData::Other(typed(data)?)
    })
}

fn typed<T: DeserializeOwned>(data: Option<&RawValue>) -> Result<T, Error> {
    part(data, "the event has no data", "the event's data is not what its kind has")
}
