//! Whose pane is it, and where has it gone?
//!
//! The variables in the environment are inherited by everything that a pane
//! starts, also by what no longer runs there (failure B34). So before a claim
//! the server is asked for the pane's shell; the agent is in the pane if that
//! shell leads its session. A pane that is not found is sought the same way
//! (failure B32).

use std::collections::VecDeque;
use std::time::Duration;

use herdr_proto::{PaneId, PaneInfo, ProcessInfoGet};

use super::request::Carries;
use super::timing::Rests;
use super::{
    About, Identity, Now, PaneCall, PaneMachine, REQUEST_DEADLINE, Request, SOCKET_CHECK, Step,
};
use crate::config::UnverifiedPane;
use crate::diagnostic::DiagnosticKind;

/// A pane that is nowhere is sought again after this time, and then after twice
/// as long each time, up to …
const SEARCH_AGAIN: Duration = Duration::from_secs(30);
/// … this.
const SEARCH_AGAIN_CAP: Duration = Duration::from_secs(600);
/// How long the question whose pane it is may take where only the lease waits
/// for its answer.
const LEASE_QUESTION: Duration = Duration::from_millis(500);
/// A server that has just come back may not have restored its panes yet, so the
/// first searches on it follow each other after 1, 2, 4 and 8 s.
const SEARCH_SOON: Duration = Duration::from_secs(1);
const SOON_SEARCHES: u32 = 4;
/// Most panes that are looked through.
const SEARCH_MAX: usize = 256;

#[derive(Debug, Default)]
pub(super) struct PaneIdentity {
    verdict: Option<Identity>,
    /// A pane was proven to be the agent's, of this server or an earlier one.
    was_proven: bool,
    /// The question whose pane it is has failed.
    pub(super) unanswered: bool,
    search: Option<Search>,
    /// The pane was sought in vain; until then nothing is asked.
    absent_until: Option<Duration>,
    in_vain: u32,
    /// The server came back, and the pane was not seen on it yet.
    server_is_new: bool,
    /// What the server said of a pane that is not there.
    missing: Option<String>,
}

/// The search for a pane that is not found under its id.
#[derive(Debug)]
enum Search {
    List,
    Among(VecDeque<PaneId>),
}

impl PaneIdentity {
    /// Another server may have given the pane's id to somebody else.
    pub(super) fn ask_again(&mut self) {
        *self = Self { was_proven: self.was_proven, server_is_new: true, ..Self::default() };
    }

    pub(super) fn is_searching(&self) -> bool {
        self.search.is_some()
    }
}

impl PaneMachine {
    /// Whether it is known that the pane may be written to. What there is to do
    /// before goes into the step.
    pub(super) fn may_write(&mut self, now: Now, step: &mut Step) -> bool {
        let elapsed = now.elapsed;
        if let Some(until) = self.identity.absent_until.filter(|until| elapsed < *until) {
            step.quiet = true;
            step.wake = Some(until);
            return false;
        }
        let resting = self.rest_of(&Carries::Processes, elapsed);
        let asks = match &self.identity.search {
            // Whether all requests fail or only this one is still to be seen.
            _ if resting.is_some() => {
                step.wake = resting.map(|until| until.min(elapsed + SOCKET_CHECK));
                self.rests.is_puzzled(elapsed).then_some(Carries::Look)
            }
            Some(Search::List) => Some(Carries::Panes),
            Some(Search::Among(panes)) if panes.is_empty() => {
                self.not_found(elapsed);
                return self.may_write(now, step);
            }
            Some(Search::Among(_)) => Some(Carries::Processes),
            None => {
                let asks = self.identity.verdict.is_none() && !self.claim.config.any_pane;
                asks.then_some(Carries::Processes)
            }
        };
        step.request = asks.map(|carries| self.send(carries, now, REQUEST_DEADLINE));
        if step.request.is_some() || resting.is_some() {
            return false;
        }
        let denied = self.identity.verdict.filter(|verdict| !self.allows(*verdict));
        if let Some(verdict) = denied {
            self.tell_not_ours(verdict);
            step.quiet = true;
        }
        denied.is_none()
    }

    /// Whether a pane may be claimed of which this is proven.
    fn allows(&self, identity: Identity) -> bool {
        match identity {
            _ if self.claim.config.any_pane => true,
            Identity::Proven => true,
            Identity::Unprovable => self.claim.config.unverified_pane == UnverifiedPane::Allow,
            Identity::Foreign => false,
        }
    }

    /// Whether the lease of the pane is to be taken, or left to others; `None`
    /// while it is not known whose pane it is.
    pub fn may_have_pane(&self) -> Option<bool> {
        match self.identity.verdict {
            Some(verdict) => Some(self.allows(verdict)),
            // A server that does not answer proves nothing.
            None if self.lease_awaited
                && (self.identity.unanswered || self.claim.config.any_pane) =>
            {
                Some(true)
            }
            None => (self.claim.config.any_pane && self.wants).then_some(true),
        }
    }

    /// Asks whose pane it is for somebody who waits for its lease.
    pub(super) fn question_for_the_lease(&mut self, now: Now) -> Option<Request> {
        let asks = self.lease_awaited && self.may_have_pane().is_none();
        asks.then(|| self.send(Carries::Processes, now, LEASE_QUESTION))
    }

    /// What the processes prove that were asked for.
    pub(super) fn identified(&mut self, identity: Identity) {
        if let Some(Search::Among(panes)) = &mut self.identity.search {
            let pane = panes.pop_front();
            if let Some(pane) = pane.filter(|_| identity == Identity::Proven) {
                self.adopt(pane);
            }
            return;
        }
        self.identity.verdict = Some(identity);
        self.identity.was_proven |= identity == Identity::Proven;
        self.identity.in_vain = 0;
        self.identity.server_is_new = false;
        if !self.allows(identity) {
            // Whatever an earlier server had of us went with it.
            self.nothing_left();
        }
        if identity == Identity::Foreign && self.identity.was_proven {
            // The agent has not moved, so its pane's id has gone to another.
            self.identity.search = Some(Search::List);
        }
    }

    fn tell_not_ours(&mut self, verdict: Identity) {
        let detail = if verdict == Identity::Foreign {
            "this process does not run in the pane that HERDR_PANE_ID names; nothing is \
             reported (any_pane reports all the same)"
        } else {
            "whether this process runs in the pane cannot be told from here, and \
             unverified_pane is deny; nothing is reported"
        };
        self.raise(DiagnosticKind::ForeignPane, About::Pane, detail);
    }

    /// The server does not say whose pane it is, which proves nothing.
    pub(super) fn unprovable(&mut self) {
        self.rests.over(super::request::Topic::Identity);
        self.identified(Identity::Unprovable);
    }

    /// The pane's id leads nowhere: the pane may have moved before a handoff.
    /// Without a search, or after one in vain, it is told and asked for again
    /// much later.
    pub(super) fn seek_pane(&mut self, now: Duration, detail: String) {
        let searchable =
            !self.claim.config.any_pane && self.identity.verdict != Some(Identity::Unprovable);
        self.identity.missing = Some(detail);
        if searchable {
            self.identity.search = Some(Search::List);
        } else {
            self.not_found(now);
        }
    }

    pub(super) fn not_among(&mut self, now: Duration, carries: &Carries) {
        match &mut self.identity.search {
            Some(Search::Among(panes)) if *carries == Carries::Processes => {
                panes.pop_front();
            }
            _ => self.not_found(now),
        }
    }

    pub(super) fn found_panes(&mut self, panes: Vec<PaneInfo>) {
        let panes = panes.into_iter().map(|pane| pane.pane_id).take(SEARCH_MAX).collect();
        self.identity.search = Some(Search::Among(panes));
    }

    /// The pane is nowhere. Where its id leads to another pane, that one is
    /// left alone; where it leads nowhere, it is asked for again.
    fn not_found(&mut self, now: Duration) {
        self.identity.search = None;
        let Some(detail) = self.identity.missing.take() else { return };
        let pane = &self.claim.pane;
        let detail = format!(
            "{detail}; the server has no pane {pane}: it was closed, or the id is of another \
             server"
        );
        self.raise(DiagnosticKind::ProtocolRejected, About::Pane, detail);
        let soon = if self.identity.server_is_new { SOON_SEARCHES } else { 0 };
        let wait = match self.identity.in_vain.checked_sub(soon) {
            None => SEARCH_SOON.saturating_mul(1 << self.identity.in_vain),
            Some(times) => SEARCH_AGAIN.saturating_mul(1 << times.min(8)),
        };
        self.identity.in_vain += 1;
        self.identity.absent_until = Some(now + wait.min(SEARCH_AGAIN_CAP));
        self.identity.verdict = None;
    }

    /// The pane that our own shell runs in, whatever it is called now.
    fn adopt(&mut self, pane: PaneId) {
        self.claim.pane = pane;
        self.present_id = None;
        self.rests = Rests::default();
        self.identity = PaneIdentity {
            verdict: Some(Identity::Proven),
            was_proven: true,
            ..PaneIdentity::default()
        };
        self.raised.remove(&DiagnosticKind::ProtocolRejected);
    }

    pub(super) fn processes_call(&self) -> PaneCall {
        let pane = match &self.identity.search {
            Some(Search::Among(panes)) => panes.front(),
            _ => None,
        };
        PaneCall::Processes(ProcessInfoGet::new(pane.unwrap_or(&self.claim.pane).clone()))
    }
}
