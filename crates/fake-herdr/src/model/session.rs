//! `pane.report_agent_session`: conditions B1 to B8 of protocol 5.3.

use super::sources::{
    SessionKind, SessionRef, StartSource, is_full_lifecycle, is_identity_only, replaces_session,
};
use super::terminal::{Session, Suppression, SuppressionCause, Terminal};

/// A session report whose label is normalised and whose session is checked.
#[derive(Debug, Clone)]
pub(crate) struct SessionReport {
    pub(crate) source: String,
    pub(crate) label: String,
    pub(crate) session: Option<SessionRef>,
    pub(crate) seq: Option<u64>,
    pub(crate) start: Option<StartSource>,
}

impl Terminal {
    /// Applies a session report; `false` when it was ignored.
    pub(crate) fn report_session(&mut self, report: SessionReport) -> bool {
        let SessionReport { source, label, session, seq, start } = report;
        let Some(session) = session else {
            return false;
        };
        let process = self.process_present(&label);
        let full_lifecycle = is_full_lifecycle(&source, &label);
        let suppressed = self.suppressions.get(&source).is_some_and(|suppression| {
            suppression.label == label && suppression.cause != SuppressionCause::Cleared
        });
        let selects = selects_session(&source, seq, start);
        if selects && process {
            // The user has selected the session in the running program.
            self.suppressions.remove(&source);
        } else if full_lifecycle
            && (!process || suppressed || self.anchor(&source, &label).is_none())
        {
            return self.announce(&source, &label, session, seq, start);
        }
        // A report that a check below ignores has used its number all the same.
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
            .filter(|claim| full_lifecycle && claim.is_of(&source, &label))
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
            self.suppress_claim_source();
            self.claim = None;
        }
        self.keep_name_for(&label, Some(&session));
        self.session = Some(Session { source, label, reference: session });
        true
    }

    /// B2 and B3: stores a full-lifecycle session until its process arrives.
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
        let suppression = self
            .suppressions
            .entry(source.to_owned())
            .or_insert_with(|| Suppression::new(label, left, SuppressionCause::NoProcess));
        let waits_for_another = suppression
            .pending
            .as_ref()
            .is_some_and(|(pending, _)| pending.session.as_ref() != Some(&session));
        if selects || waits_for_another {
            suppression.pending = None;
        }
        suppression.announced = Some(session);
        if process && let Some(known) = herdr_proto::canonical_label(label) {
            self.lift_suppressions(known);
            return true;
        }
        false
    }

    /// Whether the source and label already have a session with another id. Paths
    /// never conflict.
    fn other_own_id(&self, source: &str, label: &str, session: &SessionRef) -> bool {
        self.session().is_some_and(|current| {
            current.is_of(source, label)
                && current.reference.kind == SessionKind::Id
                && session.kind == SessionKind::Id
                && current.reference.value != session.value
        })
    }

    pub(super) fn forget_left(&mut self, source: &str, label: &str, session: &SessionRef) {
        if let Some(left) = self.left_sessions.get_mut(source) {
            left.retain(|(of, reference)| of != label || reference != session);
        }
    }
}

/// B3: opencode reports without a number which session its user has selected.
fn selects_session(source: &str, seq: Option<u64>, start: Option<StartSource>) -> bool {
    source == "herdr:opencode" && start == Some(StartSource::Select) && seq.is_none()
}
