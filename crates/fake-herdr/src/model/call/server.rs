//! The parameters of `events.subscribe` and `notification.show`.

use serde::Deserialize;

use super::super::subscription::Subscription;

#[derive(Debug, Deserialize)]
pub(crate) struct Subscribe {
    pub(crate) subscriptions: Vec<Subscription>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Notify {
    pub(crate) title: String,
    /// Notifications are never shown, so only the types of these fields are checked.
    #[serde(rename = "body")]
    _body: Option<String>,
    #[serde(rename = "sound")]
    _sound: Option<Sound>,
}

/// The sound of a notification.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Sound {
    None,
    Done,
    Request,
}
