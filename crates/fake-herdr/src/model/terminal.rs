//! The agent state of one pane: the claim, the session, the sequence marks and what the
//! detector saw.
//!
//! The rules are in the files `report`, `session`, `release`, `detection` and `metadata`, one
//! for each kind of input.

use std::collections::BTreeMap;

use super::metadata::{Metadata, Presentation};
use super::sources::{SessionRef, is_full_lifecycle, is_official};
use super::state::State;

/// A claim on the pane's row, which Herdr calls "hook authority".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) source: String,
    pub(crate) label: String,
    pub(crate) state: State,
    pub(crate) session: Option<SessionRef>,
    /// Its position in the order of everything that happened to this terminal.
    pub(crate) order: u64,
}

/// A session that is kept after its claim has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Session {
    pub(crate) source: String,
    pub(crate) label: String,
    pub(crate) reference: SessionRef,
}

/// Why reports of a full-lifecycle source are held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GateCause {
    /// Its claim was cleared or taken over.
    Cleared,
    /// Its process does not run.
    NoProcess,
}

/// A full-lifecycle source whose reports wait for a session and a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gate {
    pub(crate) label: String,
    pub(crate) session: Option<SessionRef>,
    pub(crate) cause: GateCause,
    /// The announced session, which waits for its process.
    pub(crate) coming: Option<SessionRef>,
    /// The newest report that waits, with its number.
    pub(crate) pending: Option<(Claim, u64)>,
}

impl Gate {
    pub(crate) fn new(label: &str, session: Option<SessionRef>, cause: GateCause) -> Self {
        Self { label: label.to_owned(), session, cause, coming: None, pending: None }
    }
}

/// The effect of a rule on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// None: the input was ignored.
    Ignored,
    Applied,
    /// The rule was applied, and the agent has disappeared.
    Released,
}

impl From<bool> for Change {
    fn from(accepted: bool) -> Self {
        if accepted { Self::Applied } else { Self::Ignored }
    }
}

/// The visible state. Comparing two of these tells what has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Effective {
    pub(crate) label: Option<String>,
    pub(crate) state: State,
    pub(crate) presentation: Presentation,
}

/// A name from `agent.rename`, with the agent and the session it belongs to.
#[derive(Debug, Clone)]
struct Name {
    text: String,
    label: String,
    session: Option<SessionRef>,
}

/// The agent state of one pane.
#[derive(Debug, Clone, Default)]
pub(crate) struct Terminal {
    pub(super) claim: Option<Claim>,
    pub(super) session: Option<Session>,
    /// The sequence mark of each source for all its methods except metadata.
    pub(super) marks: BTreeMap<String, u64>,
    pub(super) gates: BTreeMap<String, Gate>,
    /// Sessions that a full-lifecycle source has left, by source.
    pub(super) left: BTreeMap<String, Vec<(String, SessionRef)>>,
    /// The known agent whose process the detector sees, or saw last.
    pub(super) detected: Option<&'static str>,
    /// The known agent whose process has just ended.
    pub(super) exited: Option<&'static str>,
    /// The state that was read from the screen, and whether a prompt is visible.
    pub(super) screen: State,
    pub(super) prompt_seen_at: Option<u64>,
    /// Whether the detected process has not been idle so far. Its first idle is not an end of
    /// work.
    pub(super) acquiring: bool,
    pub(super) metadata: Metadata,
    /// The sequence number of the last state change; 0 if there was none.
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

    /// The next position in the order of events. It is not a time, because two reports at the
    /// same time also have an order.
    pub(super) fn next_order(&mut self) -> u64 {
        self.order += 1;
        self.order
    }

    /// The label that readers see: that of an effective claim, otherwise that of the detected
    /// agent.
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

    /// Gives the present agent a name, or removes it.
    pub(crate) fn set_name(&mut self, name: Option<String>) {
        let owner = match (&self.claim, &self.session) {
            (Some(claim), _) => Some((claim.label.clone(), claim.session.clone())),
            (None, Some(kept)) => Some((kept.label.clone(), Some(kept.reference.clone()))),
            (None, None) => self.label().map(|label| (label.to_owned(), None)),
        };
        self.name = name.zip(owner).map(|(text, (label, session))| Name { text, label, session });
    }

    /// A name belongs to one agent and its session. It is removed when either changes.
    pub(super) fn keep_name_for(&mut self, label: &str, session: Option<&SessionRef>) {
        self.name.take_if(|name| {
            let other = name.session.as_ref().zip(session).is_some_and(|(old, new)| old != new);
            name.label != label || other
        });
        if let (Some(name), Some(session)) = (&mut self.name, session) {
            name.session.get_or_insert_with(|| session.clone());
        }
    }

    /// Whether this is the first idle of a process, which is not an end of work.
    pub(super) fn finish_acquiring(&mut self) -> bool {
        let reached = self.acquiring && self.state() == State::Idle;
        self.acquiring &= !reached;
        reached && self.exited.is_none()
    }

    /// The state that readers see, apart from whether the user has seen it.
    pub(crate) fn state(&self) -> State {
        if self.prompt_on_screen_overrides() {
            return State::Blocked;
        }
        self.effective_claim().map_or(self.screen, |claim| claim.state)
    }

    /// The claim, effective or not, for tests.
    pub(crate) fn claim(&self) -> Option<&Claim> {
        self.claim.as_ref()
    }

    /// The session that owns the pane: that of the claim, or the kept one.
    pub(crate) fn session(&self) -> Option<Session> {
        self.claim
            .as_ref()
            .and_then(|claim| {
                Some(Session {
                    source: claim.source.clone(),
                    label: claim.label.clone(),
                    reference: claim.session.clone()?,
                })
            })
            .or_else(|| self.session.clone())
    }

    /// Whether a live full-lifecycle claim has turned screen reading off.
    pub(crate) fn screen_reading_off(&self) -> bool {
        self.effective_claim().is_some_and(|claim| is_full_lifecycle(&claim.source, &claim.label))
    }

    pub(crate) fn mark(&self, source: &str) -> Option<u64> {
        self.marks.get(source).copied()
    }

    /// What another server process still knows of this terminal: the official session, and on
    /// newer servers the claim.
    pub(crate) fn survivor(&self, keep_claim: bool) -> Self {
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

    /// Takes the number of a report: it must be above the mark. Once there is a mark, a report
    /// without a number is stale (protocol 5.1).
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

    /// A9 and B7: whether the session of another source owns the pane.
    pub(super) fn owned_by_another(&self, source: &str, label: &str) -> bool {
        self.session().is_some_and(|session| session.source != source || session.label != label)
    }

    /// Whether the known agent behind a label runs in the pane.
    pub(super) fn process_present(&self, label: &str) -> bool {
        let known = herdr_proto::canonical_label(label);
        known.is_some() && self.detected == known && self.exited.is_none()
    }

    /// A8 and B5: whether the label is a known one other than the detected agent's.
    pub(super) fn conflicts_with_detected(&self, label: &str) -> bool {
        match (self.detected, herdr_proto::canonical_label(label)) {
            (Some(detected), Some(known)) => detected != known,
            _ => false,
        }
    }

    /// Holds back reports of the full-lifecycle source that has the claim.
    pub(super) fn gate_current_claim(&mut self) {
        if let Some(claim) = &self.claim
            && is_full_lifecycle(&claim.source, &claim.label)
        {
            let gate = Gate::new(&claim.label, claim.session.clone(), GateCause::Cleared);
            self.gates.insert(claim.source.clone(), gate);
        }
    }

    /// Remembers that a source has left a session.
    pub(super) fn remember_left(&mut self, source: &str, label: &str, session: SessionRef) {
        let left = self.left.entry(source.to_owned()).or_default();
        let entry = (label.to_owned(), session);
        if !left.contains(&entry) {
            left.push(entry);
        }
    }

    /// V2: a full-lifecycle claim is shown only while its process runs.
    fn effective_claim(&self) -> Option<&Claim> {
        self.claim.as_ref().filter(|claim| {
            !is_full_lifecycle(&claim.source, &claim.label) || self.process_present(&claim.label)
        })
    }

    /// V1: a prompt on the screen takes precedence over an older claim of the same agent.
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
