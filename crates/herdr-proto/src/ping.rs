use serde::{Deserialize, Serialize};

use crate::absent;

/// `ping`: whether a server is there, and which one. An answer does not mean that reports are
/// accepted: a server that is stopping answers only `ping` (protocol §7.6).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ping {}

/// The server that answered. Herdr is recognised by the result's type `pong` (protocol §1), so
/// any other result is malformed.
///
/// The other fields are for diagnostics and for `resume_argv`. One that is missing or has
/// another type counts as absent, and no client may refuse to work because of it (failure B77).
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Pong {
    #[serde(rename = "type")]
    kind: PongKind,
    /// The version, for example `0.8.2`; empty if absent.
    #[serde(default, deserialize_with = "absent::other_type")]
    pub version: String,
    /// The version of Herdr's private client protocol, 20 on 0.8.2; 0 if absent.
    #[serde(default, deserialize_with = "absent::other_type")]
    pub protocol: u64,
    /// The product, if the server is a compatible one such as `tuios`. Herdr does not send it.
    #[serde(default, deserialize_with = "absent::other_type")]
    pub server: Option<String>,
    /// The capabilities of the server.
    #[serde(default, deserialize_with = "absent::other_type")]
    pub capabilities: Capabilities,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
enum PongKind {
    #[default]
    #[serde(rename = "pong")]
    Pong,
}

/// The capabilities in the answer to `ping`; absent means no.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Capabilities {
    /// Whether a new process can take over from the running server.
    #[serde(default, deserialize_with = "absent::other_type")]
    pub live_handoff: bool,
    /// Whether the server runs without a user interface.
    #[serde(default, deserialize_with = "absent::other_type")]
    pub detached_server_daemon: bool,
    /// Present from 0.9.2 on, with any value.
    #[serde(default)]
    pub ssh_agent_registration: Option<serde_json::Value>,
}

impl Pong {
    /// Whether the server understands `resume_argv`, which is so from 0.9.2 on. Older servers
    /// ignore the field silently, so it is false for a server that does not tell.
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
