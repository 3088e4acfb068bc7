//! `pane.report_agent_session`: conditions B1 to B8 of protocol 5.3.

use super::sources::{
    SessionKind, SessionRef, StartSource, is_full_lifecycle, is_identity_only, replaces_session,
};
use super::terminal::{Gate, GateCause, Session, Terminal};

/// A report with a normalised label and a checked session.
#[derive(Debug, Clone)]
pub(crate) struct SessionReport {
    pub(crate) source: String,
    pub(crate) label: String,
    pub(crate) session: Option<SessionRef>,
    pub(crate) seq: Option<u64>,
    pub(crate) start: Option<StartSource>,
}

impl Terminal {
    /// Applies a session report. Returns false if it was ignored.
    pub(crate) fn report_session(&mut self, report: SessionReport) -> bool {
        let SessionReport { source, label, session, seq, start } = report;
        let Some(session) = session else {
            return false;
        };
        let process = self.process_present(&label);
        let full_lifecycle = is_full_lifecycle(&source, &label);
        let gated = self
            .gates
            .get(&source)
            .is_some_and(|gate| gate.label == label && gate.cause != GateCause::Cleared);
        let selects = selects_session(&source, seq, start);
        if selects && process {
            // The user selected the session in the running program, so there is nothing to wait
            // for.
            self.gates.remove(&source);
        } else if full_lifecycle && (!process || gated || !self.is_anchored(&source, &label)) {
            return self.announce(&source, &label, session, seq, start);
        }
        // The mark changes here, so a report that fails below has used its number.
        if !selects && !self.take_seq(&source, seq) {
            return false;
        }
        if self.conflicts_with_detected(&label) {
            return false;
        }
        let replaces = replaces_session(&source, start);
        let other_id = self.other_own_id(&source, &label, &session);
        if is_identity_only(&source, &label) && replaces && other_id && !process {
            return false;
        }
        let takeover = self.owned_by_another(&source, &label);
        if takeover && !(StartSource::announces(start) && process) {
            return false;
        }
        if other_id && !replaces {
            return false;
        }
        let live = self
            .claim
            .as_ref()
            .filter(|claim| full_lifecycle && claim.source == source && claim.label == label)
            .and_then(|claim| claim.session.clone())
            .filter(|live| *live != session);
        if live.is_some() && !replaces {
            return false;
        }
        if replaces || takeover {
            self.forget_left(&source, &label, &session);
        }
        if let Some(live) = live {
            self.remember_left(&source, &label, live);
            self.claim = None;
        } else if takeover {
            self.gate_current_claim();
            self.claim = None;
        }
        self.keep_name_for(&label, Some(&session));
        self.session = Some(Session { source, label, reference: session });
        true
    }

    /// B2 and B3: the session of a full-lifecycle source before its process or anchor.
    fn announce(
        &mut self,
        source: &str,
        label: &str,
        session: SessionRef,
        seq: Option<u64>,
        start: Option<StartSource>,
    ) -> bool {
        let process = self.process_present(label);
        let selects = selects_session(source, seq, start);
        if !selects {
            let Some(seq) = seq.filter(|_| StartSource::announces(start)) else {
                return false;
            };
            if self.mark(source).is_some_and(|mark| seq <= mark) {
                return false;
            }
            self.marks.insert(source.to_owned(), seq);
        }
        let left = self.anchor(source, label).filter(|_| selects);
        let gate = self
            .gates
            .entry(source.to_owned())
            .or_insert_with(|| Gate::new(label, left, GateCause::NoProcess));
        let waits_for_another = gate
            .pending
            .as_ref()
            .is_some_and(|(pending, _)| pending.session.as_ref() != Some(&session));
        if selects || waits_for_another {
            gate.pending = None;
        }
        gate.coming = Some(session);
        if process && let Some(known) = herdr_proto::canonical_label(label) {
            self.open_gates(known);
            return true;
        }
        false
    }

    /// Whether the reports of a source and label are bound to a session.
    fn is_anchored(&self, source: &str, label: &str) -> bool {
        self.anchor(source, label).is_some()
    }

    /// Whether the source's own session has another id. A path never conflicts.
    fn other_own_id(&self, source: &str, label: &str, session: &SessionRef) -> bool {
        self.session().is_some_and(|current| {
            current.source == source
                && current.label == label
                && current.reference.kind == SessionKind::Id
                && session.kind == SessionKind::Id
                && current.reference.value != session.value
        })
    }

    pub(super) fn forget_left(&mut self, source: &str, label: &str, session: &SessionRef) {
        if let Some(left) = self.left.get_mut(source) {
            left.retain(|(of, reference)| of != label || reference != session);
        }
    }
}

/// B3: opencode reports without a number which session its user has selected.
fn selects_session(source: &str, seq: Option<u64>, start: Option<StartSource>) -> bool {
    source == "herdr:opencode" && start == Some(StartSource::Select) && seq.is_none()
}
