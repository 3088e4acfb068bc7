use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::ids::PaneId;
use crate::open::AgentStatus;

/// `events.subscribe`: keeps the connection and turns it into a stream of
/// event lines.
///
/// An empty list is accepted, replays nothing and sends nothing; its end is
/// the news that the server went away. Any byte from the client ends a stream
/// (protocol §7.5).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Subscribe {
    /// What to hear of.
    pub subscriptions: Vec<Subscription>,
}

impl Subscribe {
    /// A stream of these events.
    pub fn to(subscriptions: Vec<Subscription>) -> Self {
        Self { subscriptions }
    }

    /// A stream that only ends.
    pub fn nothing() -> Self {
        Self::default()
    }
}

impl Call for Subscribe {
    const METHOD: &'static str = "events.subscribe";
    type Reply = SubscriptionStarted;
}

/// The first line of a stream. A deadline for it does not apply to the events
/// that follow (failure B73). A result by another name is malformed: after it
/// there would be no stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct SubscriptionStarted {
    #[serde(rename = "type")]
    kind: StartedKind,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
enum StartedKind {
    #[default]
    #[serde(rename = "subscription_started")]
    SubscriptionStarted,
}

/// One kind of event to hear of. On 0.8.2 each entry first replays up to 512
/// old events, one per 100 ms, so an event is a hint to read the pane and
/// never a fact by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum Subscription {
    /// A pane's agent appeared or went.
    #[serde(rename = "pane.agent_detected")]
    AgentDetected,
    /// A pane was closed.
    #[serde(rename = "pane.closed")]
    Closed,
    /// A pane was made.
    #[serde(rename = "pane.created")]
    Created,
    /// A pane's program ended.
    #[serde(rename = "pane.exited")]
    Exited,
    /// A pane got the focus.
    #[serde(rename = "pane.focused")]
    Focused,
    /// A pane got another id.
    #[serde(rename = "pane.moved")]
    Moved,
    /// A pane's tokens or layout changed; not sent for a change of state.
    #[serde(rename = "pane.updated")]
    Updated,
    /// A pane's state, title, name or labels changed. Costs the server a look
    /// at the pane every 100 ms.
    #[serde(rename = "pane.agent_status_changed")]
    StatusChanged {
        /// The pane.
        pane_id: PaneId,
        /// Only changes to this state; one that already holds fires once at
        /// the start. Absent means every change.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_status: Option<AgentStatus>,
    },
}
