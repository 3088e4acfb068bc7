//! The pane machine: every rule of reporting, without clock, socket or thread.
//!
//! [`PaneMachine::step`] takes what happened and says what to do: at most one
//! request, which must be answered (or abandoned) before the next one comes.
//! The files here each hold one concern: [`plan`] the requests, [`judge`] and
//! `look` the truth, `outcome` what answers mean, `ending` the end, `ledger`
//! the receipts.

mod backoff;
mod ending;
mod identity;
mod io;
mod judge;
mod ledger;
mod look;
mod outcome;
mod plan;
mod request;
mod seq;

use std::collections::BTreeSet;
use std::time::Duration;

use herdr_proto::{AgentLabel, PaneId, Pong, ReportState, SourceId, TokenKey, Ttl};

pub use io::{
    Answer, Ended, Failure, FailureKind, Identity, Input, Lease, Now, PaneCall, Request, Step,
};
pub use ledger::Counters;

use crate::activity::Snapshot;
use crate::config::{Config, UnverifiedPane, Verify};
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::receipt::Part;
use backoff::Backoff;
use ending::Ending;
use identity::{Gate, Whereabouts};
use ledger::Ledger;
use look::Watcher;
use plan::{Action, Confirmed, Known, PresentationRecord, StateRecord, plan};
use request::Flight;
use seq::SeqClock;

/// Changes of state go out at least this far apart; the first goes at once.
const STATE_PACE: Duration = Duration::from_millis(50);
/// So do reports of metadata; the last value always goes (failure B71).
const METADATA_PACE: Duration = Duration::from_millis(100);
/// How long one request may take. A retry keeps its number and does no harm,
/// and a server that was silent must not hold the newest state up for longer
/// than the cap of the backoff (failure B11).
const REQUEST_DEADLINE: Duration = Duration::from_millis(1500);
/// While only another socket can help, how often the shell is woken to look
/// for one.
const SOCKET_CHECK: Duration = Duration::from_secs(2);
/// How long a part rests that the server refused.
const REFUSED_REST: Duration = Duration::from_secs(60);

/// What a machine is for; constant for its life.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Claim {
    /// The pane.
    pub pane: PaneId,
    /// Who reports.
    pub source: SourceId,
    /// The agent's label.
    pub agent: AgentLabel,
    /// As [`Config::settle`].
    pub settle: Duration,
    /// As [`Config::metadata_ttl`].
    pub metadata_ttl: Ttl,
    /// As [`Config::verify`].
    pub verify: Verify,
    /// As [`Config::fresh_source`].
    pub fresh_source: bool,
    /// As [`Config::any_pane`].
    pub any_pane: bool,
    /// As [`Config::unverified_pane`].
    pub unverified_pane: UnverifiedPane,
    /// Spreads the attempts of many reporters; any number.
    pub seed: u64,
}

impl Claim {
    /// The claim of a pane, with what `config` says of it.
    pub fn new(pane: PaneId, source: SourceId, agent: AgentLabel, config: &Config) -> Self {
        Self {
            pane,
            source,
            agent,
            settle: config.settle,
            metadata_ttl: config.metadata_ttl,
            verify: config.verify,
            fresh_source: config.fresh_source,
            any_pane: config.any_pane,
            unverified_pane: config.unverified_pane,
            seed: 0,
        }
    }
}

/// Brings one pane to show what is wanted, and says what became of it.
///
/// ```
/// use std::time::Duration;
/// use herdr_proto::{AgentLabel, PaneId, SourceId};
/// use reporter::machine::{Answer, Claim, Input, Now, PaneCall, PaneMachine};
/// use reporter::{Activity, AgentEvent, Config};
///
/// let config = Config::default();
/// let mut claim = Claim::new(
///     PaneId::parse("w1:p1")?,
///     SourceId::parse("custom:host")?,
///     AgentLabel::parse("host")?,
///     &config,
/// );
/// claim.any_pane = true; // else it first asks whose pane it is
/// let mut machine = PaneMachine::new(claim);
/// let mut activity = Activity::default();
/// activity.apply(AgentEvent::AgentStarted { agent_id: "main".into() })?;
///
/// let now = Now::new(Duration::ZERO, 1_700_000_000_000_000);
/// let wanted = activity.snapshot(&config).map(Box::new);
/// let step = machine.step(now, Input::Wanted(wanted));
/// let Some(PaneCall::Report(report)) = step.request.map(|request| request.call) else { panic!() };
/// assert_eq!(report.seq.unwrap().get(), 1_700_000_000_000_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PaneMachine {
    claim: Claim,
    /// As configured; `claim.source` differs once a fresh one was taken.
    first_source: SourceId,
    lease: Lease,
    whereabouts: Whereabouts,
    wanted: Option<Snapshot>,
    confirmed: Confirmed,
    /// A report of ours may have been taken since the last release.
    claimed: bool,
    /// The claim is a predecessor's, and nothing has been wanted yet.
    inherited: bool,
    flight: Option<Flight>,
    /// What failed and goes out again under its number if it is still wanted.
    retry: Option<Flight>,
    seq: SeqClock,
    backoff: Backoff,
    pace: Pace,
    /// When title, labels and tokens are to be sent again.
    refresh_at: Option<Duration>,
    /// Why the state does not go out.
    stop: Option<Stop>,
    rests: Rests,
    watcher: Watcher,
    server: Option<Pong>,
    /// The server does not take this agent's `resume_argv`.
    no_resume: bool,
    ledger: Ledger,
    raised: BTreeSet<DiagnosticKind>,
    diagnostics: Vec<Diagnostic>,
    ending: Option<Ending>,
}

/// When things last went out.
#[derive(Debug, Default)]
struct Pace {
    state_sent: Option<Duration>,
    last_state: Option<ReportState>,
    metadata_sent: Option<Duration>,
    /// Since when idle is wanted and waits to be believed; none after a flush.
    idle_since: Option<Duration>,
}

/// Why the state does not go out any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// Nothing gets above the server's mark.
    Muted,
    /// Another integration's session owns the pane.
    Owned,
}

/// Until when a refused part rests.
#[derive(Debug, Default)]
struct Rests {
    state: Option<Duration>,
    presentation: Option<Duration>,
    tokens: Option<Duration>,
    looks: Option<Duration>,
}

/// What is on a pane when its reporter is replaced by another one of the same
/// process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Legacy {
    claimed: bool,
    last_seq: u64,
    tokens: Vec<TokenKey>,
}

impl PaneMachine {
    /// A machine for one claim. It holds the lease until told otherwise, and
    /// asks whose pane it is before it claims it.
    pub fn new(claim: Claim) -> Self {
        Self {
            first_source: claim.source.clone(),
            backoff: Backoff::new(claim.seed),
            claim,
            lease: Lease::Held,
            whereabouts: Whereabouts::default(),
            wanted: None,
            confirmed: Confirmed::default(),
            claimed: false,
            inherited: false,
            flight: None,
            retry: None,
            seq: SeqClock::default(),
            pace: Pace::default(),
            refresh_at: None,
            stop: None,
            rests: Rests::default(),
            watcher: Watcher::default(),
            server: None,
            no_resume: false,
            ledger: Ledger::default(),
            raised: BTreeSet::new(),
            diagnostics: Vec::new(),
            ending: None,
        }
    }

    /// Takes a predecessor's claim over: the row stays as it is until
    /// something is wanted, and what of it is not wanted then goes.
    pub fn inherit(&mut self, legacy: Legacy) {
        self.seq.jump_over(legacy.last_seq);
        self.claimed |= legacy.claimed;
        self.inherited = legacy.claimed;
        if legacy.claimed {
            self.confirmed.presentation = Known::Unsure;
            self.confirmed.tokens.extend(legacy.tokens.into_iter().map(|key| (key, None)));
        }
    }

    /// What a successor has to know.
    pub fn legacy(&self) -> Legacy {
        Legacy {
            claimed: self.claimed,
            last_seq: self.seq.last(),
            tokens: self.confirmed.tokens.keys().cloned().collect(),
        }
    }

    /// Takes in what happened and says what to do.
    pub fn step(&mut self, now: Now, input: Input) -> Step {
        let mut step = Step::default();
        match input {
            Input::Wanted(wanted) => self.want(now.elapsed, wanted.map(|snapshot| *snapshot)),
            Input::Answered(Ok(answer)) => self.answered(now, answer),
            Input::Answered(Err(failure)) => self.failed(now.elapsed, failure),
            Input::ServerChanged => self.server_changed(),
            Input::Lease(lease) => self.lease = lease,
            Input::Identity(identity) => self.identified(identity),
            Input::Timer => {}
            Input::Flush => self.pace.idle_since = None,
            Input::Close { budget } => self.begin_ending(now.elapsed, budget),
        }
        if self.ending.is_some() {
            self.decide_ending(now, &mut step);
        } else {
            self.decide(now, &mut step);
        }
        step.receipts = self.ledger.take_receipts();
        step.diagnostics = std::mem::take(&mut self.diagnostics);
        step
    }

    /// What became of everything so far.
    pub fn counters(&self) -> Counters {
        self.ledger.counters()
    }

    fn want(&mut self, now: Duration, wanted: Option<Snapshot>) {
        if self.ending.is_some() {
            return;
        }
        let actions = plan(wanted.as_ref(), self.claimed, &self.confirmed);
        let new = wanted.as_ref();
        let old = self.wanted.as_ref();
        // What is in flight changes what the server has, so it may take a
        // report to get back to what it has now.
        let flying = self.flight.as_ref().and_then(|flight| flight.carries.part());
        let needs = |part| {
            let planned = actions.iter().any(|action| action.part() == part);
            new.is_some() && (planned || flying == Some(part))
        };
        if new.map(StateRecord::of) != old.map(StateRecord::of) {
            self.ledger.offer(Part::State, needs(Part::State));
        }
        if new.map(PresentationRecord::of) != old.map(PresentationRecord::of) {
            self.ledger.offer(Part::Presentation, needs(Part::Presentation));
            self.watcher.new_metadata();
        }
        if new.map(|new| &new.tokens) != old.map(|old| &old.tokens) {
            self.ledger.offer(Part::Tokens, needs(Part::Tokens));
            self.watcher.new_metadata();
        }
        match new.map(|new| new.state) {
            Some(ReportState::Idle) => {
                self.pace.idle_since.get_or_insert(now);
            }
            _ => self.pace.idle_since = None,
        }
        if new.is_some() != old.is_some() {
            self.watcher.new_claim();
        }
        self.inherited &= wanted.is_none();
        self.wanted = wanted;
    }

    /// Whatever the server had of ours may be gone, and whatever it refused it
    /// may take now.
    fn server_changed(&mut self) {
        if let Some(flight) = &mut self.flight {
            // The old server may be the one that answers it.
            flight.void = true;
        }
        self.confirmed.forget();
        self.backoff.retry_now();
        self.stop = None;
        self.rests = Rests::default();
        self.server = None;
        self.no_resume = false;
        self.whereabouts.ask_again();
        self.watcher.new_claim();
        self.rearm(&[
            DiagnosticKind::NotPaneApi,
            DiagnosticKind::ProtocolRejected,
            DiagnosticKind::Ignored,
            DiagnosticKind::ForeignPane,
        ]);
    }

    fn decide(&mut self, now: Now, step: &mut Step) {
        if self.flight.is_some() {
            return;
        }
        if self.lease != Lease::Held {
            step.quiet = self.lease == Lease::Denied;
            return;
        }
        if self.wanted.is_none() && (!self.claimed || self.inherited) {
            self.ledger.leave_unjudged();
            step.quiet = true;
            return;
        }
        let elapsed = now.elapsed;
        if let Some(until) = self.backoff.until().filter(|until| elapsed < *until) {
            step.wake = Some(until.min(elapsed + SOCKET_CHECK));
            return;
        }
        match self.whereabouts_gate() {
            Gate::Open => {}
            Gate::Ask(request) => {
                step.request = Some(request);
                return;
            }
            Gate::Wait => return,
            Gate::Closed => {
                step.quiet = true;
                return;
            }
        }
        if self.refresh_at.is_some_and(|at| at <= elapsed) {
            self.refresh_at = None;
            self.confirmed.forget_metadata();
        }
        let mut wake = Wake::default();
        if let Some(request) = self.next_request(now, &mut wake) {
            step.request = Some(request);
            return;
        }
        step.quiet = !wake.pending;
        wake.at(self.refresh_at);
        step.wake = wake.at;
    }

    /// The first request that may go now. What has to wait goes into `wake`.
    fn next_request(&mut self, now: Now, wake: &mut Wake) -> Option<Request> {
        if self.must_look_before_clearing() {
            return Some(self.send_look(now, REQUEST_DEADLINE));
        }
        if self.must_ask_version() {
            return Some(self.send_ping(REQUEST_DEADLINE));
        }
        let actions = plan(self.wanted.as_ref(), self.claimed, &self.confirmed);
        self.ledger.planned(|part| actions.iter().any(|action| action.part() == part));
        for action in actions {
            match self.go(&action, now.elapsed) {
                Go::Now => return Some(self.send(action, now, REQUEST_DEADLINE)),
                Go::At(at) => {
                    wake.pending_at(at);
                    if self.wanted.is_none() {
                        // The release stays last.
                        break;
                    }
                }
                Go::After(at) => wake.at(Some(at)),
                Go::Never => {}
            }
            // Title and tokens of a pane that is not ours yet would be hidden,
            // and would outlive us if it never becomes ours.
            if matches!(action, Action::State(..)) && !self.may_decorate() {
                break;
            }
        }
        self.next_look(now, wake)
    }

    fn may_decorate(&self) -> bool {
        self.confirmed.state.is_some()
            || self.stop.is_some()
            || self.rests.state.is_some()
            || self.watcher.has_yielded()
    }

    fn go(&self, action: &Action, now: Duration) -> Go {
        let (rest, pace) = match action {
            Action::State(record, _) => {
                if self.stop.is_some() {
                    return Go::Never;
                }
                (self.rests.state, self.state_pace(record.state))
            }
            Action::Presentation(_) => (self.rests.presentation, self.metadata_pace()),
            Action::Tokens(_) => (self.rests.tokens, self.metadata_pace()),
            Action::Release => (None, None),
        };
        match (rest.filter(|at| now < *at), pace.filter(|at| now < *at)) {
            (Some(at), _) => Go::After(at),
            (None, Some(at)) => Go::At(at),
            (None, None) => Go::Now,
        }
    }

    fn state_pace(&self, state: ReportState) -> Option<Duration> {
        let paced = self.pace.state_sent.map(|sent| sent + STATE_PACE);
        let follows_work = self.pace.last_state == Some(ReportState::Working);
        let settled = (state == ReportState::Idle && follows_work)
            .then_some(self.pace.idle_since)
            .flatten()
            .map(|since| since + self.claim.settle);
        paced.max(settled)
    }

    fn metadata_pace(&self) -> Option<Duration> {
        self.pace.metadata_sent.map(|sent| sent + METADATA_PACE)
    }

    /// Tells a kind of diagnostic once, until it is re-armed.
    fn raise(&mut self, kind: DiagnosticKind, detail: impl Into<String>) {
        if self.raised.insert(kind) {
            self.diagnostics.push(Diagnostic::new(kind, detail));
        }
    }

    fn rearm(&mut self, kinds: &[DiagnosticKind]) {
        self.raised.retain(|kind| !kinds.contains(kind));
    }
}

/// Whether an action may go out.
enum Go {
    Now,
    /// Soon; a flush waits for it.
    At(Duration),
    /// Later, if at all; a flush does not wait for it.
    After(Duration),
    Never,
}

/// The earliest moment at which something is to be done.
#[derive(Debug, Default)]
struct Wake {
    at: Option<Duration>,
    pending: bool,
}

impl Wake {
    fn at(&mut self, at: Option<Duration>) {
        self.at = match (self.at, at) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }

    fn pending_at(&mut self, at: Duration) {
        self.at(Some(at));
        self.pending = true;
    }
}
