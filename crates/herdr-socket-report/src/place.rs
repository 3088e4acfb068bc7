//! The pane to report for, from the flags and the environment.

use std::ffi::OsString;
use std::path::PathBuf;

use herdr_proto::PaneId;
use herdr_socket_transport::env::{HERDR_PANE_ID, HERDR_SOCKET_PATH};
use herdr_socket_transport::{Absence, Discovery, Endpoint, find_socket};

/// The flags that name a pane
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct PaneFlags {
    /// The socket of the pane's server, instead of `HERDR_SOCKET_PATH`
    ///
    /// Outside Herdr --pane is needed too.
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::FilePath)]
    socket: Option<PathBuf>,
    /// The id of the pane, for example w1:p1, instead of `HERDR_PANE_ID`
    ///
    /// Outside Herdr --socket is needed too.
    #[arg(long, value_name = "ID")]
    pane: Option<PaneId>,
}

/// The longest reply that is read: hundreds of panes, or a tall screen in colour.
pub(crate) const REPLY_MAX: usize = 16 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// This process does not run in a pane of Herdr.
    Outside(Absence),
    /// Herdr's variables are set but do not name a pane.
    Broken(String),
    Pane(Endpoint),
}

impl PaneFlags {
    pub(crate) fn any(&self) -> bool {
        self.socket.is_some() || self.pane.is_some()
    }

    /// Finds the pane. Flags go before the environment.
    pub(crate) fn find(&self) -> Result<Place, String> {
        let socket = self.socket.as_deref().map(|path| find_socket(Some(path), |_| None));
        let socket = socket.transpose().map_err(|wrong| wrong.to_string())?;
        if let (Some(socket), Some(pane)) = (&socket, &self.pane) {
            return Ok(Place::Pane(Endpoint::new(socket, pane.clone())));
        }
        let found = Endpoint::from_env(|name| match name {
            HERDR_SOCKET_PATH if socket.is_some() => socket.clone().map(OsString::from),
            HERDR_PANE_ID if self.pane.is_some() => self.pane.clone().map(|id| id.as_str().into()),
            _ => std::env::var_os(name),
        });
        match (found, &socket, &self.pane) {
            (Discovery::Found(endpoint), ..) => Ok(Place::Pane(endpoint)),
            (Discovery::Misconfigured(wrong), ..) => Ok(Place::Broken(wrong.to_string())),
            (Discovery::NotInHerdr(absence), Some(_), None) => Err(half("socket", "pane", absence)),
            (Discovery::NotInHerdr(absence), None, Some(_)) => Err(half("pane", "socket", absence)),
            (Discovery::NotInHerdr(absence), ..) => Ok(Place::Outside(absence)),
            _ => Ok(Place::Broken("this environment is not understood".to_owned())),
        }
    }
}

fn half(given: &str, missing: &str, absence: Absence) -> String {
    format!("--{given} alone does not name a pane, add --{missing}: {absence}")
}
