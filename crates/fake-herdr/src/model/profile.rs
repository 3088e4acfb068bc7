//! The versions and products that the model can behave as.

use std::fmt;
use std::str::FromStr;

/// A server that answers the pane socket: its version, and where it differs
/// from 0.8.2 (protocol 3 and 8.3).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one difference between servers, found under its own name"
)]
pub struct Profile {
    pub(super) version: String,
    pub(super) protocol: u64,
    /// Lifecycle subscriptions start with the kept events.
    pub(super) replays: bool,
    /// A stream sends all its events each turn, and an error when events were lost.
    pub(super) batches: bool,
    /// An error has the request's id even if the rest of the line is malformed.
    pub(super) echoes_ids: bool,
    /// The server knows `resume_argv`.
    pub(super) resumes: bool,
    /// A custom claim survives a live handoff.
    pub(super) keeps_claims: bool,
    /// The product behind the socket; `None` for Herdr.
    pub(super) server: Option<&'static str>,
}

/// A name is not that of a known server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownProfile(String);

impl fmt::Display for UnknownProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no server {:?}: expected 0.8.2, 0.9.0, 0.9.3 or tuios", self.0)
    }
}

impl std::error::Error for UnknownProfile {}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, UnknownProfile> {
        match name {
            "0.8.2" => Ok(Self::herdr_0_8_2()),
            "0.9.0" => Ok(Self::herdr_0_9_0()),
            "0.9.3" => Ok(Self::herdr_0_9_3()),
            "tuios" => Ok(Self::tuios()),
            other => Err(UnknownProfile(other.to_owned())),
        }
    }
}

impl Default for Profile {
    fn default() -> Self {
        Self::herdr_0_8_2()
    }
}

impl Profile {
    /// Herdr 0.8.2, protocol 20. The recordings were made on this version.
    pub fn herdr_0_8_2() -> Self {
        Self {
            version: "0.8.2".to_owned(),
            protocol: 20,
            replays: true,
            batches: false,
            echoes_ids: false,
            resumes: false,
            keeps_claims: false,
            server: None,
        }
    }

    /// Herdr 0.9.0, protocol 22: streams start live.
    pub fn herdr_0_9_0() -> Self {
        Self { version: "0.9.0".to_owned(), protocol: 22, replays: false, ..Self::herdr_0_8_2() }
    }

    /// Herdr 0.9.3, protocol 22, with the changes of 0.9.2.
    pub fn herdr_0_9_3() -> Self {
        Self {
            version: "0.9.3".to_owned(),
            batches: true,
            echoes_ids: true,
            resumes: true,
            keeps_claims: true,
            ..Self::herdr_0_9_0()
        }
    }

    /// TUIOS, a terminal workspace that answers the pane socket as Herdr 0.9.3
    /// does. Only its name differs here, and not its other behaviour.
    pub fn tuios() -> Self {
        let version = "0.9.3+tuios".to_owned();
        Self { version, server: Some("tuios"), ..Self::herdr_0_9_3() }
    }

    /// The newest known server of a protocol number. An unknown number gets the
    /// behaviour of 0.8.2, because the number does not define it (protocol 1).
    pub fn for_protocol(protocol: u64) -> Self {
        match protocol {
            22 => Self::herdr_0_9_3(),
            _ => Self { protocol, ..Self::herdr_0_8_2() },
        }
    }
}
