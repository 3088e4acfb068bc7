//! Looking at the pane: when, and what is remembered of it.

use std::collections::VecDeque;
use std::time::Duration;

use herdr_proto::ReportState;

use super::decide::Wake;
use super::plan::{Confirmed, StateRecord};
use super::{Now, PaneMachine, REQUEST_DEADLINE, Request};
use crate::config::Verify;

/// How often the pane is looked at while the agent is not idle; a lost row is
/// repaired within five seconds.
const WATCH_BUSY: Duration = Duration::from_secs(4);
/// And while it is.
const WATCH_IDLE: Duration = Duration::from_secs(60);
/// A check waits this long for what goes out in a moment anyway.
const LOOK_PATIENCE: Duration = Duration::from_millis(300);
/// So many repairs …
const REPAIRS: usize = 3;
/// … within this time, and the other writer is left alone.
const REPAIRS_WITHIN: Duration = Duration::from_secs(30);

/// When the pane is looked at, and what has been tried.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Watcher {
    /// Since when something delivered is to be checked.
    pub(super) due: Option<Duration>,
    /// Nothing has been delivered and checked in this claim yet.
    pub(super) fresh: bool,
    pub(super) last_look: Option<Duration>,
    /// A report of the state went out since the last look.
    pub(super) state_sent: bool,
    pub(super) metadata_sent: bool,
    /// Metadata was delivered in this claim.
    pub(super) metadata_seen: bool,
    pub(super) climb: Climb,
    pub(super) metadata_climb: Climb,
    pub(super) owned_looks: u32,
    pub(super) repairs: VecDeque<Duration>,
    /// Another writer keeps coming back: only own changes are reported. The
    /// state that it has taken from us.
    pub(super) yielded: Option<StateRecord>,
    /// As `yielded`, for title and tokens.
    pub(super) metadata_yielded: bool,
    /// What an earlier run left behind has been cleared in this claim.
    pub(super) cleaned: bool,
    pub(super) looked_before_clearing: bool,
    pub(super) fresh_sources: u32,
}

/// How far the climb over a foreign mark has come.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Climb {
    #[default]
    Ground,
    /// Again, by the microsecond clock.
    Micros,
    /// By the nanosecond clock.
    Nanos,
}

impl Climb {
    pub(super) fn next(self) -> Option<Self> {
        match self {
            Self::Ground => Some(Self::Micros),
            Self::Micros => Some(Self::Nanos),
            Self::Nanos => None,
        }
    }
}

impl Watcher {
    pub(super) fn new_claim(&mut self) {
        *self = Self { fresh: true, fresh_sources: self.fresh_sources, ..Self::default() };
    }

    pub(super) fn state_delivered(
        &mut self,
        now: Duration,
        record: &StateRecord,
        confirmed: &Confirmed,
        verify: Verify,
    ) {
        let before = confirmed.state.as_ref().map(|before| before.state);
        let transition = before != Some(record.state);
        let checked = match verify {
            Verify::Never => false,
            Verify::Claim => self.fresh,
            Verify::Transitions => transition || self.fresh,
            Verify::Always => true,
        };
        if checked || self.climb > Climb::Ground {
            self.look_at(now);
        }
        self.fresh = false;
        self.state_sent = true;
        self.last_look = Some(now);
        if self.yielded.as_ref() != Some(record) {
            self.yielded = None;
        }
    }

    pub(super) fn metadata_delivered(&mut self, now: Duration, verify: Verify) {
        self.metadata_sent = true;
        // Its mark is another one than the state's, so the first one of a claim
        // is looked at as the claim is.
        let first = !std::mem::replace(&mut self.metadata_seen, true) && verify != Verify::Never;
        if first || verify == Verify::Always || self.metadata_climb > Climb::Ground {
            self.look_at(now);
        }
    }

    pub(super) fn looked(&mut self, now: Duration) {
        self.last_look = Some(now);
    }

    /// Something is to be checked from now on.
    pub(super) fn look_at(&mut self, now: Duration) {
        self.due.get_or_insert(now);
    }

    pub(super) fn climbs(&self) -> bool {
        self.climb > Climb::Ground || self.metadata_climb > Climb::Ground
    }

    pub(super) fn climbs_to_nanos(&self) -> bool {
        self.climb == Climb::Nanos || self.metadata_climb == Climb::Nanos
    }

    /// Another writer keeps the row; title and tokens go on.
    pub(super) fn has_yielded(&self) -> bool {
        self.yielded.is_some()
    }

    /// The server does not let us look, so nothing is known before clearing.
    pub(super) fn cannot_look(&mut self) {
        self.looked_before_clearing = true;
    }

    /// The host wants something else shown: it is worth trying again.
    pub(super) fn new_metadata(&mut self) {
        self.metadata_yielded = false;
    }

    /// Notes a repair; whether the other writer is to be left alone now.
    pub(super) fn repair(&mut self, now: Duration) -> bool {
        while self.repairs.front().is_some_and(|then| now.saturating_sub(*then) > REPAIRS_WITHIN) {
            self.repairs.pop_front();
        }
        self.repairs.push_back(now);
        self.repairs.len() >= REPAIRS
    }
}

impl PaneMachine {
    /// Tokens have no guard: before they are cleared, the pane is read to
    /// leave those that show somebody else's value by now.
    pub(super) fn must_look_before_clearing(&self) -> bool {
        self.wanted.is_none()
            && !self.confirmed.tokens.is_empty()
            && !self.watcher.looked_before_clearing
    }

    pub(super) fn next_look(&mut self, now: Now, wake: &mut Wake) -> Option<Request> {
        let Some(wanted) = &self.wanted else { return None };
        if let Some(at) = self.rests.looks.filter(|at| now.elapsed < *at) {
            wake.at(Some(at));
            return None;
        }
        let every = if wanted.state == ReportState::Idle { WATCH_IDLE } else { WATCH_BUSY };
        let at = self.watcher.last_look.map_or(now.elapsed, |last| last + every);
        let patience = if wake.pending { LOOK_PATIENCE } else { Duration::ZERO };
        let due = self.watcher.due.map(|since| since + patience);
        let watch = Some(at).filter(|_| self.claimed);
        if [due, watch].into_iter().flatten().any(|at| at <= now.elapsed) {
            return Some(self.send_look(now, REQUEST_DEADLINE));
        }
        if due.is_none() && !wake.pending {
            self.ledger.leave_unjudged();
        }
        wake.at(due);
        wake.at(watch);
        None
    }
}
