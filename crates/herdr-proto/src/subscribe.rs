use serde::{Deserialize, Serialize};

use crate::call::Call;

/// `events.subscribe` to nothing: keeps the connection open.
///
/// An empty list is accepted, replays nothing and sends nothing; its end is
/// the news that the server went away. Any byte from the client ends the stream
/// (protocol §7.5). Events are not read here: on 0.8.2 up to 512 old ones come
/// first, so each would only be a hint to read the pane.
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
