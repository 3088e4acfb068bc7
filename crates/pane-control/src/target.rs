use std::fmt;
use std::str::FromStr;

use herdr_proto::{InvalidValue, PaneId};
use herdr_socket_transport::{Absence, Discovery};

use crate::error::{Error, ErrorKind};

/// A pane by its id, or an agent by its name.
///
/// After the pane was seen, the target also knows its terminal
/// ([`Probe::target`](crate::Probe::target)). Then it is found after a move, and another
/// terminal with its old id is not mistaken for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    pub(crate) pane: PaneId,
    pub(crate) terminal: Option<String>,
}

/// Where the calling process runs, which decides about the default target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// In this pane, which is the default.
    Pane(PaneId),
    /// In a daemon that serves several panes, whatever its environment says. It has to name the
    /// pane.
    Shared,
    /// Outside Herdr. It has to name the pane.
    Outside,
}

impl From<&Discovery> for Origin {
    fn from(discovery: &Discovery) -> Self {
        match discovery {
            Discovery::Found(endpoint) => Self::Pane(endpoint.pane().clone()),
            Discovery::NotInHerdr(Absence::NoHerdr | Absence::SwitchedOff | Absence::NoPane)
            | _ => Self::Outside,
        }
    }
}

impl Target {
    /// The pane of this id.
    pub fn new(pane: PaneId) -> Self {
        Self { pane, terminal: None }
    }

    /// The pane that is named, or else the pane of the process. The focused pane is never
    /// assumed.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NoTarget`] if there is neither, and [`ErrorKind::InvalidInput`] for a name
    /// that is not an id.
    pub fn resolve(named: Option<&str>, origin: &Origin) -> Result<Self, Error> {
        match (named, origin) {
            (Some(named), _) => named.parse(),
            (None, Origin::Pane(pane)) => Ok(Self::new(pane.clone())),
            (None, Origin::Shared) => Err(Error::new(
                ErrorKind::NoTarget,
                "a process that serves several panes has to name the pane",
            )),
            (None, Origin::Outside) => Err(Error::new(
                ErrorKind::NoTarget,
                "name the pane: this process is in none (HERDR_PANE_ID is not set)",
            )),
        }
    }

    /// The id it was made with.
    pub fn pane(&self) -> &PaneId {
        &self.pane
    }

    /// The terminal, once it has been seen.
    pub fn terminal(&self) -> Option<&str> {
        self.terminal.as_deref()
    }
}

impl FromStr for Target {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |wrong: InvalidValue| Error::new(ErrorKind::InvalidInput, wrong.to_string());
        PaneId::parse(text).map(Self::new).map_err(wrong)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.pane.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pane_is_named_or_the_processs_own() {
        let own = Origin::Pane("w1:p2".parse().unwrap());
        let resolve = |named, origin: &Origin| {
            Target::resolve(named, origin).map(|t| t.to_string()).map_err(|error| error.kind())
        };
        assert_eq!(resolve(Some("w3:p1"), &own), Ok("w3:p1".to_owned()));
        assert_eq!(resolve(None, &own), Ok("w1:p2".to_owned()));
        assert_eq!(resolve(None, &Origin::Shared), Err(ErrorKind::NoTarget));
        assert_eq!(resolve(None, &Origin::Outside), Err(ErrorKind::NoTarget));
        assert_eq!(resolve(Some(""), &own), Err(ErrorKind::InvalidInput));
    }
}
