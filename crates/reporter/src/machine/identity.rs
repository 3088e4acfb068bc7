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
use super::{About, Identity, Now, PaneCall, PaneMachine, REQUEST_DEADLINE, Request};
use crate::config::UnverifiedPane;
use crate::diagnostic::DiagnosticKind;

/// A pane that is nowhere is sought again after this time, and then after twice
/// as long each time, up to …
const SEARCH_AGAIN: Duration = Duration::from_secs(30);
/// … this.
const SEARCH_AGAIN_CAP: Duration = Duration::from_secs(600);
/// Most panes that are looked through.
const SEARCH_MAX: usize = 256;

/// What is known of where the agent and its pane are.
#[derive(Debug, Default)]
pub(super) struct PaneIdentity {
    verdict: Option<Identity>,
    /// A pane was proven to be the agent's, of this server or an earlier one.
    was_proven: bool,
    /// The processes have been told and the shell has not judged them yet.
    awaits_verdict: bool,
    search: Option<Search>,
    /// The pane was sought in vain; until then nothing is asked.
    absent_until: Option<Duration>,
    /// How often in a row.
    in_vain: u32,
    /// What the server said of a pane that is not there.
    missing: Option<String>,
}

/// The search for a pane that is not found under its id.
#[derive(Debug)]
enum Search {
    List,
    Among(VecDeque<PaneId>),
}

/// Whether anything may be written to the pane.
#[expect(clippy::large_enum_variant, reason = "one at a time, and moved once")]
pub(super) enum Gate {
    Open,
    Ask(Request),
    /// The shell owes a verdict.
    Wait,
    /// The question failed and is asked again then.
    Rest(Duration),
    /// There is no such pane; it is sought again then.
    Absent(Duration),
    /// The pane is not ours.
    Closed,
}

impl PaneIdentity {
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
    pub(super) fn identity_gate(&mut self, now: Now) -> Gate {
        if self.identity.awaits_verdict {
            return Gate::Wait;
        }
        if let Some(until) = self.identity.absent_until.filter(|until| now.elapsed < *until) {
            return Gate::Absent(until);
        }
        if let Some(until) = self.rest_of(&Carries::Processes, now.elapsed) {
            // Whether all requests fail or only this one is still to be seen.
            if self.rests.is_puzzled(now.elapsed) {
                return Gate::Ask(self.send(Carries::Look, now, REQUEST_DEADLINE));
            }
            return Gate::Rest(until);
        }
        let asks = match &self.identity.search {
            Some(Search::List) => Some(Carries::Panes),
            Some(Search::Among(panes)) if panes.is_empty() => {
                self.not_found(now.elapsed);
                return self.identity_gate(now);
            }
            Some(Search::Among(_)) => Some(Carries::Processes),
            None if self.identity.verdict.is_none() && !self.claim.any_pane => {
                Some(Carries::Processes)
            }
            None => None,
        };
        if let Some(carries) = asks {
            return Gate::Ask(self.send(carries, now, REQUEST_DEADLINE));
        }
        match self.identity.verdict {
            _ if self.claim.any_pane => Gate::Open,
            None | Some(Identity::Proven) => Gate::Open,
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
    pub(super) fn identified(&mut self, identity: Identity) {
        if !std::mem::take(&mut self.identity.awaits_verdict) {
            return;
        }
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
        let denied = self.claim.unverified_pane == UnverifiedPane::Deny;
        let ours = identity == Identity::Proven || (identity == Identity::Unprovable && !denied);
        if !ours {
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
        self.identity.awaits_verdict = true;
        self.identified(Identity::Unprovable);
    }

    /// The pane's id leads nowhere: the pane may have moved before a handoff.
    /// Without a search, or after one in vain, it is told and asked for again
    /// much later.
    pub(super) fn seek_pane(&mut self, now: Duration, detail: String) {
        let searchable =
            !self.claim.any_pane && self.identity.verdict != Some(Identity::Unprovable);
        self.identity.missing = Some(detail);
        if searchable {
            self.identity.search = Some(Search::List);
        } else {
            self.not_found(now);
        }
    }

    /// A request of the search was refused.
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
        let wait = SEARCH_AGAIN.saturating_mul(1 << self.identity.in_vain.min(8));
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

    /// Asks for the processes of our pane, or of the next one that may be it.
    pub(super) fn processes_call(&self) -> PaneCall {
        let pane = match &self.identity.search {
            Some(Search::Among(panes)) => panes.front(),
            _ => None,
        };
        PaneCall::Processes(ProcessInfoGet::new(pane.unwrap_or(&self.claim.pane).clone()))
    }
}
