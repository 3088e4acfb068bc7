//! `pane.report_agent`: conditions A1 to A11 of protocol 5.2, in their order.

use super::session::SessionReport;
use super::sources::{
    SessionKind, SessionRef, is_full_lifecycle, is_identity_only, is_screen_read, replaces_session,
};
use super::state::State;
use super::terminal::{Claim, Suppression, SuppressionCause, Terminal};

/// A state report whose label is normalised and whose session is checked.
#[derive(Debug, Clone)]
pub(crate) struct StateReport {
    pub(crate) source: String,
    pub(crate) label: String,
    pub(crate) state: State,
    pub(crate) session: Option<SessionRef>,
    pub(crate) seq: Option<u64>,
}

/// What conditions A4 to A7 decide about a report.
enum Route {
    /// The report goes on to the other checks. `new_session` resets the source's
    /// mark, because a new session starts its own numbering.
    Proceed { new_session: bool },
    /// The report is dropped, or kept until its session and process are there.
    Withheld,
}

impl Terminal {
    /// Applies a report; `false` when it was ignored.
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
        let Route::Proceed { new_session } = self.route(&claim, seq) else {
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
        if new_session {
            self.marks.remove(&claim.source);
        }
        if !self.take_seq(&claim.source, seq) {
            return false;
        }
        self.keep_name_for(&claim.label, claim.session.as_ref());
        if takeover {
            self.suppress_claim_source();
        }
        if (claim.session.is_some() || new_session)
            && let Some(Suppression { label, session: Some(session), .. }) =
                self.suppressions.remove(&claim.source)
        {
            self.remember_left(&claim.source, &label, session);
        }
        self.session = None;
        self.claim = Some(claim);
        true
    }

    /// Checks conditions A4 to A7, which are about full-lifecycle sources.
    fn route(&mut self, claim: &Claim, seq: Option<u64>) -> Route {
        let (source, label) = (claim.source.as_str(), claim.label.as_str());
        if !is_full_lifecycle(source, label) {
            return Route::Proceed { new_session: false };
        }
        if self.has_left_session(source, label, claim.session.as_ref()) {
            return Route::Withheld;
        }
        let process = self.process_present(label);
        let anchor = self.anchor(source, label);
        if source == "herdr:opencode"
            && process
            && let (Some(anchor), Some(session)) = (&anchor, &claim.session)
            && anchor != session
        {
            return Route::Withheld;
        }
        let anchored = anchor
            .as_ref()
            .is_some_and(|anchor| claim.session.as_ref().is_none_or(|session| session == anchor));
        if let Some(suppression) = self.suppressions.get(source) {
            if suppression.label != label {
                return Route::Withheld;
            }
            if suppression.cause == SuppressionCause::Cleared {
                let another = matches!(
                    (&suppression.session, &claim.session),
                    (Some(old), Some(new)) if old != new
                );
                return if another {
                    Route::Proceed { new_session: true }
                } else {
                    Route::Withheld
                };
            }
        } else if process && anchored {
            return Route::Proceed {
                new_session: claim.session.is_some() && self.has_left_any_session(source, label),
            };
        }
        self.keep_pending(claim, seq);
        Route::Withheld
    }

    /// A7: keeps a report that has a session and a fresh number until its process
    /// arrives. The mark does not change.
    fn keep_pending(&mut self, claim: &Claim, seq: Option<u64>) {
        let (true, Some(seq)) = (claim.session.is_some(), seq) else {
            return;
        };
        if self.mark(&claim.source).is_some_and(|mark| seq <= mark) {
            return;
        }
        let kept = self.kept_session(&claim.source, &claim.label);
        let suppression = self
            .suppressions
            .entry(claim.source.clone())
            .or_insert_with(|| Suppression::new(&claim.label, kept, SuppressionCause::NoProcess));
        if suppression.pending.as_ref().is_none_or(|(_, pending)| seq > *pending) {
            suppression.pending = Some((claim.clone(), seq));
        }
    }

    /// The session that the reports of a source and label are tied to.
    pub(super) fn anchor(&self, source: &str, label: &str) -> Option<SessionRef> {
        self.claim
            .as_ref()
            .filter(|claim| claim.is_of(source, label))
            .and_then(|claim| claim.session.clone())
            .or_else(|| self.kept_session(source, label))
    }

    fn kept_session(&self, source: &str, label: &str) -> Option<SessionRef> {
        let kept = self.session.as_ref().filter(|kept| kept.is_of(source, label));
        kept.map(|kept| kept.reference.clone())
    }

    /// A4: whether the source has left this session.
    fn has_left_session(&self, source: &str, label: &str, session: Option<&SessionRef>) -> bool {
        session.is_some_and(|session| {
            self.left_sessions.get(source).is_some_and(|left| {
                left.iter().any(|(of, reference)| of == label && reference == session)
            })
        })
    }

    fn has_left_any_session(&self, source: &str, label: &str) -> bool {
        self.left_sessions.get(source).is_some_and(|left| left.iter().any(|(of, _)| of == label))
    }

    /// The session to store with a claim. A state report does not replace the
    /// session id that its source and label already have.
    fn session_to_keep(&self, claim: &Claim) -> Option<SessionRef> {
        let incoming = claim.session.clone()?;
        let current = self
            .session()
            .filter(|session| session.is_of(&claim.source, &claim.label))
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

    /// A10: whether the live claim of the same source and label has another session.
    fn live_session_differs(&self, report: &Claim) -> bool {
        self.claim.as_ref().is_some_and(|claim| {
            is_full_lifecycle(&claim.source, &claim.label)
                && claim.is_of(&report.source, &report.label)
                && claim.session.is_some()
                && report.session.is_some()
                && claim.session != report.session
        })
    }
}
