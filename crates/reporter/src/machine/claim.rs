//! What a machine is for, and what it hands on.

use std::time::Duration;

use herdr_proto::{AgentLabel, PaneId, SourceId, TokenKey, Ttl};

use super::PaneMachine;
use super::plan::Known;
use crate::config::{Config, UnverifiedPane, Verify};

/// What a machine is for; constant for its life.
#[derive(Debug, Clone)]
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
    claimed: bool,
    last_seq: u64,
    tokens: Vec<TokenKey>,
}

impl PaneMachine {
    /// Takes a predecessor's claim over: the row stays as it is until
    /// something is wanted, and what of it is not wanted then goes.
    pub fn inherit(&mut self, legacy: Legacy) {
        self.seq.jump_over(legacy.last_seq);
        self.claimed |= legacy.claimed;
        self.inherited = legacy.claimed && self.wanted.is_none();
        if legacy.claimed {
            self.confirmed.presentation = Known::Unsure;
            self.confirmed.tokens.extend(legacy.tokens.into_iter().map(|key| (key, None)));
        }
    }

    /// What a successor has to know.
    pub fn legacy(&self) -> Legacy {
        Legacy {
            claimed: self.claimed,
            last_seq: self.seq.last(),
            tokens: self.confirmed.tokens.keys().cloned().collect(),
        }
    }
}
