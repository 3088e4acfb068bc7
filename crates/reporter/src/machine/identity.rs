//! Whether the agent runs in the pane, and the search for its pane.
//!
//! A pane's variables are inherited by everything that the pane starts, even by what no longer runs
//! there (failure B34). So before a claim the server is asked for the processes of the pane: the
//! agent is in the pane if the pane's shell leads the agent's session. A pane that is not found
//! under its id is searched for in the same way (failure B32).

use std::collections::VecDeque;
use std::time::Duration;

use herdr_proto::{PaneId, PaneInfo, ProcessInfoGet};

use super::request::Action;
use super::timing::{Backoffs, RetryGroup};
use super::{
    Identity, Now, PaneCall, PaneMachine, REQUEST_DEADLINE, Request, SOCKET_CHECK, Step, Subject,
};
use crate::config::UnverifiedPane;
use crate::diagnostic::DiagnosticKind;

/// The wait after a search that found nothing. It doubles up to [`SEARCH_INTERVAL_MAX`].
const SEARCH_INTERVAL: Duration = Duration::from_secs(30);
const SEARCH_INTERVAL_MAX: Duration = Duration::from_secs(600);
/// A server that has just come back may not have restored its panes yet, so the waits after the
/// first searches are 1, 2, 4 and 8 s (failure B63).
const EARLY_SEARCH_INTERVAL: Duration = Duration::from_secs(1);
const EARLY_SEARCHES: u32 = 4;
/// The deadline of the question about the pane's processes while only the lease needs the answer.
const LEASE_QUESTION_DEADLINE: Duration = Duration::from_millis(500);
/// The most panes that a search looks at.
const SEARCH_MAX: usize = 256;

#[derive(Debug, Default)]
pub(super) struct PaneIdentity {
    /// `None` until the server has answered.
    verdict: Option<Identity>,
    /// The pane was proven to be the agent's, on this server or an earlier one.
    was_proven: bool,
    /// The question about the pane's processes has failed.
    pub(super) unanswered: bool,
    search: Option<Search>,
    /// A search has found nothing; nothing is sent until this time.
    search_again_at: Option<Duration>,
    failed_searches: u32,
    /// The server may have been replaced, and the pane was not identified on it yet.
    server_may_be_new: bool,
    /// What the server said when it did not find the pane.
    not_found_detail: Option<String>,
}

/// The search for a pane that is not found under its id.
#[derive(Debug)]
enum Search {
    /// The server is asked for its panes.
    ListPanes,
    /// The processes of these panes are asked for, one pane after the other.
    CheckPanes(VecDeque<PaneId>),
}

impl PaneIdentity {
    /// Another server may have given the pane's id to a different pane.
    pub(super) fn ask_again(&mut self) {
        *self = Self { was_proven: self.was_proven, server_may_be_new: true, ..Self::default() };
    }

    pub(super) fn is_searching(&self) -> bool {
        self.search.is_some()
    }
}

impl PaneMachine {
    /// Whether the pane may be written to. A request that has to be answered first goes into the
    /// step.
    pub(super) fn may_write_to_pane(&mut self, now: Now, step: &mut Step) -> bool {
        let elapsed = now.elapsed;
        if let Some(until) = self.identity.search_again_at.filter(|until| elapsed < *until) {
            step.quiet = true;
            step.wake = Some(until);
            return false;
        }
        let backoff = self.backoff_until(&Action::GetProcesses, elapsed);
        let asks = match &self.identity.search {
            // A read-back is to find out whether all requests fail or only these.
            _ if backoff.is_some() => {
                step.wake = backoff.map(|until| until.min(elapsed + SOCKET_CHECK));
                self.backoffs.needs_probe(elapsed).then_some(Action::ReadBack)
            }
            Some(Search::ListPanes) => Some(Action::ListPanes),
            Some(Search::CheckPanes(panes)) if panes.is_empty() => {
                self.not_found(elapsed);
                return self.may_write_to_pane(now, step);
            }
            None if self.identity.verdict.is_some() || self.claim.config.any_pane => None,
            Some(Search::CheckPanes(_)) | None => Some(Action::GetProcesses),
        };
        step.request = asks.map(|action| self.send(action, now, REQUEST_DEADLINE));
        if step.request.is_some() || backoff.is_some() {
            return false;
        }
        let denied = self.identity.verdict.filter(|verdict| !self.allows(*verdict));
        if let Some(verdict) = denied {
            self.raise_foreign_pane(verdict);
            step.quiet = true;
        }
        denied.is_none()
    }

    /// Whether a pane with this verdict may be claimed.
    fn allows(&self, identity: Identity) -> bool {
        let config = &self.claim.config;
        match identity {
            Identity::Proven => true,
            Identity::Unprovable if config.unverified_pane == UnverifiedPane::Allow => true,
            _ => config.any_pane,
        }
    }

    /// Whether the lease of the pane should be taken, or left to others; `None` until the question
    /// about the pane's processes is answered.
    pub fn may_have_pane(&self) -> Option<bool> {
        match self.identity.verdict {
            Some(verdict) => Some(self.allows(verdict)),
            None if self.claim.config.any_pane => {
                (self.lease_awaited || self.wants_pane).then_some(true)
            }
            // A server that does not answer proves nothing about the pane.
            None => (self.lease_awaited && self.identity.unanswered).then_some(true),
        }
    }

    /// Asks for the pane's processes if only a caller that waits for the lease needs the answer.
    pub(super) fn question_for_the_lease(&mut self, now: Now) -> Option<Request> {
        let asks = self.lease_awaited && self.may_have_pane().is_none();
        asks.then(|| self.send(Action::GetProcesses, now, LEASE_QUESTION_DEADLINE))
    }

    /// Takes in what the processes of a pane prove.
    pub(super) fn identified(&mut self, identity: Identity) {
        if let Some(Search::CheckPanes(panes)) = &mut self.identity.search {
            let pane = panes.pop_front();
            if let Some(pane) = pane.filter(|_| identity == Identity::Proven) {
                self.adopt_pane(pane);
            }
            return;
        }
        self.identity.verdict = Some(identity);
        self.identity.was_proven |= identity == Identity::Proven;
        self.identity.failed_searches = 0;
        self.identity.server_may_be_new = false;
        if !self.allows(identity) {
            // What an earlier server had of ours is gone with it.
            self.pane_gone();
        }
        if identity == Identity::Foreign && self.identity.was_proven {
            // The agent was in this pane before and cannot leave it, so the id now names another
            // pane.
            self.identity.search = Some(Search::ListPanes);
        }
    }

    fn raise_foreign_pane(&mut self, verdict: Identity) {
        let detail = if verdict == Identity::Foreign {
            "this process does not run in the pane that HERDR_PANE_ID names; nothing is \
             reported (any_pane reports all the same)"
        } else {
            "whether this process runs in the pane cannot be told from here, and \
             unverified_pane is deny; nothing is reported"
        };
        self.raise_once(DiagnosticKind::ForeignPane, Subject::Pane, detail);
    }

    /// The server does not name the pane's processes, which proves nothing.
    pub(super) fn unprovable(&mut self) {
        self.backoffs.clear(RetryGroup::Identity);
        self.identified(Identity::Unprovable);
    }

    /// The server has no pane with this id: the pane may have moved before a handoff. Where a
    /// search could prove nothing, the server is asked again much later.
    pub(super) fn search_for_pane(&mut self, now: Duration, detail: String) {
        let searchable =
            !self.claim.config.any_pane && self.identity.verdict != Some(Identity::Unprovable);
        self.identity.not_found_detail = Some(detail);
        if searchable {
            self.identity.search = Some(Search::ListPanes);
        } else {
            self.not_found(now);
        }
    }

    pub(super) fn next_candidate(&mut self, now: Duration, action: &Action) {
        match &mut self.identity.search {
            Some(Search::CheckPanes(panes)) if *action == Action::GetProcesses => {
                panes.pop_front();
            }
            _ => self.not_found(now),
        }
    }

    pub(super) fn found_panes(&mut self, panes: Vec<PaneInfo>) {
        let panes = panes.into_iter().map(|pane| pane.pane_id).take(SEARCH_MAX).collect();
        self.identity.search = Some(Search::CheckPanes(panes));
    }

    /// The search has found nothing. If the server did not know the pane's id, this is reported,
    /// and the server is asked again later. If the id now names another pane, that pane is left
    /// alone.
    fn not_found(&mut self, now: Duration) {
        self.identity.search = None;
        let Some(detail) = self.identity.not_found_detail.take() else { return };
        let pane = &self.claim.pane;
        let detail = format!(
            "{detail}; the server has no pane {pane}: it was closed, or the id is of another \
             server"
        );
        self.raise_once(DiagnosticKind::ProtocolRejected, Subject::Pane, detail);
        let soon = if self.identity.server_may_be_new { EARLY_SEARCHES } else { 0 };
        let wait = match self.identity.failed_searches.checked_sub(soon) {
            None => EARLY_SEARCH_INTERVAL.saturating_mul(1 << self.identity.failed_searches),
            Some(times) => SEARCH_INTERVAL.saturating_mul(1 << times.min(8)),
        };
        self.identity.failed_searches += 1;
        self.identity.search_again_at = Some(now + wait.min(SEARCH_INTERVAL_MAX));
        self.identity.verdict = None;
    }

    /// The pane is the agent's own under a new id.
    fn adopt_pane(&mut self, pane: PaneId) {
        self.claim.pane = pane;
        self.current_pane_id = None;
        self.backoffs = Backoffs::default();
        self.identity = PaneIdentity {
            verdict: Some(Identity::Proven),
            was_proven: true,
            ..PaneIdentity::default()
        };
        self.raised_diagnostics.remove(&DiagnosticKind::ProtocolRejected);
    }

    pub(super) fn processes_call(&self) -> PaneCall {
        let pane = match &self.identity.search {
            Some(Search::CheckPanes(panes)) => panes.front(),
            _ => None,
        };
        PaneCall::Processes(ProcessInfoGet::new(pane.unwrap_or(&self.claim.pane).clone()))
    }
}
