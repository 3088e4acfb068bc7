//! Whose pane is it, and where has it gone?
//!
//! The variables in the environment are inherited by everything that a pane
//! starts, also by what no longer runs there (failure B34). So before a claim
//! the server is asked for the pane's shell; the agent is in the pane if that
//! shell leads its session. A pane that is not found is sought the same way
//! (failure B32).

use std::collections::VecDeque;
use std::time::Duration;

use herdr_proto::{PaneId, PaneInfo, PaneList, ProcessInfoGet};

use super::plan::Confirmed;
use super::request::Carries;
use super::{Identity, PaneCall, PaneMachine, REQUEST_DEADLINE, Request};
use crate::config::UnverifiedPane;
use crate::diagnostic::DiagnosticKind;

/// A pane that is nowhere is sought again after this time.
const SEARCH_AGAIN: Duration = Duration::from_secs(30);
/// Most panes that are looked through.
const SEARCH_MAX: usize = 256;

/// What is known of where the agent and its pane are.
#[derive(Debug, Default)]
pub(super) struct Whereabouts {
    verdict: Option<Identity>,
    /// A pane was proven to be the agent's, of this server or an earlier one.
    was_proven: bool,
    /// The processes have been told and the shell has not judged them yet.
    awaits_verdict: bool,
    search: Option<Search>,
    searched_at: Option<Duration>,
}

/// The search for a pane that is not found under its id.
#[derive(Debug)]
enum Search {
    List,
    Among(VecDeque<PaneId>),
}

/// Whether the claim may be made.
#[expect(clippy::large_enum_variant, reason = "one at a time, and moved once")]
pub(super) enum Gate {
    Open,
    Ask(Request),
    /// The shell owes a verdict.
    Wait,
    /// The pane is not ours.
    Closed,
}

impl Whereabouts {
    /// Another server may have given the pane's id to somebody else.
    pub(super) fn ask_again(&mut self) {
        *self = Self { was_proven: self.was_proven, ..Self::default() };
    }

    pub(super) fn await_verdict(&mut self) {
        self.awaits_verdict = true;
    }

    pub(super) fn is_searching(&self) -> bool {
        self.search.is_some()
    }
}

impl PaneMachine {
    pub(super) fn whereabouts_gate(&mut self) -> Gate {
        if self.whereabouts.awaits_verdict {
            return Gate::Wait;
        }
        match &self.whereabouts.search {
            Some(Search::List) => return Gate::Ask(self.ask_for_panes()),
            Some(Search::Among(panes)) => match panes.front().cloned() {
                Some(pane) => return Gate::Ask(self.ask_for_processes(pane)),
                None => self.whereabouts.search = None,
            },
            None => {}
        }
        match self.whereabouts.verdict {
            _ if self.claim.any_pane => Gate::Open,
            None => Gate::Ask(self.ask_for_processes(self.claim.pane.clone())),
            Some(Identity::Proven) => Gate::Open,
            Some(Identity::Unprovable) if self.claim.unverified_pane == UnverifiedPane::Allow => {
                Gate::Open
            }
            Some(verdict) => {
                self.tell_not_ours(verdict);
                Gate::Closed
            }
        }
    }

    /// The shell has judged the processes that were asked for last.
    pub(super) fn identified(&mut self, now: Duration, identity: Identity) {
        if !std::mem::take(&mut self.whereabouts.awaits_verdict) {
            return;
        }
        if let Some(Search::Among(panes)) = &mut self.whereabouts.search {
            let pane = panes.pop_front();
            if let Some(pane) = pane.filter(|_| identity == Identity::Proven) {
                self.adopt(pane);
            }
            return;
        }
        self.whereabouts.verdict = Some(identity);
        self.whereabouts.was_proven |= identity == Identity::Proven;
        let denied = self.claim.unverified_pane == UnverifiedPane::Deny;
        let ours = identity == Identity::Proven || (identity == Identity::Unprovable && !denied);
        if !ours {
            // Whatever an earlier server had of us went with it.
            self.claimed = false;
            self.holder = None;
            self.confirmed = Confirmed::default();
        }
        if identity == Identity::Foreign && self.whereabouts.was_proven {
            // The agent has not moved, so its pane's id has gone to another.
            self.seek_pane(now);
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
        self.raise(DiagnosticKind::ForeignPane, detail);
    }

    /// The server does not say whose pane it is, which proves nothing.
    pub(super) fn unknown_whereabouts(&mut self, now: Duration) {
        self.whereabouts.awaits_verdict = true;
        self.identified(now, Identity::Unprovable);
    }

    /// The pane's id leads nowhere, or to another pane: ours may have moved
    /// before a handoff. Whether it is sought now.
    pub(super) fn seek_pane(&mut self, now: Duration) -> bool {
        let rested =
            self.whereabouts.searched_at.is_none_or(|then| now.saturating_sub(then) > SEARCH_AGAIN);
        if self.whereabouts.search.is_none() && rested {
            self.whereabouts.searched_at = Some(now);
            self.whereabouts.search = Some(Search::List);
        }
        self.whereabouts.search.is_some()
    }

    /// A request of the search was refused.
    pub(super) fn not_among(&mut self, carries: &Carries) {
        match &mut self.whereabouts.search {
            Some(Search::Among(panes)) if *carries == Carries::Processes => {
                panes.pop_front();
            }
            _ => self.whereabouts.search = None,
        }
    }

    pub(super) fn found_panes(&mut self, panes: Vec<PaneInfo>) {
        let panes = panes.into_iter().map(|pane| pane.pane_id).take(SEARCH_MAX).collect();
        self.whereabouts.search = Some(Search::Among(panes));
    }

    /// The pane that our own shell runs in, whatever it is called now.
    fn adopt(&mut self, pane: PaneId) {
        self.claim.pane = pane;
        self.retry = None;
        self.whereabouts.search = None;
        self.whereabouts.verdict = Some(Identity::Proven);
        self.whereabouts.was_proven = true;
        self.backoff.succeed();
        self.rearm(&[DiagnosticKind::ProtocolRejected]);
    }

    fn ask_for_processes(&mut self, pane: PaneId) -> Request {
        let call = PaneCall::Processes(ProcessInfoGet::new(pane));
        self.ask(call, Carries::Processes, REQUEST_DEADLINE)
    }

    fn ask_for_panes(&mut self) -> Request {
        self.ask(PaneCall::List(PaneList::default()), Carries::Panes, REQUEST_DEADLINE)
    }
}
