//! What a machine is for, and what it hands on.

use std::time::Duration;

use herdr_proto::{AgentLabel, PaneId, SourceId, TokenKey, Ttl};

use super::PaneMachine;
use super::slot::Has;
use crate::config::{Config, UnverifiedPane};
use crate::event::AgentEvent;

/// What a machine is for. Constant for its life, but for the pane's id, if the
/// pane is found again under another one.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Claim {
    /// The pane.
    pub pane: PaneId,
    /// Who reports.
    pub source: SourceId,
    /// The agent's label.
    pub agent: AgentLabel,
    /// How it reports.
    pub mode: Mode,
    /// Whether somebody asked for this label. Otherwise the state is left to
    /// Herdr where it detects an agent of its own in the pane.
    pub own_label: bool,
    /// As [`Config::settle`].
    pub settle: Duration,
    /// As [`Config::metadata_ttl`].
    pub metadata_ttl: Ttl,
    /// As [`Config::verify`].
    pub verify: bool,
    /// As [`Config::any_pane`].
    pub any_pane: bool,
    /// As [`Config::unverified_pane`].
    pub unverified_pane: UnverifiedPane,
    /// Spreads the attempts of many reporters; any number.
    pub seed: u64,
}

/// How a machine reports.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Mode {
    /// It claims the row, keeps it true, and takes everything off at the end.
    Owner,
    /// Herdr says the state of the agent; title, labels and tokens are shown
    /// under Herdr's row. If a host says a state and Herdr shows no agent for
    /// three seconds, it claims the row until Herdr does.
    LeaveState,
    /// It reports once, on top of what the pane shows, and leaves it there.
    Once(Box<OneShot>),
}

/// What is reported once.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OneShot {
    /// What the host says.
    pub events: Vec<AgentEvent>,
    /// What of it is shown.
    pub config: Config,
    /// When the process that says it was started, in microseconds since 1970:
    /// the number of its state, so that what was started last wins.
    pub started: u64,
    /// A release leaves title, labels and tokens. Default: false.
    pub only_the_row: bool,
}

impl OneShot {
    /// Events that are reported once.
    pub fn new(events: Vec<AgentEvent>, config: Config, started: u64) -> Self {
        Self { events, config, started, only_the_row: false }
    }
}

impl Claim {
    /// The claim of a pane, with what `config` says of it.
    pub fn new(pane: PaneId, source: SourceId, agent: AgentLabel, config: &Config) -> Self {
        Self {
            pane,
            source,
            agent,
            mode: if config.leave_state { Mode::LeaveState } else { Mode::Owner },
            own_label: config.own_label,
            settle: config.settle,
            metadata_ttl: config.metadata_ttl,
            verify: config.verify,
            any_pane: config.any_pane,
            unverified_pane: config.unverified_pane,
            seed: 0,
        }
    }

    pub(super) fn is_once(&self) -> bool {
        matches!(self.mode, Mode::Once(_))
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

    /// In whose name to speak: a row can only be given back by the source and
    /// label that made it (protocol §5.4 C2).
    pub(super) fn speaker(&self) -> &Claim {
        self.predecessor.as_ref().filter(|_| !self.wants).unwrap_or(&self.claim)
    }
}
