//! `pane.release_agent` and `pane.clear_agent_authority` (protocol 5.4, 5.5).

use super::sources::{is_full_lifecycle, is_official};
use super::state::State;
use super::terminal::{Change, Suppression, SuppressionCause, Terminal};

impl Terminal {
    /// Checks conditions C1 to C4 and releases the claim. If the label is not that
    /// of the detected process, the row of that process goes as well, until the
    /// detector sees a new process.
    pub(crate) fn release(&mut self, source: &str, label: &str, seq: Option<u64>) -> Change {
        if is_official(source, label) {
            return Change::Ignored;
        }
        let held_by_another = self.claim.as_ref().is_some_and(|claim| !claim.is_of(source, label));
        if held_by_another {
            return Change::Ignored;
        }
        let own_session = self.session.as_ref().is_some_and(|kept| kept.is_of(source, label));
        if self.label() != Some(label) && !own_session {
            return Change::Ignored;
        }
        if !self.take_seq(source, seq) {
            return Change::Ignored;
        }
        if is_full_lifecycle(source, label) {
            let session = self.claim.as_ref().and_then(|claim| claim.session.clone());
            self.suppressions.insert(
                source.to_owned(),
                Suppression::new(label, session, SuppressionCause::Cleared),
            );
        }
        self.claim = None;
        if own_session {
            self.session = None;
        }
        if self.process_present(label) {
            return Change::Applied;
        }
        self.detected = None;
        self.screen = State::Unknown;
        self.prompt_seen_at = None;
        self.set_name(None);
        Change::Released
    }

    /// Clears the claim and any kept session. With a `source` this happens only if
    /// that source holds the claim.
    pub(crate) fn clear(&mut self, source: Option<&str>, seq: Option<u64>) -> Change {
        let Some(holder) = self.claim.as_ref().map(|claim| claim.source.clone()) else {
            return Change::Ignored;
        };
        if source.is_some_and(|source| source != holder) || !self.take_seq(&holder, seq) {
            return Change::Ignored;
        }
        self.suppress_claim_source();
        self.claim = None;
        self.session = None;
        Change::Applied
    }
}
