//! `pane.report_agent`: conditions A1 to A11 of protocol 5.2, in their order.

use super::session::SessionReport;
use super::sources::{
    SessionKind, SessionRef, is_full_lifecycle, is_identity_only, is_screen_read, replaces_session,
};
use super::state::State;
use super::terminal::{Claim, Gate, GateCause, Terminal};

/// A report with a normalised label.
#[derive(Debug, Clone)]
pub(crate) struct StateReport {
    pub(crate) source: String,
    pub(crate) label: String,
    pub(crate) state: State,
    pub(crate) session: Option<SessionRef>,
    pub(crate) seq: Option<u64>,
}

/// What happens to a full-lifecycle report.
enum Route {
    /// The other checks follow. With `anew` the source's mark is forgotten, because a new
    /// session has its own numbers.
    On { anew: bool },
    /// The report is dropped, or kept until its session and process are there.
    Held,
}

impl Terminal {
    /// Applies a report. Returns false if it was ignored.
    pub(crate) fn report_state(&mut self, report: StateReport) -> bool {
        let StateReport { source, label, state, session, seq } = report;
        if is_screen_read(&source, &label) {
            return self.report_session(SessionReport { source, label, session, seq, start: None });
        }
        if is_identity_only(&source, &label) {
            return false;
        }
        if !is_full_lifecycle(&source, &label)
            && self.exited.is_some()
            && self.exited == herdr_proto::canonical_label(&label)
        {
            return false;
        }
        let order = self.next_order();
        let mut claim = Claim { source, label, state, session, order };
        let Route::On { anew } = self.route(&claim, seq) else {
            return false;
        };
        if self.conflicts_with_detected(&claim.label) {
            return false;
        }
        let takeover = self.owned_by_another(&claim.source, &claim.label);
        if takeover && !(claim.session.is_some() && self.process_present(&claim.label)) {
            return false;
        }
        claim.session = self.session_to_keep(&claim);
        if self.live_session_differs(&claim) {
            return false;
        }
        if anew {
            self.marks.remove(&claim.source);
        }
        if !self.take_seq(&claim.source, seq) {
            return false;
        }
        self.keep_name_for(&claim.label, claim.session.as_ref());
        if takeover {
            self.gate_current_claim();
        }
        if (claim.session.is_some() || anew)
            && let Some(Gate { label, session: Some(session), .. }) =
                self.gates.remove(&claim.source)
        {
            self.remember_left(&claim.source, &label, session);
        }
        self.session = None;
        self.claim = Some(claim);
        true
    }

    /// A4 to A7.
    fn route(&mut self, claim: &Claim, seq: Option<u64>) -> Route {
        let (source, label) = (claim.source.as_str(), claim.label.as_str());
        if !is_full_lifecycle(source, label) {
            return Route::On { anew: false };
        }
        if self.has_left(source, label, claim.session.as_ref()) {
            return Route::Held;
        }
        let process = self.process_present(label);
        let anchor = self.anchor(source, label);
        if source == "herdr:opencode"
            && process
            && let (Some(anchor), Some(session)) = (&anchor, &claim.session)
            && anchor != session
        {
            return Route::Held;
        }
        let anchored = anchor
            .as_ref()
            .is_some_and(|anchor| claim.session.as_ref().is_none_or(|session| session == anchor));
        if let Some(gate) = self.gates.get(source) {
            if gate.label != label {
                return Route::Held;
            }
            if gate.cause == GateCause::Cleared {
                let another = matches!(
                    (&gate.session, &claim.session),
                    (Some(old), Some(new)) if old != new
                );
                return if another { Route::On { anew: true } } else { Route::Held };
            }
        } else if process && anchored {
            return Route::On { anew: claim.session.is_some() && self.left_any(source, label) };
        }
        self.hold_back(claim, seq);
        Route::Held
    }

    /// A7: a report with a session and a fresh number is kept for later. The mark stays.
    fn hold_back(&mut self, claim: &Claim, seq: Option<u64>) {
        let (true, Some(seq)) = (claim.session.is_some(), seq) else {
            return;
        };
        if self.mark(&claim.source).is_some_and(|mark| seq <= mark) {
            return;
        }
        let kept = self
            .session
            .as_ref()
            .filter(|kept| kept.source == claim.source && kept.label == claim.label)
            .map(|kept| kept.reference.clone());
        let gate = self
            .gates
            .entry(claim.source.clone())
            .or_insert_with(|| Gate::new(&claim.label, kept, GateCause::NoProcess));
        if gate.pending.as_ref().is_none_or(|(_, pending)| seq > *pending) {
            gate.pending = Some((claim.clone(), seq));
        }
    }

    /// The session to which the reports of a source and label are bound.
    pub(super) fn anchor(&self, source: &str, label: &str) -> Option<SessionRef> {
        self.claim
            .as_ref()
            .filter(|claim| claim.source == source && claim.label == label)
            .and_then(|claim| claim.session.clone())
            .or_else(|| {
                self.session
                    .as_ref()
                    .filter(|kept| kept.source == source && kept.label == label)
                    .map(|kept| kept.reference.clone())
            })
    }

    /// A4.
    fn has_left(&self, source: &str, label: &str, session: Option<&SessionRef>) -> bool {
        session.is_some_and(|session| {
            self.left.get(source).is_some_and(|left| {
                left.iter().any(|(of, reference)| of == label && reference == session)
            })
        })
    }

    fn left_any(&self, source: &str, label: &str) -> bool {
        self.left.get(source).is_some_and(|left| left.iter().any(|(of, _)| of == label))
    }

    /// A state report does not replace the session id of its source; it is filed under the
    /// existing one.
    fn session_to_keep(&self, claim: &Claim) -> Option<SessionRef> {
        let incoming = claim.session.clone()?;
        let current = self
            .session()
            .filter(|session| session.source == claim.source && session.label == claim.label)
            .map(|session| session.reference);
        let replaces_kept = self.claim.is_none() && claim.source == "herdr:mastracode";
        match current {
            Some(current)
                if current.kind == SessionKind::Id
                    && incoming.kind == SessionKind::Id
                    && !replaces_kept
                    && !replaces_session(&claim.source, None) =>
            {
                Some(current)
            }
            _ => Some(incoming),
        }
    }

    /// A10.
    fn live_session_differs(&self, report: &Claim) -> bool {
        self.claim.as_ref().is_some_and(|claim| {
            is_full_lifecycle(&claim.source, &claim.label)
                && claim.source == report.source
                && claim.label == report.label
                && claim.session.is_some()
                && report.session.is_some()
                && claim.session != report.session
        })
    }
}
