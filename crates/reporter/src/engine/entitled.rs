//! Whose pane it is comes before its lease, and both before a report.

use std::time::Duration;

use herdr_proto::{PaneId, ProcessInfo, ProcessInfoGet};
use herdr_socket_transport::{Peer, inode};

use super::changes::Changes;
#[cfg(unix)]
use super::forward::{Forwarded, Forwarder};
use super::run::{Engine, exchange};
use crate::machine::{Answer, Identity, Input, Lease, PaneCall, Step};

/// How long the question whose pane it is may take where only the lease waits
/// for its answer.
const QUESTION: Duration = Duration::from_millis(500);

impl Engine<'_> {
    /// Something is wanted of the pane, or somebody waits for its lease. As a
    /// rule the machine asks whose pane it is, and the lease comes after that.
    pub(super) async fn prepare(&mut self, changes: &Changes) {
        #[cfg(unix)]
        if self.forward().await {
            return;
        }
        let seek = self.any_pane
            || (changes.lease_awaited && !self.foreign && self.may_have_the_pane().await);
        if seek {
            self.lease.seek();
            self.try_lease().await;
        }
    }

    /// Asks whose pane it is for somebody who waits for the lease, whether there
    /// is something to report or not. A server that does not answer soon proves
    /// nothing.
    async fn may_have_the_pane(&mut self) -> bool {
        let call = PaneCall::Processes(ProcessInfoGet::new(self.pane.clone()));
        let asked = inode(self.client.socket());
        let (answer, peer) = exchange(self.client.clone(), call, QUESTION).await;
        let (Ok(Answer::Processes(info)), Some(peer)) = (answer, peer) else { return true };
        self.foreign = !self.allows(self.judge(&info, peer));
        self.processes = Some(((Ok(Answer::Processes(info)), Some(peer)), asked));
        self.shared.publish(&Step::default(), self.machine.counters(), self.status(), 0);
        !self.foreign
    }

    pub(super) async fn try_lease(&mut self) {
        if let Some(claim) = self.lease.inherit() {
            self.machine.inherit(claim);
        }
        if self.look_at_socket() {
            // Somebody else may have the pane there. The machine asks again.
            self.lease.give_up();
            return self.set_lease(Lease::Held);
        }
        #[cfg(unix)]
        if self.forward().await {
            return;
        }
        let lease = self.ask_for_lease().await;
        self.set_lease(lease);
    }

    async fn ask_for_lease(&mut self) -> Lease {
        let lease = self.lease.try_take(self.shared).await;
        #[cfg(unix)]
        if lease != Lease::Held {
            self.lease.ask_for_it(&self.endpoint, self.agent).await;
        }
        self.shared.set_lease(lease);
        lease
    }

    fn set_lease(&mut self, lease: Lease) {
        self.lease_state = lease;
        self.feed(Input::Lease(lease));
    }

    /// If this process has a supervisor, reports through it for as long as it
    /// lives; whether it did.
    #[cfg(unix)]
    async fn forward(&mut self) -> bool {
        let Some(socket) = self.lease.own_supervisor() else { return false };
        let Ok(forwarder) = Forwarder::connect(self.shared, socket).await else { return false };
        match forwarder.run().await {
            Forwarded::Closed(ended) => self.ended = Some(ended),
            Forwarded::SupervisorGone => {
                // It had the pane for us, so we may have it.
                self.lease.be_patient();
                self.shared.set_lease(Lease::Sought);
                self.set_lease(Lease::Sought);
                // What is wanted goes out again, on our own.
                self.shared.tell_again();
            }
        }
        true
    }

    /// Whose pane it is decides who may have its lease. That comes before the
    /// machine goes on.
    pub(super) async fn identified(&mut self, pane: PaneId, verdict: Identity) {
        if self.allows(verdict) {
            // Of other panes, as in a search, only proof counts.
            if pane != self.pane && verdict != Identity::Proven {
                return;
            }
            self.pane = pane;
            self.foreign = false;
            self.lease.seek();
            let lease = self.ask_for_lease().await;
            if lease != self.lease_state {
                self.set_lease(lease);
            }
        } else if pane == self.pane {
            self.foreign = true;
            self.lease.give_up();
        }
    }

    fn allows(&self, verdict: Identity) -> bool {
        self.any_pane
            || verdict == Identity::Proven
            || (verdict == Identity::Unprovable && self.allows_unprovable)
    }

    #[cfg(unix)]
    pub(super) fn judge(&self, info: &ProcessInfo, peer: Peer) -> Identity {
        super::identity::judge_identity(info, self.agent, self.client.socket(), peer)
    }

    #[cfg(not(unix))]
    pub(super) fn judge(&self, _: &ProcessInfo, _: Peer) -> Identity {
        let _ = self.agent;
        Identity::Unprovable
    }
}
