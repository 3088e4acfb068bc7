use serde::{Deserialize, Serialize};

use crate::absent;

/// `ping`: is a server there, and which. An answer is no proof that reports
/// are taken: a stopping server answers `ping` and nothing else (protocol §7.6).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ping {}

/// Who answered. That the result names itself `pong` is how one tells Herdr
/// (protocol §1), so anything else is malformed.
///
/// The rest is for diagnostics and for `resume_argv`: whatever is missing or of
/// another type counts as not said, and no client may refuse to work because
/// of it (failure B77).
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Pong {
    #[serde(rename = "type")]
    kind: PongKind,
    /// For example `0.8.2`; empty if the server does not say.
    #[serde(default, deserialize_with = "absent::other_type")]
    pub version: String,
    /// The version of Herdr's private client wire, 20 on 0.8.2; 0 if the
    /// server does not say.
    #[serde(default, deserialize_with = "absent::other_type")]
    pub protocol: u64,
    /// The product behind a compatible socket, for example `tuios`. Herdr
    /// itself does not send it.
    #[serde(default, deserialize_with = "absent::other_type")]
    pub server: Option<String>,
    /// What the server says it can do.
    #[serde(default, deserialize_with = "absent::other_type")]
    pub capabilities: Capabilities,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
enum PongKind {
    #[default]
    #[serde(rename = "pong")]
    Pong,
}

/// Flags of `ping`; absent means no.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Capabilities {
    /// A new process can take the running server over.
    #[serde(default, deserialize_with = "absent::other_type")]
    pub live_handoff: bool,
    /// The server runs without a user interface.
    #[serde(default, deserialize_with = "absent::other_type")]
    pub detached_server_daemon: bool,
    /// Present from 0.9.2 on, whatever it says.
    #[serde(default)]
    pub ssh_agent_registration: Option<serde_json::Value>,
}

impl Pong {
    /// Whether the server understands `resume_argv`: from 0.9.2 on. Older ones
    /// drop the field without a word, so a server that does not say is asked
    /// nothing.
    pub fn takes_resume_argv(&self) -> bool {
        self.capabilities.ssh_agent_registration.is_some() || self.at_least(0, 9, 2)
    }

    fn at_least(&self, major: u64, minor: u64, patch: u64) -> bool {
        let core = self.version.split(['+', '-']).next().unwrap_or_default();
        let mut parts = core.split('.').map(str::parse::<u64>);
        let mut next = || parts.next().and_then(Result::ok);
        match (next(), next(), next()) {
            (Some(a), Some(b), Some(c)) => (a, b, c) >= (major, minor, patch),
            _ => false,
        }
    }
}
