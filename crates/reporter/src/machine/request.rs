//! From what is missing to the request that brings it.

use std::time::Duration;

use herdr_proto::{
    AgentExplain, ClearAgentAuthority, PaneGet, Ping, Pong, ReleaseAgent, ReportAgent,
    ReportMetadata, Seq, SourceId, StateLabels, TokenPatch,
};

use super::slot::{Climb, Has, PresentationRecord, StateRecord};
use super::{Mode, Now, PaneCall, PaneMachine, Request};
use crate::activity::{Presentation, Session};
use crate::receipt::Part;

/// A request on its way.
#[derive(Debug, Clone)]
pub(super) struct Flight {
    pub(super) call: PaneCall,
    pub(super) carries: Carries,
    pub(super) seq: Option<Seq>,
    pub(super) sent_at: Duration,
    /// The server has changed since; its answer says nothing about this one.
    pub(super) void: bool,
}

/// What a request is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Carries {
    State(StateRecord, Option<Session>),
    /// What the server has of title, name and labels afterwards.
    Presentation(Option<PresentationRecord>),
    /// The labels that go with a state that was reported once.
    Reason(Option<StateLabels>),
    Tokens(TokenPatch),
    /// The end of the claim.
    End(EndBy),
    /// The read-back.
    Look,
    /// Does Herdr detect an agent of its own below the claim?
    Below,
    Version,
    Processes,
    Panes,
}

/// How a claim ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndBy {
    Release,
    /// A release would take the row of the agent below with it (protocol
    /// §5.4).
    Clear,
}

/// Requests that fail together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    State,
    Metadata,
    End,
    Look,
    Below,
    Version,
    Identity,
}

impl Topic {
    pub(super) const ALL: [Self; 7] = [
        Self::State,
        Self::Metadata,
        Self::End,
        Self::Look,
        Self::Below,
        Self::Version,
        Self::Identity,
    ];
}

impl Carries {
    /// The part that is reported.
    pub(super) fn part(&self) -> Option<Part> {
        match self {
            Self::State(..) => Some(Part::State),
            Self::Presentation(_) => Some(Part::Presentation),
            Self::Tokens(_) => Some(Part::Tokens),
            Self::End(_) => Some(Part::Release),
            _ => None,
        }
    }

    pub(super) fn topic(&self) -> Topic {
        match self {
            Self::State(..) => Topic::State,
            Self::Presentation(_) | Self::Reason(_) | Self::Tokens(_) => Topic::Metadata,
            Self::End(_) => Topic::End,
            Self::Look => Topic::Look,
            Self::Below => Topic::Below,
            Self::Version => Topic::Version,
            Self::Processes | Self::Panes => Topic::Identity,
        }
    }

    /// By which of the two marks the server judges its number.
    fn mark(&self) -> usize {
        usize::from(self.topic() == Topic::Metadata)
    }

    /// Whether it changes nothing.
    pub(super) fn reads(&self) -> bool {
        let topic = self.topic();
        matches!(topic, Topic::Look | Topic::Below | Topic::Version | Topic::Identity)
    }
}

impl Flight {
    /// Whether it carries how the agent is to be restarted.
    pub(super) fn asks_to_resume(&self) -> bool {
        matches!(&self.call, PaneCall::Report(report) if report.resume_argv.is_some())
    }
}

impl PaneMachine {
    pub(super) fn send(&mut self, carries: Carries, now: Now, deadline: Duration) -> Request {
        let flight = match self.rests.of_mut(carries.topic()).last.take() {
            // The same again keeps its number: if the first one was taken
            // after all, this one is stale and does no harm.
            Some(last)
                if last.carries == carries
                    && last.seq == self.numbers[carries.mark()]
                    && self.climb_of(&carries) == Climb::None =>
            {
                last
            }
            _ => self.new_flight(carries, now),
        };
        let sent = Some(now.elapsed);
        match &flight.carries {
            Carries::State(record, _) => {
                self.state.sent_at = sent;
                self.last_state = Some(record.state);
            }
            Carries::Presentation(_) => self.presentation.sent_at = sent,
            Carries::Reason(_) => self.reason.sent_at = sent,
            Carries::Tokens(_) => self.tokens.sent_at = sent,
            Carries::Look => self.looks.last = sent,
            _ => {}
        }
        if let Some(part) = flight.carries.part() {
            self.receipts.sent(part);
        }
        if flight.seq.is_some() {
            self.numbers[flight.carries.mark()] = flight.seq;
        }
        let call = flight.call.clone();
        self.flight = Some(Flight { sent_at: now.elapsed, void: false, ..flight });
        Request { call, deadline }
    }

    /// How far what it carries has climbed.
    pub(super) fn climb_of(&self, carries: &Carries) -> Climb {
        match carries {
            Carries::State(..) | Carries::End(_) => self.state.climb,
            Carries::Presentation(_) => self.presentation.climb,
            Carries::Tokens(patch) => {
                let slots = patch.iter().filter_map(|(key, _)| self.tokens.slots.get(key));
                slots.map(|slot| slot.climb).max().unwrap_or_default()
            }
            _ => Climb::None,
        }
    }

    fn new_flight(&mut self, carries: Carries, now: Now) -> Flight {
        let seq = self.number(&carries, now);
        let call = match &carries {
            Carries::State(record, session) => self.report(record, session.as_ref(), seq),
            Carries::Presentation(record) => self.presentation_call(record.as_ref(), seq),
            Carries::Reason(labels) => self.reason_call(labels.as_ref(), seq),
            Carries::Tokens(patch) => self.tokens_call(patch, seq),
            Carries::End(by) => self.end_call(*by, seq),
            Carries::Look => PaneCall::Get(PaneGet::new(self.claim.pane.clone())),
            Carries::Below => {
                // It takes no older id of a pane that has moved.
                let pane = self.present_id.as_ref().unwrap_or(&self.claim.pane);
                PaneCall::Explain(AgentExplain::of(pane))
            }
            Carries::Version => PaneCall::Ping(Ping::default()),
            Carries::Processes => self.processes_call(),
            Carries::Panes => PaneCall::List(herdr_proto::PaneList::default()),
        };
        Flight { call, carries, seq, sent_at: now.elapsed, void: false }
    }

    /// The number of a request; reads have none. Reports that are made once
    /// have none either, but for the state: the server takes them always,
    /// whatever the clocks of other processes said.
    fn number(&mut self, carries: &Carries, now: Now) -> Option<Seq> {
        if carries.reads() {
            return None;
        }
        let climb = self.climb_of(carries);
        let clock = match (&self.claim.mode, carries.topic()) {
            (Mode::Once(_), Topic::Metadata) => return None,
            (Mode::Once(once), _) if climb == Climb::None => once.started,
            _ if climb == Climb::Nanos => now.unix_micros.saturating_mul(1_000),
            _ => now.unix_micros,
        };
        Some(self.seq.next(clock))
    }

    fn report(
        &self,
        record: &StateRecord,
        session: Option<&Session>,
        seq: Option<Seq>,
    ) -> PaneCall {
        let claim = &self.claim;
        let mut report = ReportAgent::new(
            claim.pane.clone(),
            claim.source.clone(),
            claim.agent.clone(),
            record.state,
        );
        report.seq = seq;
        report.message.clone_from(&record.reason);
        if let Some(session) = session {
            report.agent_session_id.clone_from(&session.id);
            report.agent_session_path.clone_from(&session.path);
            if self.server.as_ref().is_some_and(Pong::takes_resume_argv) && !self.no_resume {
                report.resume_argv.clone_from(&session.resume_argv);
            }
        }
        PaneCall::Report(report)
    }

    fn presentation_call(&self, record: Option<&PresentationRecord>, seq: Option<Seq>) -> PaneCall {
        let claim = self.speaker();
        let mut report = ReportMetadata::new(claim.pane.clone(), claim.source.clone());
        report.seq = seq;
        let Some(record) = record else {
            clear(&mut report);
            self.guard(&mut report);
            return PaneCall::Metadata(report);
        };
        report.ttl_ms = Some(self.claim.metadata_ttl);
        let Presentation { title, display_agent, labels } = &record.presentation;
        if claim.is_once() {
            self.edit(&mut report, &record.presentation);
        } else {
            report.title.clone_from(title);
            report.display_agent.clone_from(display_agent);
            report.state_labels.clone_from(labels);
            self.guard(&mut report);
        }
        PaneCall::Metadata(report)
    }

    /// Names only what changes, with a flag, so that what other processes have
    /// set stays (protocol §5.6 D5, failure B42).
    fn edit(&self, report: &mut ReportMetadata, wanted: &Presentation) {
        let nothing = Presentation::default();
        let has = match &self.presentation.has {
            Has::Known(has) => &has.presentation,
            _ => &nothing,
        };
        report.clear_display_agent = true;
        report.agent = self.herdrs_agent().filter(|_| self.is_beside());
        if wanted.title != has.title {
            report.title.clone_from(&wanted.title);
            report.clear_title = wanted.title.is_none();
        }
        report.clear_state_labels = wanted.labels.is_empty() && !has.labels.is_empty();
        report.state_labels.clone_from(&wanted.labels);
        report.state_labels.retain(|state, text| has.labels.get(state) != Some(text));
    }

    /// Shows it only under the row that it is about.
    fn guard(&self, report: &mut ReportMetadata) {
        let claim = self.speaker();
        if claim.is_once() {
            return;
        }
        let under = self.herdrs_agent();
        report.applies_to_source = under.is_none().then(|| claim.source.clone());
        report.agent = Some(under.unwrap_or_else(|| claim.agent.clone()));
    }

    fn reason_call(&self, labels: Option<&StateLabels>, seq: Option<Seq>) -> PaneCall {
        let claim = &self.claim;
        let mut report = ReportMetadata::new(claim.pane.clone(), reason_source(&claim.source));
        report.seq = seq;
        match labels {
            Some(labels) => {
                report.state_labels.clone_from(labels);
                report.ttl_ms = Some(claim.metadata_ttl);
                let under = self.herdrs_agent();
                report.applies_to_source = under.is_none().then(|| claim.source.clone());
                report.agent = Some(under.unwrap_or_else(|| claim.agent.clone()));
            }
            None => clear(&mut report),
        }
        PaneCall::Metadata(report)
    }

    fn tokens_call(&self, patch: &TokenPatch, seq: Option<Seq>) -> PaneCall {
        let claim = self.speaker();
        let mut report = ReportMetadata::new(claim.pane.clone(), claim.source.clone());
        report.seq = seq;
        report.tokens = patch.clone();
        report.ttl_ms = Some(self.claim.metadata_ttl);
        PaneCall::Metadata(report)
    }

    fn end_call(&self, by: EndBy, seq: Option<Seq>) -> PaneCall {
        let claim = self.speaker();
        let (pane, source) = (claim.pane.clone(), claim.source.clone());
        match by {
            EndBy::Release => {
                let mut release = ReleaseAgent::new(pane, source, claim.agent.clone());
                release.seq = seq;
                PaneCall::Release(release)
            }
            EndBy::Clear => {
                let mut clear = ClearAgentAuthority::new(pane, source);
                clear.seq = seq;
                PaneCall::Clear(clear)
            }
        }
    }

    /// Whether the version decides what the next report may carry. It is asked
    /// for once per server: a handoff may have changed it (failure B82).
    pub(super) fn must_ask_version(&self) -> bool {
        let resumable = self.session.as_ref().is_some_and(|s| s.resume_argv.is_some());
        resumable
            && self.speaks()
            && self.server.is_none()
            && !self.no_resume
            && !matches!(self.state.has, Has::Known(_))
    }
}

/// Takes title, name and labels off.
fn clear(report: &mut ReportMetadata) {
    report.clear_title = true;
    report.clear_display_agent = true;
    report.clear_state_labels = true;
}

/// The labels that go with a state that was reported once are a record of their
/// own: nobody could tell later which label was a reason that is over.
fn reason_source(source: &SourceId) -> SourceId {
    SourceId::parse(format!("{source}.reason")).unwrap_or_else(|_| source.clone())
}
