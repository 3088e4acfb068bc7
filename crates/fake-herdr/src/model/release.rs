//! `pane.release_agent` and `pane.clear_agent_authority` (protocol 5.4, 5.5).

use super::sources::{is_full_lifecycle, is_official};
use super::state::State;
use super::terminal::{Gate, GateCause, Terminal};

/// What a release came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Released {
    /// Ignored.
    No,
    /// The claim is gone; the agent's process keeps the row.
    Claim,
    /// The row is empty.
    Agent,
}

impl Terminal {
    /// C1 to C4.
    pub(crate) fn release(&mut self, source: &str, label: &str, seq: Option<u64>) -> Released {
        if is_official(source, label) {
            return Released::No;
        }
        let held_by_another =
            self.claim.as_ref().is_some_and(|claim| claim.source != source || claim.label != label);
        if held_by_another {
            return Released::No;
        }
        let own_session =
            self.session.as_ref().is_some_and(|kept| kept.source == source && kept.label == label);
        if self.label() != Some(label) && !own_session {
            return Released::No;
        }
        if !self.take_seq(source, seq) {
            return Released::No;
        }
        if is_full_lifecycle(source, label) {
            let session = self.claim.as_ref().and_then(|claim| claim.session.clone());
            self.gates.insert(source.to_owned(), Gate::new(label, session, GateCause::Cleared));
        }
        self.claim = None;
        if own_session {
            self.session = None;
        }
        if self.process_present(label) {
            Released::Claim
        } else {
            self.detected = None;
            self.screen = State::Unknown;
            self.prompt_seen_at = None;
            Released::Agent
        }
    }

    /// Clears the claim, whoever holds it or only if `source` does, and with it
    /// any kept session. `false` when it was ignored.
    pub(crate) fn clear(&mut self, source: Option<&str>, seq: Option<u64>) -> bool {
        let Some(holder) = self.claim.as_ref().map(|claim| claim.source.clone()) else {
            return false;
        };
        if source.is_some_and(|source| source != holder) || !self.take_seq(&holder, seq) {
            return false;
        }
        self.gate_current_claim();
        self.claim = None;
        self.session = None;
        true
    }
}
