use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::call::{Reply, decode_rejection};
use crate::error::{Error, ErrorKind};
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
    /// A kind that has no type here.
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
    #[serde(default)]
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
    #[serde(default)]
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
    #[serde(default)]
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
/// [`ErrorKind::Malformed`] if the line is neither, or a known kind lacks what
/// makes it that kind.
pub fn decode_event(line: &[u8]) -> Result<Reply<Event>, Error> {
    #[derive(Deserialize)]
    struct Line<'a> {
        #[serde(default)]
        event: Option<EventKind>,
        #[serde(borrow, default)]
        data: Option<&'a RawValue>,
        #[serde(borrow, default)]
        error: Option<&'a RawValue>,
    }

    let line: Line<'_> = serde_json::from_slice(line)
        .map_err(|source| Error::json("the event is not a JSON object", source))?;
    if let Some(error) = line.error {
        return decode_rejection(error).map(Err);
    }
    let (Some(kind), Some(data)) = (line.event, line.data) else {
        return Err(Error::new(ErrorKind::Malformed, "the event has no kind or no data"));
    };
    let data = decode_data(&kind, data)?;
    Ok(Ok(Event { kind, data }))
}

fn decode_data(kind: &EventKind, data: &RawValue) -> Result<EventData, Error> {
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

fn typed<T: DeserializeOwned>(data: &RawValue) -> Result<T, Error> {
    serde_json::from_str(data.get())
        .map_err(|source| Error::json("the event lacks what its kind has", source))
}
