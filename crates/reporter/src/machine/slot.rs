//! A part of the pane: what is wanted of it, what the server has, and what
//! stands in the way.

use std::collections::BTreeMap;
use std::time::Duration;

use herdr_proto::limits::TOKENS_PER_REPORT;
use herdr_proto::{AgentLabel, PresentationText, ReportState, TokenEdit, TokenKey, TokenPatch};

use crate::activity::{Presentation, Snapshot};

/// So many repairs …
const REPAIRS: usize = 3;
/// … within this time, and the other writer is left alone.
const REPAIRS_WITHIN: Duration = Duration::from_secs(30);

/// One part: the state, the presentation, or one token.
#[derive(Debug, Clone)]
pub(super) struct Slot<T> {
    /// What the server is to have; `None` is nothing of ours.
    pub(super) wanted: Option<T>,
    /// What it has of ours.
    pub(super) has: Has<T>,
    /// When it went out last.
    pub(super) sent_at: Option<Duration>,
    /// It went out, and nobody has looked since.
    pub(super) unseen: bool,
    /// The last attempt failed. It waits for the rest of its topic.
    pub(super) failing: bool,
    /// The server has no room for it; until then it is left out.
    pub(super) left_out_until: Option<Duration>,
    /// How far the climb over a foreign mark has come.
    pub(super) climb: Climb,
    /// What was wanted when another writer was left alone.
    yielded: Option<T>,
    /// Whose row that is.
    pub(super) yielded_to: Option<String>,
    repairs: Vec<Duration>,
}

/// What the server has of a part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Has<T> {
    /// Nothing of ours.
    #[default]
    Absent,
    /// It said `ok` to this.
    Known(T),
    /// It may have anything of ours.
    Unsure,
}

/// How far the climb over a foreign mark has come.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Climb {
    #[default]
    None,
    /// Sent again, by the microsecond clock.
    Micros,
    /// By the nanosecond clock.
    Nanos,
}

/// What one report of the state says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StateRecord {
    pub(super) state: ReportState,
    pub(super) reason: Option<PresentationText>,
    pub(super) resend: u64,
}

/// What one report of the presentation says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PresentationRecord {
    pub(super) presentation: Presentation,
    pub(super) resend: u64,
    /// It shows under a row that Herdr makes of this agent, not under our own.
    pub(super) under: Option<AgentLabel>,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self {
            wanted: None,
            has: Has::Absent,
            sent_at: None,
            unseen: false,
            failing: false,
            left_out_until: None,
            climb: Climb::None,
            yielded: None,
            yielded_to: None,
            repairs: Vec::new(),
        }
    }
}

impl<T: Clone + PartialEq> Slot<T> {
    /// Whether the server lacks what is wanted, and is to get it.
    pub(super) fn lacks(&self) -> bool {
        let same = match (&self.wanted, &self.has) {
            (None, Has::Absent) => true,
            (Some(wanted), Has::Known(has)) => wanted == has,
            _ => false,
        };
        !same && !self.has_yielded()
    }

    /// Something of ours may be there.
    pub(super) fn may_be_there(&self) -> bool {
        !matches!(self.has, Has::Absent)
    }

    /// Send it again: what the server has of ours is not known any more.
    pub(super) fn forget(&mut self) {
        if self.may_be_there() {
            self.has = Has::Unsure;
        }
    }

    /// Nothing that an earlier server did counts any more.
    pub(super) fn start_over(&mut self) {
        self.forget();
        self.failing = false;
        self.left_out_until = None;
        self.unseen = false;
        self.try_anew();
    }

    /// What other writers did does not count any more.
    pub(super) fn try_anew(&mut self) {
        self.climb = Climb::None;
        self.yielded = None;
        self.repairs.clear();
    }

    /// The server took it.
    pub(super) fn taken(&mut self, value: Option<T>) {
        self.has = value.map_or(Has::Absent, Has::Known);
        self.unseen = true;
        self.failing = false;
        self.left_out_until = None;
    }

    /// The pane shows it.
    pub(super) fn holds(&mut self) {
        self.climb = Climb::None;
        self.yielded = None;
    }

    /// Leaves the other writer alone until something else is wanted.
    pub(super) fn yield_to(&mut self, whom: Option<String>) {
        self.climb = Climb::None;
        self.yielded_to = whom;
        self.yielded.clone_from(&self.wanted);
    }

    /// Another writer was left alone with what is wanted still.
    pub(super) fn has_yielded(&self) -> bool {
        self.yielded.is_some() && self.yielded == self.wanted
    }

    /// The pane does not show what the server said `ok` to: sends it again, by
    /// a higher number if it went out a moment ago. False if that has been
    /// tried for long enough.
    pub(super) fn send_again(&mut self, now: Duration) -> bool {
        let again = if std::mem::take(&mut self.unseen) {
            self.climb = match self.climb {
                Climb::None => Climb::Micros,
                Climb::Micros => Climb::Nanos,
                Climb::Nanos => return false,
            };
            true
        } else {
            self.repairs.retain(|then| now.saturating_sub(*then) <= REPAIRS_WITHIN);
            self.repairs.push(now);
            self.repairs.len() < REPAIRS
        };
        if again {
            self.forget();
        }
        again
    }
}

impl StateRecord {
    pub(super) fn of(snapshot: &Snapshot) -> Option<Self> {
        let said = snapshot.state != ReportState::Unknown;
        said.then(|| Self {
            state: snapshot.state,
            reason: snapshot.reason.clone(),
            resend: snapshot.resend,
        })
    }
}

/// The tokens, a slot each.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub(super) slots: BTreeMap<TokenKey, Slot<PresentationText>>,
    /// A pane that is full takes those that are there together, and each new
    /// one alone.
    pub(super) apart: bool,
    pub(super) sent_at: Option<Duration>,
    pub(super) failing: bool,
}

impl Tokens {
    /// Sets what is wanted; whether that is something else than before.
    pub(super) fn want(&mut self, tokens: &BTreeMap<TokenKey, PresentationText>) -> bool {
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
        self.slots.retain(|_, slot| slot.wanted.is_some() || slot.may_be_there());
        changed
    }

    pub(super) fn lack(&self) -> bool {
        self.slots.values().any(Slot::lacks)
    }

    /// Some of ours may be on the pane.
    pub(super) fn may_be_there(&self) -> bool {
        self.slots.values().any(Slot::may_be_there)
    }

    pub(super) fn each(&mut self, act: impl FnMut(&mut Slot<PresentationText>)) {
        self.slots.values_mut().for_each(act);
    }

    /// The edits that are missing, in portions that the server takes.
    pub(super) fn patches(&self, now: Duration) -> Vec<TokenPatch> {
        let due = |slot: &Slot<_>| slot.left_out_until.is_none_or(|until| until <= now);
        let missing = || self.slots.iter().filter(|(_, slot)| slot.lacks() && due(slot));
        // What goes makes room for what comes.
        let clears = missing().filter(|(_, slot)| slot.wanted.is_none());
        let sets = missing().filter(|(_, slot)| slot.wanted.is_some());
        let (there, new): (Vec<_>, Vec<_>) =
            clears.chain(sets).partition(|(_, slot)| !self.apart || slot.may_be_there());
        let portions = there.chunks(TOKENS_PER_REPORT).chain(new.chunks(1));
        portions
            .map(|portion| portion.iter().map(|(key, slot)| edit(key, slot)).collect())
            .map(|edits: Vec<_>| {
                let mut patch = TokenPatch::new();
                for (key, edit) in edits {
                    patch.edit(key, edit);
                }
                patch
            })
            .collect()
    }

    /// When one that was left out is tried again.
    pub(super) fn next_try(&self) -> Option<Duration> {
        let left_out = self.slots.values().filter(|slot| slot.lacks());
        left_out.filter_map(|slot| slot.left_out_until).min()
    }

    pub(super) fn taken(&mut self, patch: &TokenPatch) {
        for (key, text) in patch.iter() {
            self.slots.entry(key.clone()).or_default().taken(text.cloned());
        }
        self.slots.retain(|_, slot| slot.wanted.is_some() || slot.may_be_there());
    }

    /// The server may have taken it.
    pub(super) fn may_be_taken(&mut self, patch: &TokenPatch) {
        for (key, _) in patch.iter() {
            self.slots.entry(key.clone()).or_default().has = Has::Unsure;
        }
    }

    /// The keys of a patch that the server has not got yet.
    pub(super) fn new_keys(&self, patch: &TokenPatch) -> Vec<TokenKey> {
        let is_new = |key: &TokenKey| self.slots.get(key).is_some_and(|slot| !slot.may_be_there());
        patch.iter().map(|(key, _)| key).filter(|key| is_new(key)).cloned().collect()
    }
}

fn edit(key: &TokenKey, slot: &Slot<PresentationText>) -> (TokenKey, TokenEdit) {
    (key.clone(), slot.wanted.clone().map_or(TokenEdit::Clear, TokenEdit::Set))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(count: usize) -> BTreeMap<TokenKey, PresentationText> {
        let key = |n| TokenKey::parse(format!("k{n:02}")).unwrap();
        (0..count).map(|n| (key(n), PresentationText::normalize("v").unwrap())).collect()
    }

    #[test]
    fn tokens_go_in_portions_with_clears_first() {
        let mut slots = Tokens::default();
        let zz = TokenKey::parse("zz").unwrap();
        slots.slots.entry(zz.clone()).or_default().has = Has::Unsure;
        assert!(slots.want(&tokens(32)));
        let patches = slots.patches(Duration::ZERO);
        assert_eq!(patches.iter().map(TokenPatch::len).collect::<Vec<_>>(), [16, 16, 1]);
        assert!(patches[0].iter().any(|(key, text)| *key == zz && text.is_none()));
        for patch in &patches {
            slots.taken(patch);
        }
        assert!(!slots.lack() && !slots.want(&tokens(32)));
        assert_eq!(slots.patches(Duration::ZERO), []);
    }

    #[test]
    fn what_went_out_a_moment_ago_climbs_and_what_was_there_is_repaired() {
        let mut slot = Slot { wanted: Some(1), ..Slot::default() };
        for (again, climb) in [(true, Climb::Micros), (true, Climb::Nanos), (false, Climb::Nanos)] {
            slot.taken(Some(1));
            assert_eq!(slot.send_again(Duration::ZERO), again);
            assert_eq!((slot.climb, slot.lacks()), (climb, again));
        }
        slot.holds();
        slot.taken(Some(1));
        slot.unseen = false;
        for (second, again) in [(0, true), (10, true), (20, false), (100, true)] {
            assert_eq!(slot.send_again(Duration::from_secs(second)), again, "{second}");
            slot.taken(Some(1));
            slot.unseen = false;
        }
        slot.yield_to(None);
        slot.forget();
        assert!(!slot.lacks(), "left alone");
        slot.wanted = Some(2);
        assert!(slot.lacks(), "until something else is wanted");
    }
}
