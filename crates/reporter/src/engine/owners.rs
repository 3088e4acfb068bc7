//! Within a process, the newest reporter of a pane owns it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use herdr_proto::PaneId;
use herdr_socket_transport::Endpoint;

use super::Shared;

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
