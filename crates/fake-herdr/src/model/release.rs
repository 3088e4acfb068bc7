//! `pane.release_agent` and `pane.clear_agent_authority` (protocol 5.4, 5.5).

use super::sources::{is_full_lifecycle, is_official};
use super::state::State;
use super::terminal::{Change, Gate, GateCause, Terminal};

impl Terminal {
    /// C1 to C4. If the label is not that of the process in the pane, the row of that process
    /// disappears until the detector sees another one.
    pub(crate) fn release(&mut self, source: &str, label: &str, seq: Option<u64>) -> Change {
        if is_official(source, label) {
            return Change::Ignored;
        }
        let held_by_another =
            self.claim.as_ref().is_some_and(|claim| claim.source != source || claim.label != label);
        if held_by_another {
            return Change::Ignored;
        }
        let own_session =
            self.session.as_ref().is_some_and(|kept| kept.source == source && kept.label == label);
        if self.label() != Some(label) && !own_session {
            return Change::Ignored;
        }
        if !self.take_seq(source, seq) {
            return Change::Ignored;
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
            return Change::Applied;
        }
        self.detected = None;
        self.screen = State::Unknown;
        self.prompt_seen_at = None;
        self.set_name(None);
        Change::Released
    }

    /// Ends the claim, either any claim or only one of `source`, and removes a kept session.
    pub(crate) fn clear(&mut self, source: Option<&str>, seq: Option<u64>) -> Change {
        let Some(holder) = self.claim.as_ref().map(|claim| claim.source.clone()) else {
            return Change::Ignored;
        };
        if source.is_some_and(|source| source != holder) || !self.take_seq(&holder, seq) {
            return Change::Ignored;
        }
        self.gate_current_claim();
        self.claim = None;
        self.session = None;
        Change::Applied
    }
}
