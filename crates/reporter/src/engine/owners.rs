//! Within a process, the newest reporter of a pane owns it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use herdr_proto::PaneId;
use herdr_socket_transport::Endpoint;

use super::Shared;
use super::lease::HeldLease;
use crate::machine::PredecessorClaim;

/// The key is the pane as the environment names it, because nothing may be looked up on a disk
/// here.
type Owners = BTreeMap<(PathBuf, PaneId), Weak<Shared>>;

static OWNERS: Mutex<Owners> = Mutex::new(BTreeMap::new());

/// Makes `successor` the pane's owner. Retires and returns the earlier owner, unless that has
/// already ended.
pub(super) fn take_over(pane: &Endpoint, successor: &Arc<Shared>) -> Option<Arc<Shared>> {
    let predecessor = {
        let mut owners = OWNERS.lock().unwrap_or_else(PoisonError::into_inner);
        owners.retain(|_, owner| owner.strong_count() > 0);
        let pane = (pane.socket().to_path_buf(), pane.pane().clone());
        owners.insert(pane, Arc::downgrade(successor))?.upgrade()?
    };
    predecessor.is_active().then(|| {
        predecessor.retire();
        predecessor
    })
}

/// What a retired reporter hands over to its successor in this process.
#[derive(Debug, Default)]
pub(super) struct Inheritance {
    pub(super) claim: Option<PredecessorClaim>,
    pub(super) lease: Option<HeldLease>,
}

impl Shared {
    /// A successor in this process owns the pane now, so this reporter reports nothing more and
    /// releases nothing.
    pub(crate) fn retire(&self) {
        self.lock().retired.get_or_insert_default();
        self.wake();
    }

    pub(crate) fn is_retired(&self) -> bool {
        self.lock().retired.is_some()
    }

    /// Stores what the successor needs, if there is one.
    pub(super) fn leave_to_successor(&self, claim: PredecessorClaim, lease: Option<HeldLease>) {
        if let Some(retired) = &mut self.lock().retired {
            *retired = Inheritance { claim: Some(claim), lease };
        }
    }

    /// What the successor's engine takes over: what is on the pane, and the held lease.
    pub(super) fn take_inheritance(&self) -> Inheritance {
        self.lock().retired.as_mut().map(std::mem::take).unwrap_or_default()
    }
}
