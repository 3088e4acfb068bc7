//! Looking at the pane: when, and what to do about what it shows.

use std::collections::VecDeque;
use std::time::Duration;

use herdr_proto::{PaneInfo, ReportState, SourceId};

use super::judge::{self, Verdict};
use super::plan::{Confirmed, Known, StateRecord};
use super::{Now, PaneMachine, REQUEST_DEADLINE, Request, Stop, Wake};
use crate::config::Verify;
use crate::diagnostic::DiagnosticKind;
use crate::receipt::{Outcome, Part, Reason};

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
/// The last fresh source that is tried: `NAME.9`.
const LAST_FRESH_SOURCE: u32 = 9;

/// When the pane is looked at, and what has been tried.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Watcher {
    /// Since when something delivered is to be checked.
    due: Option<Duration>,
    /// Nothing has been delivered and checked in this claim yet.
    fresh: bool,
    last_look: Option<Duration>,
    /// A report of the state went out since the last look.
    state_sent: bool,
    metadata_sent: bool,
    climb: Climb,
    metadata_climb: Climb,
    owned_looks: u32,
    repairs: VecDeque<Duration>,
    /// Another writer keeps coming back: only own changes are reported. The
    /// state that it has taken from us.
    yielded: Option<StateRecord>,
    /// As `yielded`, for title and tokens.
    metadata_yielded: bool,
    /// What an earlier run left behind has been cleared in this claim.
    cleaned: bool,
    looked_before_clearing: bool,
    fresh_sources: u32,
}

/// How far the climb over a foreign mark has come.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Climb {
    #[default]
    Ground,
    /// Again, by the microsecond clock.
    Micros,
    /// By the nanosecond clock.
    Nanos,
}

impl Climb {
    fn next(self) -> Option<Self> {
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
        if verify == Verify::Always || self.metadata_climb > Climb::Ground {
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
    fn repair(&mut self, now: Duration) -> bool {
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
            && self.claimed
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

    pub(super) fn looked(&mut self, now: Duration, pane: &PaneInfo) {
        self.watcher.due = None;
        if self.wanted.is_none() || self.ending.is_some() {
            self.watcher.looked_before_clearing = true;
            self.keep_only_own_tokens(pane);
            return;
        }
        let state_sent = std::mem::take(&mut self.watcher.state_sent);
        let metadata_sent = std::mem::take(&mut self.watcher.metadata_sent);
        let Some(record) = self.confirmed.state.clone() else { return };
        let (claim, mut holds) = (&self.claim, false);
        let verdict = judge::state(pane, &claim.source, &claim.agent, &record);
        if self.stop == Some(Stop::Owned) && !matches!(verdict.1, Some(Reason::ForeignSession(_))) {
            self.stop = None;
            self.watcher.new_claim();
            self.confirmed.state = None;
            return;
        }
        match &verdict {
            (Outcome::Applied, _) => {
                holds = true;
                self.state_holds();
                self.ledger.judged(Part::State, verdict);
            }
            (_, Some(Reason::ForeignSession(_))) => self.owned(now, verdict),
            (_, Some(Reason::ScreenPrompt)) => self.ledger.judged(Part::State, verdict),
            _ if state_sent => self.climb(now, verdict, pane),
            _ => self.repair(now, record, verdict),
        }
        if holds || self.confirmed.state.is_some() {
            self.judge_metadata(now, pane, holds, metadata_sent);
        }
        if holds && !self.watcher.cleaned && judge::has_leftover(pane, &self.confirmed) {
            // Once per claim: what an earlier run left behind goes, and what
            // somebody else shows without guards is theirs.
            self.watcher.cleaned = true;
            self.confirmed.presentation = Known::Unsure;
        }
    }

    fn state_holds(&mut self) {
        self.watcher.climb = Climb::Ground;
        self.watcher.owned_looks = 0;
        self.watcher.yielded = None;
        self.rearm(&[DiagnosticKind::Ignored]);
    }

    /// A session of another integration blocks every state of ours. The
    /// second look makes sure; then title and tokens go on alone.
    fn owned(&mut self, now: Duration, verdict: Verdict) {
        self.watcher.owned_looks += 1;
        if self.watcher.owned_looks < 2 {
            self.confirmed.state = None;
            self.watcher.look_at(now);
            return;
        }
        if let (_, Some(reason)) = &verdict {
            let detail = format!("{reason}: the state cannot show; title and tokens go on");
            self.raise(DiagnosticKind::Ignored, detail);
        }
        self.stop = Some(Stop::Owned);
        self.ledger.judged(Part::State, verdict);
    }

    /// We said it a moment ago and the pane shows something else: get above
    /// the mark, or say why that is not possible.
    fn climb(&mut self, now: Duration, verdict: Verdict, pane: &PaneInfo) {
        if let Some(next) = self.watcher.climb.next() {
            self.watcher.climb = next;
            self.watcher.look_at(now);
            self.confirmed.state = None;
            return;
        }
        self.watcher.climb = Climb::Ground;
        if let (_, Some(reason)) = &verdict {
            self.raise(DiagnosticKind::Ignored, format!("{reason}; {}", reason.remedy()));
        }
        // Where nobody else shows, no number of ours gets through.
        let muted = pane.agent.as_deref().is_none_or(|shown| shown == self.claim.agent.as_str());
        if muted && !self.claim.agent.is_known() {
            if self.claim.fresh_source && self.take_fresh_source(now) {
                return;
            }
            self.stop = Some(Stop::Muted);
        } else {
            self.watcher.yielded.clone_from(&self.confirmed.state);
        }
        self.ledger.judged(Part::State, verdict);
    }

    fn take_fresh_source(&mut self, now: Duration) -> bool {
        let number = self.watcher.fresh_sources + 2;
        let name = format!("{}.{number}", self.first_source);
        let Ok(source) = SourceId::parse(name) else { return false };
        if number > LAST_FRESH_SOURCE {
            return false;
        }
        self.watcher.fresh_sources += 1;
        self.claim.source = source;
        self.confirmed.forget();
        self.watcher.look_at(now);
        true
    }

    /// The row was ours and is not: somebody took it or cleared it.
    fn repair(&mut self, now: Duration, record: StateRecord, verdict: Verdict) {
        if self.stop.is_some() || self.watcher.yielded.is_some() {
            return;
        }
        if self.watcher.repair(now) {
            self.raise(
                DiagnosticKind::Ignored,
                "another reporter keeps taking the pane; from now on only own changes are reported",
            );
            self.watcher.yielded = Some(record);
            self.ledger.judged(Part::State, verdict);
            return;
        }
        self.confirmed.state = None;
        self.watcher.look_at(now);
    }

    fn judge_metadata(&mut self, now: Duration, pane: &PaneInfo, holds: bool, sent: bool) {
        let presentation = match &self.confirmed.presentation {
            Known::Is(record) => judge::presentation(pane, &record.presentation, holds),
            Known::Unsure => return,
        };
        let tokens = judge::tokens(pane, &self.confirmed);
        let lost = |verdict: &Verdict| verdict.0 == Outcome::Ignored;
        let (lost_presentation, lost_tokens) = (lost(&presentation), lost(&tokens));
        if !lost_presentation && !lost_tokens {
            self.watcher.metadata_climb = Climb::Ground;
        } else if self.may_repair_metadata(now, sent) {
            if lost_presentation {
                self.confirmed.presentation = Known::Unsure;
            }
            if lost_tokens {
                self.confirmed.tokens.values_mut().for_each(|text| *text = None);
            }
            self.watcher.look_at(now);
            return;
        }
        self.ledger.judged(Part::Presentation, presentation);
        self.ledger.judged(Part::Tokens, tokens);
    }

    fn may_repair_metadata(&mut self, now: Duration, sent: bool) -> bool {
        if self.watcher.metadata_yielded || self.watcher.yielded.is_some() {
            return false;
        }
        let again = if sent {
            let next = self.watcher.metadata_climb.next();
            self.watcher.metadata_climb = next.unwrap_or_default();
            next.is_some()
        } else {
            !self.watcher.repair(now)
        };
        self.watcher.metadata_yielded = !again;
        again
    }

    /// Of the tokens that may be ours, those that show another value or none
    /// are not ours to clear.
    fn keep_only_own_tokens(&mut self, pane: &PaneInfo) {
        self.confirmed.tokens.retain(|key, text| {
            let shown = pane.tokens.get(key.as_str());
            match (shown, text) {
                (None, _) => false,
                (Some(_), None) => true,
                (Some(shown), Some(text)) => shown == text.as_str(),
            }
        });
    }
}
