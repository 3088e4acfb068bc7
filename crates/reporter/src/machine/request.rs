//! From an action to the request that carries it.

use std::time::Duration;

use herdr_proto::{PaneGet, Ping, ReleaseAgent, ReportAgent, ReportMetadata, Seq, TokenPatch};

use super::plan::{Action, PresentationRecord, StateRecord};
use super::{Now, PaneCall, PaneMachine, Request};
use crate::activity::Session;
use crate::receipt::Part;

/// A request on its way.
#[derive(Debug, Clone)]
pub(super) struct Flight {
    pub(super) call: PaneCall,
    pub(super) carries: Carries,
    pub(super) seq: Option<Seq>,
    /// The server has changed since; an `ok` proves nothing.
    pub(super) void: bool,
}

/// What a request is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Carries {
    State(StateRecord, Option<Session>),
    Presentation(PresentationRecord),
    Tokens(TokenPatch),
    Release,
    Look,
    Version,
    Processes,
    Panes,
}

impl Flight {
    /// Whether it carries how the agent is to be restarted.
    pub(super) fn asks_to_resume(&self) -> bool {
        matches!(&self.call, PaneCall::Report(report) if report.resume_argv.is_some())
    }
}

impl Action {
    pub(super) fn part(&self) -> Part {
        match self {
            Self::State(..) => Part::State,
            Self::Presentation(_) => Part::Presentation,
            Self::Tokens(_) => Part::Tokens,
            Self::Release => Part::Release,
        }
    }
}

impl Carries {
    pub(super) fn part(&self) -> Option<Part> {
        match self {
            Self::State(..) => Some(Part::State),
            Self::Presentation(_) => Some(Part::Presentation),
            Self::Tokens(_) => Some(Part::Tokens),
            Self::Release => Some(Part::Release),
            Self::Look | Self::Version | Self::Processes | Self::Panes => None,
        }
    }
}

impl PaneMachine {
    pub(super) fn send(&mut self, action: Action, now: Now, deadline: Duration) -> Request {
        let carries = match action {
            Action::State(record, session) => Carries::State(record, session),
            Action::Presentation(record) => Carries::Presentation(record),
            Action::Tokens(patch) => Carries::Tokens(patch),
            Action::Release => Carries::Release,
        };
        let flight = match self.retry.take() {
            // The same again keeps its number: if the first one was taken
            // after all, this one is stale and does no harm.
            Some(retry) if retry.carries == carries && !self.watcher.climbs() => retry,
            _ => self.new_flight(carries, now),
        };
        match &flight.carries {
            Carries::State(record, _) => {
                self.pace.state_sent = Some(now.elapsed);
                self.pace.last_state = Some(record.state);
            }
            Carries::Presentation(_) | Carries::Tokens(_) => {
                self.pace.metadata_sent = Some(now.elapsed);
            }
            _ => {}
        }
        if let Some(part) = flight.carries.part() {
            self.ledger.sent(part);
        }
        self.launch(flight, deadline)
    }

    pub(super) fn send_look(&mut self, now: Now, deadline: Duration) -> Request {
        self.watcher.looked(now.elapsed);
        let call = PaneCall::Get(PaneGet::new(self.claim.pane.clone()));
        self.ask(call, Carries::Look, deadline)
    }

    pub(super) fn send_ping(&mut self, deadline: Duration) -> Request {
        self.ask(PaneCall::Ping(Ping::default()), Carries::Version, deadline)
    }

    /// Whether the version decides what the next report may carry. It is asked
    /// for once per server: a handoff may have changed it (failure B82).
    pub(super) fn must_ask_version(&self) -> bool {
        let Some(wanted) = &self.wanted else { return false };
        let resumable = wanted.session.as_ref().is_some_and(|s| s.resume_argv.is_some());
        resumable && self.server.is_none() && !self.no_resume && self.confirmed.state.is_none()
    }

    /// A request that reads and carries no number.
    pub(super) fn ask(&mut self, call: PaneCall, carries: Carries, deadline: Duration) -> Request {
        self.launch(Flight { call, carries, seq: None, void: false }, deadline)
    }

    fn launch(&mut self, flight: Flight, deadline: Duration) -> Request {
        let call = flight.call.clone();
        self.flight = Some(flight);
        Request { call, deadline }
    }

    fn new_flight(&mut self, carries: Carries, now: Now) -> Flight {
        let seq = if self.watcher.climbs_to_nanos() {
            self.seq.next_in_nanos(now.unix_micros)
        } else {
            self.seq.next(now.unix_micros)
        };
        let call = match &carries {
            Carries::State(record, session) => self.report(record, session.as_ref(), seq),
            Carries::Presentation(record) => self.presentation(record, seq),
            Carries::Tokens(patch) => self.tokens(patch, seq),
            _ => self.release(seq),
        };
        Flight { call, carries, seq: Some(seq), void: false }
    }

    fn report(&self, record: &StateRecord, session: Option<&Session>, seq: Seq) -> PaneCall {
        let claim = &self.claim;
        let mut report = ReportAgent::new(
            claim.pane.clone(),
            claim.source.clone(),
            claim.agent.clone(),
            record.state,
        );
        report.seq = Some(seq);
        report.message.clone_from(&record.reason);
        if let Some(session) = session {
            report.agent_session_id.clone_from(&session.id);
            report.agent_session_path.clone_from(&session.path);
            let understood = self.server.as_ref().is_some_and(herdr_proto::Pong::takes_resume_argv);
            if understood && !self.no_resume {
                report.resume_argv.clone_from(&session.resume_argv);
            }
        }
        PaneCall::Report(report)
    }

    fn presentation(&self, record: &PresentationRecord, seq: Seq) -> PaneCall {
        let mut report = self.metadata(seq);
        let claim = self.speaker();
        report.agent = Some(claim.agent.clone());
        report.applies_to_source = Some(claim.source.clone());
        let presentation = &record.presentation;
        if presentation.is_empty() {
            report.clear_title = true;
            report.clear_display_agent = true;
            report.clear_state_labels = true;
        } else {
            report.title.clone_from(&presentation.title);
            report.display_agent.clone_from(&presentation.display_agent);
            report.state_labels.clone_from(&presentation.labels);
            report.ttl_ms = Some(self.claim.metadata_ttl);
        }
        PaneCall::Metadata(report)
    }

    fn tokens(&self, patch: &TokenPatch, seq: Seq) -> PaneCall {
        let mut report = self.metadata(seq);
        report.tokens = patch.clone();
        report.ttl_ms = Some(self.claim.metadata_ttl);
        PaneCall::Metadata(report)
    }

    fn metadata(&self, seq: Seq) -> ReportMetadata {
        let claim = self.speaker();
        let mut report = ReportMetadata::new(claim.pane.clone(), claim.source.clone());
        report.seq = Some(seq);
        report
    }

    fn release(&self, seq: Seq) -> PaneCall {
        let claim = self.speaker();
        let mut release =
            ReleaseAgent::new(claim.pane.clone(), claim.source.clone(), claim.agent.clone());
        release.seq = Some(seq);
        PaneCall::Release(release)
    }
}
