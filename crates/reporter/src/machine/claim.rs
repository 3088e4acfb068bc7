//! What a machine is for, and what it hands on.

use std::time::Duration;

use herdr_proto::{AgentLabel, PaneId, SourceId, TokenKey, Ttl};

use super::PaneMachine;
use super::plan::Known;
use crate::config::{Config, UnverifiedPane, Verify};

/// What a machine is for. Constant for its life, but for the source, if a
/// [fresh one](Config::fresh_source) is taken, and the pane's id, if the pane is
/// found again under another one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claim {
    /// The pane.
    pub pane: PaneId,
    /// Who reports.
    pub source: SourceId,
    /// The agent's label.
    pub agent: AgentLabel,
    /// As [`Config::settle`].
    pub settle: Duration,
    /// As [`Config::metadata_ttl`].
    pub metadata_ttl: Ttl,
    /// As [`Config::verify`].
    pub verify: Verify,
    /// As [`Config::fresh_source`].
    pub fresh_source: bool,
    /// As [`Config::any_pane`].
    pub any_pane: bool,
    /// As [`Config::unverified_pane`].
    pub unverified_pane: UnverifiedPane,
    /// Spreads the attempts of many reporters; any number.
    pub seed: u64,
}

impl Claim {
    /// The claim of a pane, with what `config` says of it.
    pub fn new(pane: PaneId, source: SourceId, agent: AgentLabel, config: &Config) -> Self {
        Self {
            pane,
            source,
            agent,
            settle: config.settle,
            metadata_ttl: config.metadata_ttl,
            verify: config.verify,
            fresh_source: config.fresh_source,
            any_pane: config.any_pane,
            unverified_pane: config.unverified_pane,
            seed: 0,
        }
    }
}

/// What is on a pane when its reporter is replaced by another one of the same
/// process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Legacy {
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
    pub fn inherit(&mut self, legacy: Legacy) {
        self.seq.jump_over(legacy.last_seq);
        let Some(claim) = legacy.claim else { return };
        self.claimed = true;
        self.inherited = self.wanted.is_none();
        // It may have been found again under another id.
        self.claim.pane.clone_from(&claim.pane);
        self.holder = Some(claim);
        self.confirmed.presentation = Known::Unsure;
        self.confirmed.tokens.extend(legacy.tokens.into_iter().map(|key| (key, None)));
    }

    /// What a successor has to know.
    pub fn legacy(&self) -> Legacy {
        let claim = self.holder.as_ref().unwrap_or(&self.claim);
        Legacy {
            claim: self.claimed.then(|| claim.clone()),
            last_seq: self.seq.last(),
            tokens: self.confirmed.tokens.keys().cloned().collect(),
        }
    }

    /// In whose name to speak: a row can only be given back by the source and
    /// label that made it (protocol §5.4 C2).
    pub(super) fn speaker(&self) -> &Claim {
        let holder = self.holder.as_ref().filter(|_| self.wanted.is_none());
        holder.unwrap_or(&self.claim)
    }
}
