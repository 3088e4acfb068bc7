//! The agent state of one pane: the claim, the session, the sequence marks and what
//! the detector has seen.
//!
//! The rules that change it are in the modules `report`, `session`, `release`,
//! `detection` and `metadata`.

use std::collections::BTreeMap;

use super::metadata::{Metadata, Presentation};
use super::sources::{SessionRef, is_full_lifecycle, is_official};
use super::state::State;

/// A claim on the pane's row, which Herdr calls the hook authority.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) source: String,
    pub(crate) label: String,
    pub(crate) state: State,
    pub(crate) session: Option<SessionRef>,
    /// The place of the claim in the order of this terminal's events.
    pub(crate) order: u64,
}

impl Claim {
    pub(super) fn is_of(&self, source: &str, label: &str) -> bool {
        self.source == source && self.label == label
    }

    /// The session as it is kept when the claim ends.
    pub(super) fn into_session(self) -> Option<Session> {
        Some(Session { source: self.source, label: self.label, reference: self.session? })
    }
}

/// A session that outlives its claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Session {
    pub(crate) source: String,
    pub(crate) label: String,
    pub(crate) reference: SessionRef,
}

impl Session {
    pub(super) fn is_of(&self, source: &str, label: &str) -> bool {
        self.source == source && self.label == label
    }
}

/// Why the reports of a full-lifecycle source are suppressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SuppressionCause {
    /// The claim of the source was cleared or taken over.
    Cleared,
    /// The agent's process is not there, or not any more.
    NoProcess,
}

/// The state of a suppressed full-lifecycle source, whose reports wait for a session
/// and a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Suppression {
    pub(crate) label: String,
    pub(crate) session: Option<SessionRef>,
    pub(crate) cause: SuppressionCause,
    /// The announced session, which waits for its process.
    pub(crate) announced: Option<SessionRef>,
    /// The newest waiting report, with its sequence number.
    pub(crate) pending: Option<(Claim, u64)>,
}

impl Suppression {
    pub(crate) fn new(label: &str, session: Option<SessionRef>, cause: SuppressionCause) -> Self {
        Self { label: label.to_owned(), session, cause, announced: None, pending: None }
    }
}

/// What a rule did to a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Nothing: the input was ignored.
    Ignored,
    Applied,
    /// The input was applied, and the agent is gone with it.
    Released,
}

impl From<bool> for Change {
    fn from(accepted: bool) -> Self {
        if accepted { Self::Applied } else { Self::Ignored }
    }
}

/// What readers see of a terminal. Two of these are compared to find visible changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Effective {
    pub(crate) label: Option<String>,
    pub(crate) state: State,
    pub(crate) presentation: Presentation,
}

/// A name from `agent.rename`, with the agent and the session that it belongs to.
#[derive(Debug, Clone)]
struct Name {
    text: String,
    label: String,
    session: Option<SessionRef>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Terminal {
    pub(super) claim: Option<Claim>,
    pub(super) session: Option<Session>,
    /// The highest sequence number accepted from each source, over all methods.
    pub(super) marks: BTreeMap<String, u64>,
    pub(super) suppressions: BTreeMap<String, Suppression>,
    /// The labels and sessions that each full-lifecycle source has left.
    pub(super) left_sessions: BTreeMap<String, Vec<(String, SessionRef)>>,
    /// The known agent whose process the detector sees or has seen last.
    pub(super) detected: Option<&'static str>,
    /// The known agent whose process has just exited.
    pub(super) exited: Option<&'static str>,
    /// The state that was read from the screen.
    pub(super) screen: State,
    /// The place in the order of events at which a prompt was seen on the screen.
    pub(super) prompt_seen_at: Option<u64>,
    /// The detected process has not been idle yet. Its first idle does not end work.
    pub(super) acquiring: bool,
    pub(super) metadata: Metadata,
    /// The number of the last state change; 0 if there was none.
    pub(super) state_change_seq: u64,
    name: Option<Name>,
    order: u64,
}

impl Terminal {
    pub(crate) fn effective(&self) -> Effective {
        Effective {
            label: self.label().map(str::to_owned),
            state: self.state(),
            presentation: self.presentation(),
        }
    }

    /// The next place in the order of events. The clock does not give an order,
    /// because two reports can have the same time.
    pub(super) fn next_order(&mut self) -> u64 {
        self.order += 1;
        self.order
    }

    /// The label that readers see: the claim's if it is effective, otherwise
    /// the detected agent's.
    pub(crate) fn label(&self) -> Option<&str> {
        let detected = self.detected.filter(|_| self.exited.is_none());
        self.effective_claim().map(|claim| claim.label.as_str()).or(detected)
    }

    /// Whether the `agent.*` methods find an agent here.
    pub(crate) fn is_agent(&self) -> bool {
        self.name.is_some() || self.label().is_some()
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_ref().map(|name| name.text.as_str())
    }

    /// Sets or removes the name of the agent in the pane.
    pub(crate) fn set_name(&mut self, name: Option<String>) {
        let owner = match (&self.claim, &self.session) {
            (Some(claim), _) => Some((claim.label.clone(), claim.session.clone())),
            (None, Some(kept)) => Some((kept.label.clone(), Some(kept.reference.clone()))),
            (None, None) => self.label().map(|label| (label.to_owned(), None)),
        };
        self.name = name.zip(owner).map(|(text, (label, session))| Name { text, label, session });
    }

    /// Removes the name if it belongs to another agent or to another session.
    pub(super) fn keep_name_for(&mut self, label: &str, session: Option<&SessionRef>) {
        self.name.take_if(|name| {
            let other = name.session.as_ref().zip(session).is_some_and(|(old, new)| old != new);
            name.label != label || other
        });
        if let (Some(name), Some(session)) = (&mut self.name, session) {
            name.session.get_or_insert_with(|| session.clone());
        }
    }

    /// Whether the terminal has just reached the first idle of a process, which does
    /// not end work.
    pub(super) fn finish_acquiring(&mut self) -> bool {
        let reached = self.acquiring && self.state() == State::Idle;
        self.acquiring &= !reached;
        reached && self.exited.is_none()
    }

    /// The state behind the status that readers see, without regard to whether the
    /// user has looked at the pane.
    pub(crate) fn state(&self) -> State {
        if self.prompt_on_screen_overrides() {
            return State::Blocked;
        }
        self.effective_claim().map_or(self.screen, |claim| claim.state)
    }

    /// The session that owns the pane: that of the claim, otherwise the kept one.
    pub(crate) fn session(&self) -> Option<Session> {
        self.claim.clone().and_then(Claim::into_session).or_else(|| self.session.clone())
    }

    /// Whether a live full-lifecycle claim has turned screen reading off.
    pub(crate) fn screen_reading_off(&self) -> bool {
        self.effective_claim().is_some_and(|claim| is_full_lifecycle(&claim.source, &claim.label))
    }

    pub(crate) fn mark(&self, source: &str) -> Option<u64> {
        self.marks.get(source).copied()
    }

    /// What another server process keeps of this terminal: the official session,
    /// and on newer servers a custom claim.
    pub(crate) fn after_handoff(&self, keep_claim: bool) -> Self {
        let official = self.session().filter(|kept| is_official(&kept.source, &kept.label));
        Self {
            session: official,
            claim: self
                .claim
                .clone()
                .filter(|claim| keep_claim && !is_official(&claim.source, &claim.label)),
            ..Self::default()
        }
    }

    /// Accepts a sequence number above the source's mark and raises the mark. Once
    /// there is a mark, a report without a number is stale (protocol 5.1).
    pub(super) fn take_seq(&mut self, source: &str, seq: Option<u64>) -> bool {
        let mark = self.mark(source);
        let Some(seq) = seq else {
            return mark.is_none();
        };
        if mark.is_some_and(|mark| seq <= mark) {
            return false;
        }
        self.marks.insert(source.to_owned(), seq);
        true
    }

    /// A9 and B7: whether the session of another source or label owns the pane.
    pub(super) fn owned_by_another(&self, source: &str, label: &str) -> bool {
        self.session().is_some_and(|session| !session.is_of(source, label))
    }

    /// Whether the known agent behind a label runs in the pane.
    pub(super) fn process_present(&self, label: &str) -> bool {
        let known = herdr_proto::canonical_label(label);
        known.is_some() && self.detected == known && self.exited.is_none()
    }

    /// A8 and B5: whether the label is that of another known agent than the detected
    /// one.
    pub(super) fn conflicts_with_detected(&self, label: &str) -> bool {
        match (self.detected, herdr_proto::canonical_label(label)) {
            (Some(detected), Some(known)) => detected != known,
            _ => false,
        }
    }

    /// Suppresses the full-lifecycle source that has the claim.
    pub(super) fn suppress_claim_source(&mut self) {
        if let Some(claim) = &self.claim
            && is_full_lifecycle(&claim.source, &claim.label)
        {
            let suppression =
                Suppression::new(&claim.label, claim.session.clone(), SuppressionCause::Cleared);
            self.suppressions.insert(claim.source.clone(), suppression);
        }
    }

    /// Remembers that a source has left a session.
    pub(super) fn remember_left(&mut self, source: &str, label: &str, session: SessionRef) {
        let left = self.left_sessions.entry(source.to_owned()).or_default();
        let entry = (label.to_owned(), session);
        if !left.contains(&entry) {
            left.push(entry);
        }
    }

    /// V2: a full-lifecycle claim is effective only while its process is there.
    fn effective_claim(&self) -> Option<&Claim> {
        self.claim.as_ref().filter(|claim| {
            !is_full_lifecycle(&claim.source, &claim.label) || self.process_present(&claim.label)
        })
    }

    /// V1: a prompt on the screen beats an older claim of the same agent.
    fn prompt_on_screen_overrides(&self) -> bool {
        if self.screen_reading_off() {
            return false;
        }
        let (Some(seen), Some(claim)) = (self.prompt_seen_at, &self.claim) else {
            return false;
        };
        claim.state != State::Blocked
            && claim.order <= seen
            && self.detected.is_some()
            && herdr_proto::canonical_label(&claim.label) == self.detected
    }
}
