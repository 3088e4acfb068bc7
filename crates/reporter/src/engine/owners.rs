//! Within a process, the newest reporter of a pane owns it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use herdr_proto::PaneId;
use herdr_socket_transport::Endpoint;

use super::Shared;
use super::lease::HeldLease;
use crate::machine::PredecessorClaim;

/// By the pane as the host names it: nothing is looked up on a disk here.
type Owners = BTreeMap<(PathBuf, PaneId), Weak<Shared>>;

static OWNERS: Mutex<Owners> = Mutex::new(BTreeMap::new());

/// Makes `successor` the pane's owner and retires the one before, which is
/// returned if it has not ended by itself.
pub(super) fn take_over(pane: &Endpoint, successor: &Arc<Shared>) -> Option<Arc<Shared>> {
    let before = {
        let mut owners = OWNERS.lock().unwrap_or_else(PoisonError::into_inner);
        owners.retain(|_, owner| owner.strong_count() > 0);
        let pane = (pane.socket().to_path_buf(), pane.pane().clone());
        owners.insert(pane, Arc::downgrade(successor))?.upgrade()?
    };
    before.is_active().then(|| {
        before.retire();
        before
    })
}

/// What a retired reporter leaves to its successor in this process.
#[derive(Debug, Default)]
pub(super) struct Inheritance {
    pub(super) claim: Option<PredecessorClaim>,
    pub(super) lease: Option<HeldLease>,
}

impl Shared {
    /// A successor of this process owns the pane: report nothing more, and
    /// release nothing.
    pub(crate) fn retire(&self) {
        self.lock().retired.get_or_insert_default();
        self.wake();
    }

    pub(crate) fn is_retired(&self) -> bool {
        self.lock().retired.is_some()
    }

    /// Leaves what a successor needs, if there is one.
    pub(super) fn leave(&self, claim: PredecessorClaim, lease: Option<HeldLease>) {
        if let Some(retired) = &mut self.lock().retired {
            *retired = Inheritance { claim: Some(claim), lease };
        }
    }

    /// For a successor's engine: what was on the pane, and the lease, still
    /// held.
    pub(super) fn take_inheritance(&self) -> Inheritance {
        self.lock().retired.as_mut().map(std::mem::take).unwrap_or_default()
    }
}
