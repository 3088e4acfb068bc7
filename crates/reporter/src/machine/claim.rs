//! What a machine is for, and what it hands over to its successor.

use herdr_proto::{AgentLabel, PaneId, ReleaseAgent, Seq, SourceId, TokenKey};

use super::PaneMachine;
use super::request::Action;
use super::slot::OnServer;
use crate::config::Config;
use crate::event::AgentEvent;
use crate::leavings::Leavings;

/// What a machine is for. It does not change, except for the pane's id if the pane is found again
/// under another one.
///
/// The machine claims the row, keeps it true, and clears everything at the end. With
/// [`Config::leave_state`] Herdr says the state of the agent, and title, labels and tokens are
/// shown under Herdr's row; if the host says a state and Herdr shows no agent for three seconds,
/// the machine claims the row until Herdr shows one.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Claim {
    pub pane: PaneId,
    pub source: SourceId,
    pub agent: AgentLabel,
    pub config: Config,
    /// The machine reports this once, on top of what the pane shows, and clears nothing at the end.
    /// `None` for a reporter that stays.
    pub once: Option<OneShot>,
    /// Seed of the jitter that spreads the connection attempts of many reporters.
    pub seed: u64,
}

/// The report of a command that reports once and ends.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OneShot {
    pub events: Vec<AgentEvent>,
    /// When the command's process was started, in microseconds since 1970. It is the sequence
    /// number of the state, so that the command that was started last wins.
    pub started: u64,
    /// A release leaves title, labels and tokens on the pane. Default: false.
    pub only_the_row: bool,
    /// What a killed reporter has left on the pane; it is cleared. Default: nothing.
    pub left: Leavings,
}

impl OneShot {
    pub fn new(events: Vec<AgentEvent>, started: u64) -> Self {
        Self { events, started, only_the_row: false, left: Leavings::default() }
    }
}

impl Claim {
    pub fn new(pane: PaneId, source: SourceId, agent: AgentLabel, config: Config) -> Self {
        Self { pane, source, agent, config, once: None, seed: 0 }
    }
}

/// What is on a pane when another reporter of the same process replaces its reporter.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PredecessorClaim {
    /// The claim that made the row; `None` without a row.
    claim: Option<Claim>,
    last_seq: u64,
    tokens: Vec<TokenKey>,
}

impl PaneMachine {
    /// Takes a predecessor's claim over, with the pane's present id and with higher sequence
    /// numbers. The row stays as it is until [`Input::Wanted`]; then what is not wanted any more is
    /// cleared. If the pane is given back before anything was reported, the row is released in the
    /// predecessor's name.
    ///
    /// [`Input::Wanted`]: super::Input::Wanted
    pub fn inherit(&mut self, predecessor: PredecessorClaim) {
        self.seq.jump_over(predecessor.last_seq);
        let Some(claim) = predecessor.claim else { return };
        self.inherited = !self.wants_pane;
        // The predecessor may have found the pane again under another id.
        self.claim.pane.clone_from(&claim.pane);
        self.predecessor = Some(claim);
        self.state.on_server = OnServer::Unknown;
        self.presentation.on_server = OnServer::Unknown;
        for key in predecessor.tokens {
            self.tokens.slots.entry(key).or_default().on_server = OnServer::Unknown;
        }
    }

    /// Sets what a killed reporter has left on the pane. It is cleared with the first claim.
    pub fn take_off(&mut self, left: Leavings) {
        self.leavings = left;
        self.leavings_cleared = false;
    }

    /// What stays on the pane if this process is killed now.
    pub fn leavings(&mut self) -> Leavings {
        let presented = self.presentation.may_be_on_server() || self.reason.may_be_on_server();
        let earlier = Some(&self.leavings).filter(|_| !self.leavings_cleared);
        let mut left = earlier.cloned().unwrap_or_default();
        if presented {
            left.presented_by = Some(self.active_claim().source.clone());
        }
        for (key, slot) in &self.tokens.slots {
            match &slot.on_server {
                OnServer::Known(text) => left.add(key, text),
                // The server may have any of the texts that were sent so far.
                OnServer::Unknown => left.keep(key, &self.leavings),
                OnServer::Absent => {}
            }
        }
        if let Some(Action::PatchTokens(patch)) = self.in_flight.as_ref().map(|sent| &sent.action) {
            let set = patch.iter().filter_map(|(key, text)| Some((key, text?)));
            set.for_each(|(key, text)| left.add(key, text));
        }
        self.leavings.clone_from(&left);
        left
    }

    /// What a successor has to know to take over the claim.
    pub fn predecessor_claim(&self) -> PredecessorClaim {
        let claim = self.predecessor.as_ref().unwrap_or(&self.claim);
        let tokens = self.tokens.slots.iter().filter(|(_, slot)| slot.may_be_on_server());
        PredecessorClaim {
            claim: self.state.may_be_on_server().then(|| claim.clone()),
            last_seq: self.seq.last(),
            tokens: tokens.map(|(key, _)| key.clone()).collect(),
        }
    }

    /// The release that gives the pane back if the machine itself has failed; `None` if it has sent
    /// no report.
    pub fn last_release(&self) -> Option<ReleaseAgent> {
        let claim = self.active_claim();
        let (pane, source) = (claim.pane.clone(), claim.source.clone());
        let mut release = ReleaseAgent::new(pane, source, claim.agent.clone());
        let last = Some(self.seq.last()).filter(|last| *last > 0)?;
        release.seq = Some(Seq::new(last.saturating_add(1)));
        Some(release)
    }

    /// The claim whose source and label requests use. It is the predecessor's while nothing of ours
    /// is wanted: a row can be released only by the source and label that made it (protocol §5.4
    /// C2).
    pub(super) fn active_claim(&self) -> &Claim {
        self.predecessor.as_ref().filter(|_| !self.wants_pane).unwrap_or(&self.claim)
    }
}
