use serde::{Deserialize, Serialize};

/// `events.subscribe` with an empty list: a stream that only ends.
///
/// The server accepts the list, replays nothing and sends nothing. The stream ends when the
/// server goes away, and also if the client sends a byte (protocol §7.5). Events are not
/// supported: 0.8.2 sends up to 512 old ones first, so an event would only be a reason to read
/// the pane.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Subscribe {
    subscriptions: [(); 0],
}

impl Subscribe {
    /// A stream that only ends.
    pub fn nothing() -> Self {
        Self::default()
    }
}

/// The first line of a stream. A deadline for this line does not apply to later events (failure
/// B73). A result of another type is malformed, because no stream would follow it.
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
