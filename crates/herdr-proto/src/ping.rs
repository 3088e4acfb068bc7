use serde::{Deserialize, Serialize};

use crate::call::Call;

/// `ping`: is a server there, and which. An answer is no proof that reports
/// are taken: a stopping server answers `ping` and nothing else (protocol §7.6).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ping {}

impl Call for Ping {
    const METHOD: &'static str = "ping";
    type Reply = Pong;
}

/// Who answered. A version is for diagnostics and for `resume_argv`; never
/// refuse to work because of it (failure B77).
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Pong {
    /// For example `0.8.2`; empty if the server does not say.
    #[serde(default)]
    pub version: String,
    /// The version of Herdr's private client wire, 20 on 0.8.2; 0 if the
    /// server does not say.
    #[serde(default)]
    pub protocol: u64,
    /// The product behind a compatible socket, for example `tuios`. Herdr
    /// itself does not send it.
    #[serde(default)]
    pub server: Option<String>,
    /// What the server says it can do.
    #[serde(default)]
    pub capabilities: Capabilities,
}

/// Flags of `ping`; absent means no.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Capabilities {
    /// A new process can take the running server over.
    #[serde(default)]
    pub live_handoff: bool,
    /// The server runs without a user interface.
    #[serde(default)]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resume_argv_is_for_servers_that_know_it() {
        for (version, takes) in [
            ("0.8.2", false),
            ("0.9.1", false),
            ("0.9.2", true),
            ("0.9.3+tuios", true),
            ("1.0.0-rc.1", true),
            ("", false),
            ("nightly", false),
        ] {
            let pong = Pong { version: version.to_owned(), ..Pong::default() };
            assert_eq!(pong.takes_resume_argv(), takes, "{version}");
        }
    }
}
