use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex as StdMutex, PoisonError};

use herdr_proto::{
    AgentGet, AgentInfo, PaneGet, PaneId, PaneInfo, PaneList, ProcessInfo, ProcessInfoGet,
    canonical_label,
};
use herdr_socket_transport::Client;
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::error::{Error, ErrorKind};
use crate::profile::{Profile, Profiles};
use crate::push::Journal;
use crate::target::Target;

/// Reads and drives the panes of one server.
///
/// Clones share the added profiles, the record of operations, and the rule that only one push
/// at a time types into a pane. Every method needs a tokio runtime with I/O and time.
#[derive(Debug, Clone)]
pub struct PaneControl {
    shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) client: Client,
    pub(crate) profiles: Profiles,
    pub(crate) journal: Journal,
    /// A lock for each terminal, held by the push that types into it.
    typing: StdMutex<HashMap<String, Arc<Mutex<()>>>>,
}

/// Makes a [`PaneControl`].
#[derive(Debug)]
#[must_use]
pub struct Builder {
    client: Client,
    profiles: Profiles,
    journal: Journal,
}

impl Builder {
    /// Adds a ready profile. It takes precedence over an earlier one of the same name.
    pub fn profile(mut self, profile: Arc<dyn Profile>) -> Self {
        self.profiles.add(profile);
        self
    }

    /// Keeps the record of operations in this folder instead of in memory, so that it is shared
    /// with other processes. The folder is made when it is first needed, for this user alone.
    pub fn operations_in(mut self, folder: impl Into<PathBuf>) -> Self {
        self.journal = Journal::Folder(folder.into());
        self
    }

    /// Makes the [`PaneControl`]. Nothing is checked yet.
    pub fn build(self) -> PaneControl {
        let Self { client, profiles, journal } = self;
        let shared = Shared { client, profiles, journal, typing: StdMutex::default() };
        PaneControl { shared: Arc::new(shared) }
    }
}

/// A pane, with its present id.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) info: PaneInfo,
    pub(crate) target: Target,
}

impl Found {
    pub(crate) fn id(&self) -> PaneId {
        self.info.pane_id.clone()
    }

    /// What identifies the pane: its terminal, or its id on a server that has no terminal ids.
    pub(crate) fn terminal(&self) -> &str {
        self.info.terminal_id.as_deref().unwrap_or(self.info.pane_id.as_str())
    }

    /// The number of rows of its screen.
    pub(crate) fn rows(&self) -> u32 {
        let rows = self.info.scroll.map_or(0, |scroll| scroll.viewport_rows);
        u32::try_from(rows).unwrap_or(u32::MAX)
    }
}

impl PaneControl {
    /// The panes of the server behind this client, with the profiles of this crate.
    pub fn new(client: Client) -> Self {
        Self::builder(client).build()
    }

    /// As [`new`](Self::new), with options.
    pub fn builder(client: Client) -> Builder {
        Builder { client, profiles: Profiles::default(), journal: Journal::default() }
    }

    /// The client of the server.
    pub fn client(&self) -> &Client {
        &self.shared.client
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Every pane, in the server's order.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NoServer`] and the other kinds for a server that does not answer.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn list(&self) -> Result<Vec<PaneInfo>, Error> {
        Ok(self.client().call(&PaneList::default()).await?.panes)
    }

    /// Finds the pane of a target, even if it has moved.
    pub(crate) async fn find(&self, target: &Target) -> Result<Found, Error> {
        let by_id = self.client().call(&PaneGet::new(target.pane.clone())).await;
        let info = match by_id.map(|reply| reply.pane).map_err(Error::from) {
            Ok(info) if is_of(&info, target) => info,
            Err(error) if error.kind() != ErrorKind::PaneGone => return Err(error),
            _ => self.find_elsewhere(target).await?,
        };
        let terminal = info.terminal_id.clone().or_else(|| target.terminal.clone());
        let target = Target { pane: info.pane_id.clone(), terminal };
        Ok(Found { info, target })
    }

    /// Finds the pane by its terminal, which stays when the id changes, or by the agent's name.
    async fn find_elsewhere(&self, target: &Target) -> Result<PaneInfo, Error> {
        let gone = || Error::pane_gone(target.pane.as_str());
        if target.terminal.is_some() {
            let mut panes = self.list().await?.into_iter();
            return panes.find(|pane| pane.terminal_id == target.terminal).ok_or_else(gone);
        }
        let agent = self.agent(&target.pane).await?.ok_or_else(gone)?;
        match self.client().call(&PaneGet::new(agent.pane_id)).await.map_err(Error::from) {
            Ok(reply) => Ok(reply.pane),
            Err(error) if error.kind() == ErrorKind::PaneGone => Err(gone()),
            Err(error) => Err(error),
        }
    }

    /// The agent of a pane, by its present id; `None` if it has none.
    pub(crate) async fn agent(&self, pane: &PaneId) -> Result<Option<AgentInfo>, Error> {
        match self.client().call(&AgentGet::of(pane)).await.map_err(Error::from) {
            Ok(reply) => Ok(Some(reply.agent)),
            Err(error) if matches!(error.kind(), ErrorKind::NoAgent | ErrorKind::PaneGone) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The processes of a pane; `None` if the server does not tell.
    pub(crate) async fn processes(&self, pane: &PaneId) -> Result<Option<ProcessInfo>, Error> {
        match self.client().call(&ProcessInfoGet::new(pane.clone())).await.map_err(Error::from) {
            Ok(reply) => Ok(Some(reply.process_info)),
            Err(error) if error.kind() == ErrorKind::UnusableServer => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The profile of this name, or the one for the agent in the pane, or the shell's.
    pub(crate) fn profile(
        &self,
        name: Option<&str>,
        pane: &PaneInfo,
    ) -> Result<Arc<dyn Profile>, Error> {
        let profiles = &self.shared.profiles;
        let label = pane.agent.as_deref().map(|label| canonical_label(label).unwrap_or(label));
        let name = name.or(label).unwrap_or("shell");
        profiles.named(name).cloned().ok_or_else(|| {
            let names = profiles.names();
            let detail = format!("there is no profile {name:?}; name one of {names}");
            Error::new(ErrorKind::NoProfile, detail)
        })
    }

    /// Waits until no other push of this process types into the terminal.
    pub(crate) async fn alone(&self, terminal: &str) -> OwnedMutexGuard<()> {
        let lock = {
            let mut typing = self.shared.typing.lock().unwrap_or_else(PoisonError::into_inner);
            typing.retain(|_, lock| Arc::strong_count(lock) > 1);
            Arc::clone(typing.entry(terminal.to_owned()).or_default())
        };
        lock.lock_owned().await
    }
}

/// Whether this is the target's pane and not another one that got its id.
fn is_of(info: &PaneInfo, target: &Target) -> bool {
    target.terminal.is_none() || info.terminal_id.is_none() || info.terminal_id == target.terminal
}
