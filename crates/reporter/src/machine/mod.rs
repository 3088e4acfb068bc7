//! The pane machine: every rule of reporting, without clock, socket or thread.
//!
//! [`PaneMachine::step`] takes what happened and says what to do: at most one
//! request, which must be answered (or abandoned) before the next one comes.
//! The files here each hold one concern: `plan` the requests and `decide` their
//! time, `look`, `judge` and `recover` the truth, `identity` whose pane it is, `outcome`
//! what answers mean, `ending` the end, `ledger` the receipts.

mod backoff;
mod claim;
mod decide;
mod ending;
mod identity;
mod io;
mod judge;
mod ledger;
mod look;
mod outcome;
mod plan;
mod recover;
mod request;
mod seq;

use std::collections::BTreeSet;
use std::time::Duration;

use herdr_proto::{Pong, ReportState, SourceId};

pub use claim::{Claim, Legacy};
pub use io::{
    Answer, Ended, Failure, FailureKind, Identity, Input, Lease, Now, PaneCall, Request, Step,
};
pub use judge::judge_state;
pub use ledger::Counters;

use crate::activity::Snapshot;
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::receipt::Part;
use backoff::Backoff;
use decide::{Pace, Rests};
use ending::Ending;
use identity::Whereabouts;
use ledger::Ledger;
use look::Watcher;
use plan::{Confirmed, PresentationRecord, StateRecord, plan};
use request::Flight;
use seq::SeqClock;

/// How long one request may take. A retry keeps its number and does no harm,
/// and a server that was silent must not hold the newest state up for longer
/// than the cap of the backoff (failure B11).
const REQUEST_DEADLINE: Duration = Duration::from_millis(1500);
/// How long a part rests that the server refused.
const REFUSED_REST: Duration = Duration::from_secs(60);

/// Brings one pane to show what is wanted, and says what became of it.
///
/// ```
/// use std::time::Duration;
/// use herdr_proto::{AgentLabel, PaneId, SourceId};
/// use herdr_reporter::machine::{Answer, Claim, Input, Now, PaneCall, PaneMachine};
/// use herdr_reporter::{Activity, AgentEvent, Config};
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
/// activity.apply(AgentEvent::agent_started())?;
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
    /// The predecessor's claim, while the row is the one that it made.
    holder: Option<Claim>,
    flight: Option<Flight>,
    /// What failed and goes out again under its number if it is still wanted.
    retry: Option<Flight>,
    seq: SeqClock,
    backoff: Backoff,
    contact: Contact,
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

/// Whether the server is there.
#[derive(Debug, Default)]
struct Contact {
    /// It has answered once.
    met: bool,
    /// Since when it does not.
    lost_since: Option<Duration>,
}

/// Why the state does not go out any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// Nothing gets above the server's mark.
    Muted,
    /// Another integration's session owns the pane.
    Owned,
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
            holder: None,
            flight: None,
            retry: None,
            seq: SeqClock::default(),
            contact: Contact::default(),
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

    /// Takes in what happened and says what to do.
    pub fn step(&mut self, now: Now, input: Input) -> Step {
        let mut step = Step::default();
        match input {
            Input::Wanted(wanted) => self.want(now.elapsed, wanted.map(|snapshot| *snapshot)),
            Input::Answered(Ok(answer)) => self.answered(now, answer),
            Input::Answered(Err(failure)) => self.failed(now.elapsed, failure),
            Input::ServerChanged => self.server_changed(),
            Input::Lease(lease) => self.lease = lease,
            Input::Identity(identity) => self.identified(now.elapsed, identity),
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
            // What stopped the last claim may be gone.
            self.stop = None;
        }
        self.inherited = false;
        self.wanted = wanted;
    }

    /// Another server may be there: what the last one was told to be at fault
    /// for is worth telling again.
    fn server_changed(&mut self) {
        // What the old server had received went with it.
        self.confirmed.late = None;
        self.start_over();
        self.rearm(&[
            DiagnosticKind::NotPaneApi,
            DiagnosticKind::ProtocolRejected,
            DiagnosticKind::Ignored,
            DiagnosticKind::ForeignPane,
        ]);
    }

    /// Whatever the server had of ours may be gone, and whatever it refused it
    /// may take now.
    fn start_over(&mut self) {
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
