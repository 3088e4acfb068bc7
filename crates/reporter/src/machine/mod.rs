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

pub use claim::{Claim, OneShot, PredecessorClaim};
pub use io::{
    Answer, Ended, Failure, FailureKind, Identity, Input, Lease, Now, PaneCall, Request, Step,
};
pub use receipts::Counters;

use crate::activity::{Session, Snapshot};
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::leavings::Leavings;
use crate::receipt::Part;
use detected::Detected;
use ending::Ending;
use identity::PaneIdentity;
use once::Once;
use readback::Looks;
use receipts::Receipts;
use request::{Flight, Topic};
use slot::{PresentationRecord, Slot, StateRecord, Tokens};
use timing::{Backoff, Rests, SeqClock, Tries};

/// How long one request may take. A retry keeps its number and does no harm,
/// and a server that was silent must not hold the newest state up for longer
/// than the cap of the backoff (failure B11).
const REQUEST_DEADLINE: Duration = Duration::from_millis(1500);
/// While only another socket can help, how often the shell is woken to look
/// for one.
const SOCKET_CHECK: Duration = Duration::from_secs(2);

/// Brings one pane to show what is wanted, and says what became of it.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct PaneMachine {
    claim: Claim,
    lease: Lease,
    lease_awaited: bool,
    identity: PaneIdentity,

    /// Something is wanted; otherwise the pane is given back.
    wants: bool,
    state: Slot<StateRecord>,
    presentation: Slot<PresentationRecord>,
    /// The labels that go with a state that was reported once.
    reason: Slot<StateLabels>,
    tokens: Tokens,
    session: Option<Session>,
    told_session: Option<Session>,
    /// A report of the state that was given up unanswered and that the server
    /// may take later still.
    late: Option<StateRecord>,
    last_state: Option<ReportState>,
    /// Since when idle is wanted and waits to be believed; none after a flush.
    idle_since: Option<Duration>,
    /// Why the state does not go out.
    stop: Option<Stop>,
    refresh_at: Option<Duration>,
    /// What a dead run of this source left has been taken off.
    cleaned: bool,
    /// What that run has noted of it.
    left: Leavings,

    /// The claim is a predecessor's, and nothing has been wanted yet.
    inherited: bool,
    /// The predecessor's claim, while the row is the one that it made.
    predecessor: Option<Claim>,
    detected: Detected,
    once: Option<Once>,

    flight: Option<Flight>,
    rests: Rests,
    tries: Tries,
    seq: SeqClock,
    numbers: [Option<Seq>; 2],
    contact: Contact,
    looks: Looks,
    present_id: Option<PaneId>,
    server: Option<Pong>,
    /// The server does not take this agent's `resume_argv`.
    no_resume: bool,

    receipts: Receipts,
    raised: BTreeMap<DiagnosticKind, About>,
    diagnostics: Vec<Diagnostic>,
    ending: Option<Ending>,
}

#[derive(Debug)]
struct Contact {
    backoff: Backoff,
    met: bool,
    lost_since: Option<Duration>,
}

/// Why the state does not go out any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// Nothing gets above the server's mark.
    Muted,
    /// Another integration's session owns the pane.
    Owned,
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
            lease_awaited: false,
            identity: PaneIdentity::default(),
            wants: claim.once.is_some(),
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
            left: claim.once.as_ref().map(|once| once.left.clone()).unwrap_or_default(),
            inherited: false,
            predecessor: None,
            detected: Detected::new(&claim),
            once: Once::new(&claim),
            flight: None,
            rests: Rests::default(),
            tries: Tries::default(),
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

    pub fn step(&mut self, now: Now, input: Input) -> Step {
        let mut step = Step::default();
        match input {
            Input::Wanted(wanted) => self.want(now.elapsed, wanted.map(|snapshot| *snapshot)),
            Input::Answered(Ok(answer)) => self.answered(now.elapsed, answer),
            Input::Answered(Err(failure)) => self.failed(now.elapsed, failure),
            Input::ServerChanged => self.server_changed(),
            Input::Lease(lease) => self.lease = lease,
            Input::AwaitLease => self.lease_awaited = true,
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

    pub fn counters(&self) -> Counters {
        self.receipts.counters()
    }

    pub fn state_left_to(&self) -> Option<&AgentLabel> {
        self.detected.left_to.as_ref()
    }

    /// How it stands with the lease.
    pub fn lease(&self) -> Lease {
        self.lease
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
            self.idle_since = state
                .as_ref()
                .filter(|state| state.state == ReportState::Idle)
                .map(|_| self.idle_since.unwrap_or(now));
            self.state.wanted = state;
            self.offer(Part::State, self.speaks() && self.state.lacks());
            if !self.speaks() && first_word {
                // Herdr gets time to show its agent.
                self.detected.none_since = Some(now);
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
            under: self.state_left_to().cloned(),
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
        self.tokens.apart = false;
        self.tries.start_over();
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
