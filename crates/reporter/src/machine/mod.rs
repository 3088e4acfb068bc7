//! The pane machine: every rule of reporting, without clock, socket or thread.
//!
//! [`PaneMachine::step`] takes what happened and says what to do: at most one
//! request, which must be answered (or abandoned) before the next one comes.
//! `slot` is what is wanted and what the server has, `next` what goes out next
//! and when, `request` the requests. `answer` takes in what they were answered, and
//! `failure` says what a failed one leads to;
//! `readback` and `judge` what the pane shows, `detected` who says the state,
//! `identity` whose pane it is. `once` and `said` are a report that is made once, `ending`
//! the end, `receipts` what became of it all.

mod answer;
mod claim;
mod detected;
mod ending;
mod failure;
mod identity;
mod io;
mod judge;
mod next;
mod once;
mod readback;
mod receipts;
mod request;
mod said;
mod slot;
mod timing;

use std::collections::BTreeMap;
use std::time::Duration;

use herdr_proto::{AgentLabel, PaneId, Pong, ReportState, Seq, StateLabels};

pub use claim::{Claim, Mode, OneShot, PredecessorClaim};
pub use io::{
    Answer, Ended, Failure, FailureKind, Identity, Input, Lease, Now, PaneCall, Request, Step,
};
pub use receipts::Counters;

use crate::activity::{Session, Snapshot};
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::receipt::Part;
use detected::Detected;
use ending::Ending;
use identity::PaneIdentity;
use once::Once;
use readback::Looks;
use receipts::Receipts;
use request::{Flight, Topic};
use slot::{PresentationRecord, Slot, StateRecord, Tokens};
use timing::{Backoff, Rests, SeqClock};

/// How long one request may take. A retry keeps its number and does no harm,
/// and a server that was silent must not hold the newest state up for longer
/// than the cap of the backoff (failure B11).
const REQUEST_DEADLINE: Duration = Duration::from_millis(1500);

/// Brings one pane to show what is wanted, and says what became of it.
///
/// ```
/// use std::time::Duration;
/// use herdr_proto::{AgentLabel, PaneId, SourceId};
/// use herdr_reporter::machine::{Answer, Claim, Input, Now, PaneCall, PaneMachine};
/// use herdr_reporter::{AgentEvent, Config};
/// use herdr_reporter::sidecar::Activity;
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
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct PaneMachine {
    claim: Claim,
    lease: Lease,
    identity: PaneIdentity,

    /// Something is wanted; otherwise the pane is given back.
    wants: bool,
    state: Slot<StateRecord>,
    presentation: Slot<PresentationRecord>,
    /// The labels that go with a state that was reported once.
    reason: Slot<StateLabels>,
    tokens: Tokens,
    session: Option<Session>,
    /// The session that the server was told in this claim.
    told_session: Option<Session>,
    /// A report of the state that was given up unanswered and that the server
    /// may take later still.
    late: Option<StateRecord>,
    last_state: Option<ReportState>,
    /// Since when idle is wanted and waits to be believed; none after a flush.
    idle_since: Option<Duration>,
    /// Why the state does not go out.
    stop: Option<Stop>,
    /// When title, labels and tokens are to be sent again.
    refresh_at: Option<Duration>,
    /// What a dead run of this source left has been taken off.
    cleaned: bool,

    /// The claim is a predecessor's, and nothing has been wanted yet.
    inherited: bool,
    /// The predecessor's claim, while the row is the one that it made.
    predecessor: Option<Claim>,
    detected: Detected,
    once: Option<Once>,

    flight: Option<Flight>,
    rests: Rests,
    seq: SeqClock,
    /// The last number of the state's mark, and of the metadata's.
    numbers: [Option<Seq>; 2],
    contact: Contact,
    looks: Looks,
    /// The pane's id as the server gave it last.
    present_id: Option<PaneId>,
    server: Option<Pong>,
    /// The server does not take this agent's `resume_argv`.
    no_resume: bool,

    receipts: Receipts,
    raised: BTreeMap<DiagnosticKind, About>,
    diagnostics: Vec<Diagnostic>,
    ending: Option<Ending>,
}

/// Whether the server is there.
#[derive(Debug)]
struct Contact {
    backoff: Backoff,
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
    /// A one-shot that was started later has reported.
    Superseded,
}

/// What a diagnostic is about: a success of it makes the next one news.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    Contact,
    Topic(Topic),
    Pane,
}

impl PaneMachine {
    /// A machine for one claim. It holds the lease until told otherwise, and
    /// asks whose pane it is before it writes to it.
    pub fn new(claim: Claim) -> Self {
        Self {
            lease: Lease::Held,
            identity: PaneIdentity::default(),
            wants: claim.is_once(),
            state: Slot::default(),
            presentation: Slot::default(),
            reason: Slot::default(),
            tokens: Tokens::default(),
            session: None,
            told_session: None,
            late: None,
            last_state: None,
            idle_since: None,
            stop: None,
            refresh_at: None,
            cleaned: false,
            inherited: false,
            predecessor: None,
            detected: Detected::new(&claim),
            once: Once::new(&claim),
            flight: None,
            rests: Rests::default(),
            seq: SeqClock::default(),
            numbers: [None; 2],
            contact: Contact { backoff: Backoff::new(claim.seed), met: false, lost_since: None },
            looks: Looks::default(),
            present_id: None,
            server: None,
            no_resume: false,
            receipts: Receipts::default(),
            raised: BTreeMap::new(),
            diagnostics: Vec::new(),
            ending: None,
            claim,
        }
    }

    /// Takes in what happened and says what to do.
    pub fn step(&mut self, now: Now, input: Input) -> Step {
        let mut step = Step::default();
        match input {
            Input::Wanted(wanted) => self.want(now.elapsed, wanted.map(|snapshot| *snapshot)),
            Input::Answered(Ok(answer)) => self.answered(now.elapsed, answer),
            Input::Answered(Err(failure)) => self.failed(now.elapsed, failure),
            Input::ServerChanged => self.server_changed(),
            Input::Lease(lease) => self.lease = lease,
            Input::Identity(identity) => self.identified(identity),
            Input::Superseded => self.superseded(),
            Input::Timer => {}
            Input::Flush => self.idle_since = None,
            Input::Close { budget } => self.begin_ending(now.elapsed, budget),
        }
        if self.ending.is_some() {
            self.decide_ending(now, &mut step);
        } else {
            self.decide(now, &mut step);
        }
        step.receipts = self.receipts.take();
        step.diagnostics = std::mem::take(&mut self.diagnostics);
        step
    }

    /// What became of everything so far.
    pub fn counters(&self) -> Counters {
        self.receipts.counters()
    }

    /// The agent whose state is left to Herdr, if it is.
    pub fn state_left_to(&self) -> Option<&AgentLabel> {
        self.detected.herdrs_agent()
    }

    fn want(&mut self, now: Duration, wanted: Option<Snapshot>) {
        if self.ending.is_some() || self.once.is_some() {
            return;
        }
        let again = std::mem::replace(&mut self.wants, wanted.is_some()) != wanted.is_some();
        let new = wanted.as_ref();
        let state = new.and_then(StateRecord::of);
        let presentation = new.and_then(|new| self.presentation_of(new));
        let nothing = BTreeMap::new();
        let tokens = new.map_or(&nothing, |new| &new.tokens);

        let changed = self.state.wanted != state;
        if changed {
            let first_word = self.state.wanted.is_none();
            self.state.wanted = state;
            self.offer(Part::State, self.speaks() && self.state.lacks());
            if !self.speaks() && first_word {
                self.detected.wait_for_herdr(now);
                self.looks.look_at(now);
            }
        }
        if self.presentation.wanted != presentation {
            self.presentation.wanted = presentation;
            self.offer(Part::Presentation, self.presentation.lacks());
        }
        if self.tokens.want(tokens) {
            self.offer(Part::Tokens, self.tokens.lack());
        }
        self.session = wanted.and_then(|wanted| wanted.session);
        match self.state.wanted.as_ref().map(|state| state.state) {
            Some(ReportState::Idle) => {
                self.idle_since.get_or_insert(now);
            }
            _ => self.idle_since = None,
        }
        if again {
            self.new_claim();
        }
        self.inherited = false;
    }

    /// A part has a new value. What is in flight changes what the server has,
    /// so it may take a report to get back to what it has now.
    fn offer(&mut self, part: Part, lacks: bool) {
        let flying = self.flight.as_ref().and_then(|flight| flight.carries.part());
        let speaks = part != Part::State || self.speaks();
        let needed = self.wants && (lacks || (flying == Some(part) && speaks));
        self.receipts.offer(part, needed);
    }

    fn presentation_of(&self, snapshot: &Snapshot) -> Option<PresentationRecord> {
        let record = PresentationRecord {
            presentation: snapshot.presentation.clone(),
            resend: snapshot.resend,
            under: self.detected.herdrs_agent().cloned(),
        };
        (!record.presentation.is_empty()).then_some(record)
    }

    /// What stopped the last claim, and what other writers did to it, may be
    /// over.
    fn new_claim(&mut self) {
        self.stop = None;
        self.state.try_anew();
        self.presentation.try_anew();
        self.tokens.each(Slot::try_anew);
        self.looks.new_claim();
        self.detected.new_claim();
    }

    /// Another server may be there: what the last one was told to be at fault
    /// for is worth telling again.
    fn server_changed(&mut self) {
        // What the old server had received went with it.
        self.late = None;
        self.start_over();
        self.raised.retain(|kind, about| {
            *about == About::Contact || matches!(kind, DiagnosticKind::Timeout)
        });
    }

    /// Whatever the server had of ours may be gone, and whatever it refused it
    /// may take now.
    fn start_over(&mut self) {
        if let Some(flight) = &mut self.flight {
            // The old server may be the one that answers it.
            flight.void = true;
        }
        self.state.start_over();
        self.told_session = None;
        self.presentation.start_over();
        self.reason.start_over();
        self.tokens.each(Slot::start_over);
        self.tokens.failing = false;
        self.tokens.apart = false;
        self.contact.backoff.retry_now();
        self.rests = Rests::default();
        self.server = None;
        self.no_resume = false;
        self.present_id = None;
        self.identity.ask_again();
        self.new_claim();
    }

    /// A report of this claim may be on the server, or something else of ours.
    fn owes_nothing(&self) -> bool {
        !self.state.may_be_there() && !self.has_metadata()
    }

    /// Title, labels or tokens of ours may be on the pane.
    fn has_metadata(&self) -> bool {
        self.presentation.may_be_there() || self.reason.may_be_there() || self.tokens.may_be_there()
    }

    /// Tells a kind of diagnostic once, until a success makes it news again.
    fn raise(&mut self, kind: DiagnosticKind, about: About, detail: impl Into<String>) {
        if let std::collections::btree_map::Entry::Vacant(entry) = self.raised.entry(kind) {
            entry.insert(about);
            self.diagnostics.push(Diagnostic::new(kind, detail));
        }
    }

    /// It works, so that it fails is news from now on, unless another topic
    /// still does.
    fn works(&mut self, what: About) {
        let heir = match what {
            About::Topic(_) => self.rests.failing().map(About::Topic),
            _ => None,
        };
        self.raised.retain(|_, about| {
            if *about == what
                && let Some(heir) = heir
            {
                *about = heir;
            }
            *about != what
        });
    }
}
