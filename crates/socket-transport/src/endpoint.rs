use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use herdr_proto::PaneId;

use crate::env::{HERDR_ENV, HERDR_PANE_ID, HERDR_SOCKET_PATH};
use crate::misconfiguration::{Misconfiguration, Why, absolute_path, present};

/// A pane that can be reported on: the socket of its server and the pane's id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    socket: PathBuf,
    pane: PaneId,
}

/// What the environment says about the pane this process runs in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Discovery {
    /// This process is not in a pane. That is not an error and needs no message.
    NotInHerdr(Absence),
    /// Herdr's variables are set but do not make sense. The user should be told once.
    Misconfigured(Misconfiguration),
    /// The pane and its socket. No connection was made yet.
    Found(Endpoint),
}

/// Why this process counts as not being in a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Absence {
    /// `HERDR_ENV` is not set.
    NoHerdr,
    /// `HERDR_ENV` is set to something other than `1`: switched off.
    SwitchedOff,
    /// There is no pane id, as in a popup.
    NoPane,
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoHerdr => "not in Herdr (HERDR_ENV is not set)",
            Self::SwitchedOff => "not in Herdr (HERDR_ENV is not 1)",
            Self::NoPane => "not in a pane of Herdr (HERDR_PANE_ID is not set, as in a popup)",
        })
    }
}

impl Endpoint {
    /// An endpoint from known parts, such as flags.
    pub fn new(socket: impl Into<PathBuf>, pane: PaneId) -> Self {
        Self { socket: socket.into(), pane }
    }

    /// Reads the endpoint from an environment (protocol.md section 7.1).
    ///
    /// `lookup` is called at most once for each variable; pass
    /// `|name| std::env::var_os(name)` for the environment of this process. It is not checked
    /// whether a server listens at the path.
    ///
    /// ```
    /// use herdr_socket_transport::{Absence, Discovery, Endpoint, env};
    ///
    /// let found = Endpoint::from_env(|name| match name {
    ///     env::HERDR_ENV => Some("1".into()),
    ///     env::HERDR_SOCKET_PATH => Some("/run/user/1000/herdr.sock".into()),
    ///     env::HERDR_PANE_ID => Some("w1:p1".into()),
    ///     _ => None,
    /// });
    /// assert!(matches!(found, Discovery::Found(_)));
    ///
    /// let outside = Endpoint::from_env(|_| None);
    /// assert_eq!(outside, Discovery::NotInHerdr(Absence::NoHerdr));
    /// ```
    pub fn from_env(lookup: impl Fn(&str) -> Option<OsString>) -> Discovery {
        match lookup(HERDR_ENV) {
            None => return Discovery::NotInHerdr(Absence::NoHerdr),
            Some(value) if value != "1" => return Discovery::NotInHerdr(Absence::SwitchedOff),
            Some(_) => {}
        }
        let Some(pane) = lookup(HERDR_PANE_ID) else {
            return Discovery::NotInHerdr(Absence::NoPane);
        };
        match parts(pane, lookup(HERDR_SOCKET_PATH)) {
            Ok(endpoint) => Discovery::Found(endpoint),
            Err(wrong) => Discovery::Misconfigured(wrong),
        }
    }

    /// The path of the server's socket, as it was given.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// The id of the pane, as it was given.
    pub fn pane(&self) -> &PaneId {
        &self.pane
    }
}

fn parts(pane: OsString, socket: Option<OsString>) -> Result<Endpoint, Misconfiguration> {
    let socket = socket.ok_or(Misconfiguration::missing(HERDR_SOCKET_PATH))?;
    let socket = absolute_path(HERDR_SOCKET_PATH, socket)?;
    let pane = present(HERDR_PANE_ID, pane)?;
    let id = pane.to_str().and_then(|text| PaneId::parse(text).ok());
    let id = id.ok_or_else(|| Misconfiguration::new(HERDR_PANE_ID, Why::Invalid, &pane))?;
    Ok(Endpoint::new(socket, id))
}
