//! What a machine is for, and what it hands on.

use herdr_proto::{AgentLabel, PaneId, ReleaseAgent, Seq, SourceId, TokenKey};

use super::PaneMachine;
use super::slot::Has;
use crate::config::Config;
use crate::event::AgentEvent;
use crate::leavings::Leavings;

/// What a machine is for. Constant for its life, but for the pane's id, if the
/// pane is found again under another one.
///
/// It claims the row, keeps it true, and takes everything off at the end. With
/// [`Config::leave_state`] Herdr says the state of the agent, and title, labels
/// and tokens are shown under Herdr's row; if a host says a state and Herdr
/// shows no agent for three seconds, it claims the row until Herdr does.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Claim {
    pub pane: PaneId,
    pub source: SourceId,
    pub agent: AgentLabel,
    pub config: Config,
    /// It reports this once, on top of what the pane shows, and leaves it there.
    pub once: Option<OneShot>,
    /// Spreads the attempts of many reporters; any number.
    pub seed: u64,
}

#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OneShot {
    pub events: Vec<AgentEvent>,
    /// When the process that says it was started, in microseconds since 1970:
    /// the number of its state, so that what was started last wins.
    pub started: u64,
    /// A release leaves title, labels and tokens. Default: false.
    pub only_the_row: bool,
    /// What a reporter that was killed has left; it is taken off. Default:
    /// nothing.
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

/// What is on a pane when its reporter is replaced by another one of the same
/// process.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PredecessorClaim {
    /// Under which claim the row was made, if there is one.
    claim: Option<Claim>,
    last_seq: u64,
    tokens: Vec<TokenKey>,
}

impl PaneMachine {
    /// Takes a predecessor's claim over, with the pane's present id and above
    /// its numbers: the row stays as it is until [`Input::Wanted`], and what of
    /// it is not wanted then goes. One that is given back without a report of
    /// our own is given back as the predecessor made it.
    ///
    /// [`Input::Wanted`]: super::Input::Wanted
    pub fn inherit(&mut self, predecessor: PredecessorClaim) {
        self.seq.jump_over(predecessor.last_seq);
        let Some(claim) = predecessor.claim else { return };
        self.inherited = !self.wants;
        // It may have been found again under another id.
        self.claim.pane.clone_from(&claim.pane);
        self.predecessor = Some(claim);
        self.state.has = Has::Unsure;
        self.presentation.has = Has::Unsure;
        for key in predecessor.tokens {
            self.tokens.slots.entry(key).or_default().has = Has::Unsure;
        }
    }

    /// Takes off, with the first claim, what a reporter that was killed has left.
    pub fn take_off(&mut self, left: Leavings) {
        self.left = left;
    }

    /// What stays on the pane if this process is killed now.
    pub fn leavings(&self) -> Leavings {
        let presented = self.presentation.may_be_there() || self.reason.may_be_there();
        let there = self.tokens.slots.iter().flat_map(|(key, slot)| {
            let known = match &slot.has {
                Has::Known(text) => Some(text),
                Has::Absent | Has::Unsure => None,
            };
            // What is wanted may be on its way.
            known.into_iter().chain(&slot.wanted).map(move |text| (key, text))
        });
        Leavings::new(presented.then(|| self.speaker().source.clone()), there).and(&self.left)
    }

    /// What a successor has to know.
    pub fn predecessor_claim(&self) -> PredecessorClaim {
        let claim = self.predecessor.as_ref().unwrap_or(&self.claim);
        let tokens = self.tokens.slots.iter().filter(|(_, slot)| slot.may_be_there());
        PredecessorClaim {
            claim: self.state.may_be_there().then(|| claim.clone()),
            last_seq: self.seq.last(),
            tokens: tokens.map(|(key, _)| key.clone()).collect(),
        }
    }

    /// The release with which the pane is given back if the machine itself has
    /// failed; none if nothing was sent.
    pub fn last_release(&self) -> Option<ReleaseAgent> {
        let claim = self.speaker();
        let (pane, source) = (claim.pane.clone(), claim.source.clone());
        let mut release = ReleaseAgent::new(pane, source, claim.agent.clone());
        let last = Some(self.seq.last()).filter(|last| *last > 0)?;
        release.seq = Some(Seq::new(last.saturating_add(1)));
        Some(release)
    }

    /// In whose name to speak: a row can only be given back by the source and
    /// label that made it (protocol §5.4 C2).
    pub(super) fn speaker(&self) -> &Claim {
        self.predecessor.as_ref().filter(|_| !self.wants).unwrap_or(&self.claim)
    }
}
