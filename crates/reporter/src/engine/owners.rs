//! Within a process, the newest reporter of a pane owns it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::Shared;
use crate::lease::LeaseFile;

static OWNERS: Mutex<BTreeMap<LeaseFile, Weak<Shared>>> = Mutex::new(BTreeMap::new());

/// Makes `successor` the pane's owner and retires the one before, which is
/// returned if it has not ended by itself.
pub(crate) fn take_over(pane: LeaseFile, successor: &Arc<Shared>) -> Option<Arc<Shared>> {
    let mut owners = OWNERS.lock().unwrap_or_else(PoisonError::into_inner);
    owners.retain(|_, owner| owner.strong_count() > 0);
    let before = owners.insert(pane, Arc::downgrade(successor))?.upgrade()?;
    before.is_active().then(|| {
        before.retire();
        before
    })
}
