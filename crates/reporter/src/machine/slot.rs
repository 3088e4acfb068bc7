//! A part of the pane: what is wanted, what the server has, and what keeps it from being resent.

use std::collections::BTreeMap;
use std::time::Duration;

use herdr_proto::limits::TOKENS_PER_REPORT;
use herdr_proto::{AgentLabel, PresentationText, ReportState, TokenEdit, TokenKey, TokenPatch};

use crate::activity::{Presentation, Snapshot};

/// The value is left to the other writer at this many repairs within [`REPAIR_WINDOW`].
const MAX_REPAIRS: usize = 3;
const REPAIR_WINDOW: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
pub(super) struct Slot<T> {
    /// The value that the server should have; `None` means no value of ours.
    pub(super) wanted: Option<T>,
    pub(super) on_server: OnServer<T>,
    /// The server has accepted the value, and the pane has not been read since.
    pub(super) awaits_read_back: bool,
    /// The pane has no room for the value; it is not sent before this time.
    pub(super) no_room_until: Option<Duration>,
    pub(super) escalation: Escalation,
    /// The value that was wanted when the slot yielded to another writer.
    yielded: Option<T>,
    /// The agent that the row showed then.
    pub(super) yielded_to: Option<String>,
    /// When the value was repaired, within [`REPAIR_WINDOW`].
    repairs: Vec<Duration>,
}

/// What the server has of ours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum OnServer<T> {
    #[default]
    Absent,
    Known(T),
    /// A value of ours may be there, and it may be an old one.
    Unknown,
}

/// How far the sequence number was raised because the server accepted a report and the pane did
/// not show it: its sequence mark may be above our numbers.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Escalation {
    #[default]
    None,
    /// Sent again with a new number of the microsecond clock.
    NewSeq,
    /// Sent again with a number of the nanosecond clock.
    NanosSeq,
}

/// What a read-back said of a value that the server had accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    Shown,
    /// The pane shows something else; the value is to be sent again.
    Resent,
    /// The pane shows something else, and that is left as it is.
    Differs,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StateRecord {
    pub(super) state: ReportState,
    pub(super) reason: Option<PresentationText>,
    pub(super) resend: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PresentationRecord {
    pub(super) presentation: Presentation,
    pub(super) resend: u64,
    /// The detected agent under whose row the record is shown; `None` for our own row.
    pub(super) under_agent: Option<AgentLabel>,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self {
            wanted: None,
            on_server: OnServer::Absent,
            awaits_read_back: false,
            no_room_until: None,
            escalation: Escalation::None,
            yielded: None,
            yielded_to: None,
            repairs: Vec::new(),
        }
    }
}

impl<T: Clone + PartialEq> Slot<T> {
    /// Whether the wanted value has to be sent.
    pub(super) fn needs_update(&self) -> bool {
        let same = match (&self.wanted, &self.on_server) {
            (None, OnServer::Absent) => true,
            (Some(wanted), OnServer::Known(known)) => wanted == known,
            _ => false,
        };
        !same && !self.has_yielded()
    }

    pub(super) fn may_be_on_server(&self) -> bool {
        !matches!(self.on_server, OnServer::Absent)
    }

    /// What the server has of ours is not known any more, so the wanted value is sent again.
    pub(super) fn mark_unknown(&mut self) {
        if self.may_be_on_server() {
            self.on_server = OnServer::Unknown;
        }
    }

    /// Another server may be there.
    pub(super) fn start_over(&mut self) {
        self.mark_unknown();
        self.no_room_until = None;
        self.awaits_read_back = false;
        self.reset_conflicts();
    }

    /// Forgets what other writers did.
    pub(super) fn reset_conflicts(&mut self) {
        self.escalation = Escalation::None;
        self.yielded = None;
        self.repairs.clear();
    }

    pub(super) fn accepted(&mut self, value: Option<T>) {
        self.on_server = value.map_or(OnServer::Absent, OnServer::Known);
        self.awaits_read_back = true;
        self.no_room_until = None;
    }

    /// The pane shows the value.
    pub(super) fn confirmed(&mut self) {
        self.awaits_read_back = false;
        self.escalation = Escalation::None;
        self.yielded = None;
    }

    /// Leaves the pane to the other writer until a different value is wanted.
    pub(super) fn yield_to(&mut self, agent: Option<String>) {
        self.escalation = Escalation::None;
        self.yielded_to = agent;
        self.yielded.clone_from(&self.wanted);
    }

    /// Whether the value that is wanted now has yielded to another writer.
    pub(super) fn has_yielded(&self) -> bool {
        self.yielded.is_some() && self.yielded == self.wanted
    }

    /// Takes in a read-back of the pane. `may_repair` is whether a value that does not show may
    /// be sent again.
    pub(super) fn check(&mut self, shown: bool, may_repair: bool, now: Duration) -> Check {
        if shown {
            self.awaits_read_back = false;
            self.escalation = Escalation::None;
            Check::Shown
        } else if !may_repair || self.has_yielded() {
            Check::Differs
        } else if self.try_resend(now) {
            Check::Resent
        } else {
            self.yield_to(None);
            Check::Differs
        }
    }

    /// The pane does not show a value that the server has accepted. Marks the value to be sent
    /// again: with a higher number if the pane never showed it, else as a repair. False if that
    /// was tried often enough.
    pub(super) fn try_resend(&mut self, now: Duration) -> bool {
        if std::mem::take(&mut self.awaits_read_back) {
            self.escalation = match self.escalation {
                Escalation::None => Escalation::NewSeq,
                Escalation::NewSeq => Escalation::NanosSeq,
                Escalation::NanosSeq => return false,
            };
        } else {
            self.repairs.retain(|repair| now.saturating_sub(*repair) <= REPAIR_WINDOW);
            self.repairs.push(now);
            if self.repairs.len() >= MAX_REPAIRS {
                return false;
            }
        }
        self.mark_unknown();
        true
    }
}

impl StateRecord {
    /// `None` while the host has said no state.
    pub(super) fn of(snapshot: &Snapshot) -> Option<Self> {
        (snapshot.state != ReportState::Unknown).then(|| Self {
            state: snapshot.state,
            reason: snapshot.reason.clone(),
            resend: snapshot.resend,
        })
    }
}

/// The tokens, with a slot for each key.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub(super) slots: BTreeMap<TokenKey, Slot<PresentationText>>,
    /// The pane is full. A request with a new key is refused as a whole, so each new key goes in
    /// a request of its own.
    pub(super) new_keys_alone: bool,
}

impl Tokens {
    /// Sets the wanted tokens; returns whether they have changed.
    pub(super) fn set_wanted(&mut self, tokens: &BTreeMap<TokenKey, PresentationText>) -> bool {
        let mut changed = false;
        for key in tokens.keys() {
            self.slots.entry(key.clone()).or_default();
        }
        for (key, slot) in &mut self.slots {
            let wanted = tokens.get(key);
            if slot.wanted.as_ref() != wanted {
                slot.wanted = wanted.cloned();
                changed = true;
            }
        }
        self.remove_unused();
        changed
    }

    fn remove_unused(&mut self) {
        self.slots.retain(|_, slot| slot.wanted.is_some() || slot.may_be_on_server());
    }

    pub(super) fn needs_update(&self) -> bool {
        self.slots.values().any(Slot::needs_update)
    }

    pub(super) fn may_be_on_server(&self) -> bool {
        self.slots.values().any(Slot::may_be_on_server)
    }

    pub(super) fn for_each(&mut self, act: impl FnMut(&mut Slot<PresentationText>)) {
        self.slots.values_mut().for_each(act);
    }

    /// The edits that have to be sent, split into requests of a size that the server takes.
    pub(super) fn patches(&self, now: Duration) -> Vec<TokenPatch> {
        let due = |slot: &Slot<_>| slot.no_room_until.is_none_or(|until| until <= now);
        let edits = || self.slots.iter().filter(|(_, slot)| slot.needs_update() && due(slot));
        // Clears go first, since they make room on a full pane.
        let clears = edits().filter(|(_, slot)| slot.wanted.is_none());
        let sets = edits().filter(|(_, slot)| slot.wanted.is_some());
        let (together, alone): (Vec<_>, Vec<_>) = clears
            .chain(sets)
            .partition(|(_, slot)| !self.new_keys_alone || slot.may_be_on_server());
        let chunks = together.chunks(TOKENS_PER_REPORT).chain(alone.chunks(1));
        let patch = |chunk: &[(&TokenKey, &Slot<_>)]| {
            let mut patch = TokenPatch::new();
            for (key, slot) in chunk {
                let edit = slot.wanted.clone().map_or(TokenEdit::Clear, TokenEdit::Set);
                patch.edit((*key).clone(), edit);
            }
            patch
        };
        chunks.map(patch).collect()
    }

    /// When to try again a token for which the pane had no room.
    pub(super) fn room_retry_at(&self) -> Option<Duration> {
        let waiting = self.slots.values().filter(|slot| slot.needs_update());
        waiting.filter_map(|slot| slot.no_room_until).min()
    }

    pub(super) fn accepted(&mut self, patch: &TokenPatch) {
        for (key, text) in patch.iter() {
            self.slots.entry(key.clone()).or_default().accepted(text.cloned());
        }
        self.remove_unused();
    }

    /// The server may have applied this patch.
    pub(super) fn mark_unknown(&mut self, patch: &TokenPatch) {
        for (key, _) in patch.iter() {
            self.slots.entry(key.clone()).or_default().on_server = OnServer::Unknown;
        }
    }

    /// The keys of a patch that are not on the server yet.
    pub(super) fn new_keys(&self, patch: &TokenPatch) -> Vec<TokenKey> {
        let is_new =
            |key: &TokenKey| self.slots.get(key).is_some_and(|slot| !slot.may_be_on_server());
        patch.iter().map(|(key, _)| key).filter(|key| is_new(key)).cloned().collect()
    }
}
