//! The pane machine: every rule of reporting, without a clock, a socket or a thread.
//!
//! [`PaneMachine::step`] takes what has happened and says what to do: at most one request, which
//! must be answered or abandoned before there is another one.
//!
//! The files, along the path of a report:
//! - `slot`: what is wanted, and what the server has of it
//! - `next`: what is sent next, and when; `timing`: sequence numbers and backoffs
//! - `request`: the requests
//! - `answer`: what an answer changes; `failure`: what a failed request leads to
//! - `readback`, `judge`: what the pane shows, and what follows from it
//! - `detected`: whether Herdr says the state; `identity`: whether the agent runs in the pane
//! - `one_shot`, `one_shot_events`: commands that report once
//! - `claim`: what a machine is for; `ending`: the end; `receipts`: what became of each report

mod answer;
mod claim;
mod detected;
mod ending;
mod failure;
mod identity;
mod io;
mod judge;
mod next;
mod one_shot;
mod one_shot_events;
mod readback;
mod receipts;
mod request;
mod slot;
mod timing;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
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
use one_shot::OneShotStage;
use readback::ReadBacks;
use receipts::Receipts;
use request::SentRequest;
use slot::{PresentationRecord, Slot, StateRecord, Tokens};
use timing::{Attempts, Backoffs, ConnectBackoff, RetryGroup, SeqClock};

/// How long one request may take. A retry keeps its number and does no harm, and a server that does
/// not answer must not hold up the newest state for longer than the longest wait for a server
/// (failure B11).
const REQUEST_DEADLINE: Duration = Duration::from_millis(1500);
/// How often the engine is woken to look for another socket while only another socket can help.
const SOCKET_CHECK: Duration = Duration::from_secs(2);

/// Makes one pane show what is wanted, and says what became of each report.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct PaneMachine {
    claim: Claim,
    lease: Lease,
    /// A caller waits for the lease, even if there is nothing to report.
    lease_awaited: bool,
    identity: PaneIdentity,

    /// The host wants something to be shown; if false, nothing of ours should be on the pane.
    wants_pane: bool,
    state: Slot<StateRecord>,
    presentation: Slot<PresentationRecord>,
    /// The labels that go with the state of a one-shot.
    reason: Slot<StateLabels>,
    tokens: Tokens,
    /// The session that the next report of the state should include.
    session: Option<Session>,
    /// The session that the server has accepted.
    reported_session: Option<Session>,
    /// A report of the state that got no answer in time. The server may still apply it, even after
    /// a release.
    unanswered_state: Option<StateRecord>,
    last_sent_state: Option<ReportState>,
    /// When idle was first wanted, while it waits for the settle time. `None` after a flush, which
    /// ends that wait.
    idle_since: Option<Duration>,
    /// Why the state is not sent at present.
    state_stop: Option<StopReason>,
    /// When title, labels and tokens are sent again, before their ttl ends.
    refresh_at: Option<Duration>,
    /// What an earlier run left on the pane has been cleared.
    leavings_cleared: bool,
    /// The last note: what an earlier run left, until that has been cleared, and what this run
    /// would leave.
    leavings: Leavings,

    /// The claim was taken over from a predecessor, and the host has not said anything yet: the row
    /// stays as it is.
    inherited: bool,
    /// The predecessor's claim, as long as the row is the predecessor's.
    predecessor: Option<Claim>,
    detected: Detected,
    one_shot: Option<OneShotStage>,

    in_flight: Option<SentRequest>,
    backoffs: Backoffs,
    attempts: Attempts,
    seq: SeqClock,
    /// The last number sent for each of the server's two sequence marks.
    last_seqs: [Option<Seq>; 2],
    connection: Connection,
    read_backs: ReadBacks,
    /// The pane's id in the last read-back. It is not the claim's id once the pane has moved.
    current_pane_id: Option<PaneId>,
    /// The server's answer to `ping`.
    server_version: Option<Pong>,
    /// The server does not accept this agent's `resume_argv`.
    resume_argv_refused: bool,

    receipts: Receipts,
    /// The kinds of diagnostics that are not raised again until their subject works.
    raised_diagnostics: BTreeMap<DiagnosticKind, Subject>,
    /// New diagnostics, for the next [`Step`].
    diagnostics: Vec<Diagnostic>,
    ending: Option<Ending>,
}

#[derive(Debug)]
struct Connection {
    backoff: ConnectBackoff,
    /// A server has answered this machine before.
    answered_once: bool,
    unreachable_since: Option<Duration>,
}

/// Why the state is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StopReason {
    /// No number of ours gets above the server's sequence mark.
    StaleSequence,
    /// Another integration's session owns the pane.
    ForeignSession,
    /// A one-shot that was started later has reported its state.
    Superseded,
}

/// What a diagnostic is about. Once the subject works again, the same kind of diagnostic can be
/// raised again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    Connection,
    Group(RetryGroup),
    Pane,
}

impl PaneMachine {
    /// A machine for one claim. It assumes that it holds the lease until [`Input::Lease`] says
    /// otherwise, and asks the server for the pane's processes before it writes to the pane.
    pub fn new(claim: Claim) -> Self {
        Self {
            lease: Lease::Held,
            lease_awaited: false,
            identity: PaneIdentity::default(),
            wants_pane: claim.once.is_some(),
            state: Slot::default(),
            presentation: Slot::default(),
            reason: Slot::default(),
            tokens: Tokens::default(),
            session: None,
            reported_session: None,
            unanswered_state: None,
            last_sent_state: None,
            idle_since: None,
            state_stop: None,
            refresh_at: None,
            leavings_cleared: false,
            leavings: claim.once.as_ref().map(|once| once.left.clone()).unwrap_or_default(),
            inherited: false,
            predecessor: None,
            detected: Detected::new(&claim),
            one_shot: claim.once.is_some().then_some(OneShotStage::ReadFirst),
            in_flight: None,
            backoffs: Backoffs::default(),
            attempts: Attempts::default(),
            seq: SeqClock::default(),
            last_seqs: [None; 2],
            connection: Connection {
                backoff: ConnectBackoff::new(claim.seed),
                answered_once: false,
                unreachable_since: None,
            },
            read_backs: ReadBacks::default(),
            current_pane_id: None,
            server_version: None,
            resume_argv_refused: false,
            receipts: Receipts::default(),
            raised_diagnostics: BTreeMap::new(),
            diagnostics: Vec::new(),
            ending: None,
            claim,
        }
    }

    pub fn step(&mut self, now: Now, input: Input) -> Step {
        let mut step = Step::default();
        match input {
            Input::Wanted(wanted) => self.set_wanted(now.elapsed, wanted.map(|snapshot| *snapshot)),
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

    /// The detected agent that the state is left to; `None` if this machine reports the state.
    pub fn state_left_to(&self) -> Option<&AgentLabel> {
        self.detected.left_to.as_ref()
    }

    pub fn lease(&self) -> Lease {
        self.lease
    }

    fn set_wanted(&mut self, now: Duration, wanted: Option<Snapshot>) {
        if self.ending.is_some() || self.one_shot.is_some() {
            return;
        }
        let wants_pane = wanted.is_some();
        let claim_changes = std::mem::replace(&mut self.wants_pane, wants_pane) != wants_pane;
        let new = wanted.as_ref();
        let state = new.and_then(StateRecord::of);
        let presentation = new.and_then(|new| self.presentation_of(new));
        let nothing = BTreeMap::new();
        let tokens = new.map_or(&nothing, |new| &new.tokens);

        if self.state.wanted != state {
            let first_state = self.state.wanted.is_none();
            self.idle_since = state
                .as_ref()
                .filter(|state| state.state == ReportState::Idle)
                .map(|_| self.idle_since.unwrap_or(now));
            self.state.wanted = state;
            self.offer_report(Part::State, self.reports_state() && self.state.needs_update());
            if !self.reports_state() && first_state {
                // Herdr gets some time to show the agent by itself.
                self.detected.no_agent_since = Some(now);
                self.read_backs.schedule(now);
            }
        }
        if self.presentation.wanted != presentation {
            self.presentation.wanted = presentation;
            self.offer_report(Part::Presentation, self.presentation.needs_update());
        }
        if self.tokens.set_wanted(tokens) {
            self.offer_report(Part::Tokens, self.tokens.needs_update());
        }
        self.session = wanted.and_then(|wanted| wanted.session);
        if claim_changes {
            self.reset_for_new_claim();
        }
        self.inherited = false;
    }

    /// A part has a new wanted value. The request in flight may change what the server has of the
    /// part, so a report can be needed although the server has the wanted value now.
    fn offer_report(&mut self, part: Part, needs_update: bool) {
        let in_flight = self.in_flight.as_ref().and_then(|sent| sent.action.part());
        let may_report = part != Part::State || self.reports_state();
        let changes = in_flight == Some(part) && may_report;
        self.receipts.offer(part, self.wants_pane && (needs_update || changes));
    }

    fn presentation_of(&self, snapshot: &Snapshot) -> Option<PresentationRecord> {
        let record = PresentationRecord {
            presentation: snapshot.presentation.clone(),
            resend: snapshot.resend,
            under_agent: self.state_left_to().cloned(),
        };
        (!record.presentation.is_empty()).then_some(record)
    }

    /// What stopped the last claim, and what other writers did to it, may be over.
    fn reset_for_new_claim(&mut self) {
        self.state_stop = None;
        self.state.reset_conflicts();
        self.presentation.reset_conflicts();
        self.tokens.for_each(Slot::reset_conflicts);
        self.read_backs = ReadBacks::default();
        self.detected.reset_for_new_claim();
    }

    /// Another server may be there. Diagnostics about the last server's refusals are raised again
    /// if they apply to the new one.
    fn server_changed(&mut self) {
        // The requests that the old server had received and not applied are gone with it.
        self.unanswered_state = None;
        self.start_over();
        self.raised_diagnostics.retain(|kind, subject| {
            *subject == Subject::Connection || *kind == DiagnosticKind::Timeout
        });
    }

    /// The server may have lost what it had of ours, and may accept what it refused before.
    fn start_over(&mut self) {
        if let Some(sent) = &mut self.in_flight {
            // The old server may still be the one that answers this request.
            sent.to_old_server = true;
        }
        self.state.start_over();
        self.reported_session = None;
        self.presentation.start_over();
        self.reason.start_over();
        self.tokens.for_each(Slot::start_over);
        self.tokens.new_keys_alone = false;
        self.attempts.start_over();
        self.connection.backoff.retry_now();
        self.backoffs = Backoffs::default();
        self.server_version = None;
        self.resume_argv_refused = false;
        self.current_pane_id = None;
        self.identity.ask_again();
        self.reset_for_new_claim();
    }

    /// Whether there is certainly nothing of ours on the server.
    fn nothing_on_server(&self) -> bool {
        !self.state.may_be_on_server() && !self.may_have_metadata()
    }

    fn may_have_metadata(&self) -> bool {
        self.presentation.may_be_on_server()
            || self.reason.may_be_on_server()
            || self.tokens.may_be_on_server()
    }

    /// Raises each kind of diagnostic once, until its subject has worked again.
    fn raise_once(&mut self, kind: DiagnosticKind, subject: Subject, detail: impl Into<String>) {
        if let Entry::Vacant(entry) = self.raised_diagnostics.entry(kind) {
            entry.insert(subject);
            self.diagnostics.push(Diagnostic::new(kind, detail));
        }
    }

    /// The subject works, so its next failure is raised again. If another retry group still fails,
    /// that group takes the diagnostic over.
    fn recovered(&mut self, subject: Subject) {
        let still_failing = match subject {
            Subject::Group(_) => self.backoffs.first_failing().map(Subject::Group),
            _ => None,
        };
        self.raised_diagnostics.retain(|_, told| match still_failing {
            _ if *told != subject => true,
            Some(group) => {
                *told = group;
                true
            }
            None => false,
        });
    }
}
