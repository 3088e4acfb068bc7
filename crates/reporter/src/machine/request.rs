//! From what is missing to the request that brings it.

use std::time::Duration;

use herdr_proto::{
    AgentExplain, ClearAgentAuthority, PaneGet, Ping, Pong, ReleaseAgent, ReportAgent,
    ReportMetadata, Seq, SourceId, StateLabels, TokenPatch,
};

use super::slot::{Climb, Has, PresentationRecord, StateRecord};
use super::timing::Tried;
use super::{Now, PaneCall, PaneMachine, Request};
use crate::activity::{Presentation, Session};
use crate::receipt::Part;

#[derive(Debug, Clone)]
pub(super) struct Flight {
    pub(super) call: PaneCall,
    pub(super) carries: Carries,
    pub(super) seq: Option<Seq>,
    pub(super) sent_at: Duration,
    /// The server has changed since; its answer says nothing about this one.
    pub(super) void: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Carries {
    State(StateRecord, Option<Session>),
    /// What the server has of title, name and labels afterwards.
    Presentation(Option<PresentationRecord>),
    /// The labels that go with a state that was reported once.
    Reason(Option<StateLabels>),
    Tokens(TokenPatch),
    End(EndBy),
    Look,
    /// Does Herdr detect an agent of its own below the claim?
    Below,
    Version,
    Processes,
    Panes,
}

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

    /// Which of the tries is this one's.
    pub(super) fn tried(&self) -> Option<Tried> {
        match self {
            Self::State(..) => Some(Tried::State),
            Self::Presentation(_) => Some(Tried::Presentation),
            Self::Reason(_) => Some(Tried::Reason),
            Self::Tokens(_) => Some(Tried::Tokens),
            _ => None,
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
        match &flight.carries {
            Carries::State(record, _) => self.last_state = Some(record.state),
            Carries::Look => self.looks.last = Some(now.elapsed),
            _ => {}
        }
        if let Some(tried) = flight.carries.tried() {
            self.tries.of_mut(tried).sent_at = Some(now.elapsed);
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
            Carries::Presentation(_) | Carries::Reason(_) | Carries::Tokens(_) => {
                self.metadata_call(&carries, seq)
            }
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
        let clock = match (&self.claim.once, carries.topic()) {
            (Some(_), Topic::Metadata) => return None,
            (Some(once), _) if climb == Climb::None => once.started,
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

    fn metadata_call(&self, carries: &Carries, seq: Option<Seq>) -> PaneCall {
        let claim = self.speaker();
        let mut report = ReportMetadata::new(claim.pane.clone(), claim.source.clone());
        report.seq = seq;
        report.ttl_ms = Some(self.claim.config.metadata_ttl);
        match carries {
            Carries::Tokens(patch) => report.tokens.clone_from(patch),
            Carries::Reason(labels) => {
                report.source = reason_source(&claim.source);
                match labels {
                    Some(labels) => report.state_labels.clone_from(labels),
                    None => clear(&mut report),
                }
            }
            Carries::Presentation(Some(record)) if claim.once.is_some() => {
                self.edit(&mut report, &record.presentation);
            }
            Carries::Presentation(Some(record)) => {
                let Presentation { title, display_agent, labels } = record.presentation.clone();
                report.title = title;
                report.display_agent = display_agent;
                report.state_labels = labels;
            }
            _ => clear(&mut report),
        }
        // An edit is of whatever is shown, and tokens cannot be guarded.
        let guarded = match carries {
            Carries::Reason(labels) => labels.is_some(),
            Carries::Presentation(_) => claim.once.is_none(),
            _ => false,
        };
        if guarded {
            let under = self.state_left_to().cloned();
            report.applies_to_source = under.is_none().then(|| claim.source.clone());
            report.agent = Some(under.unwrap_or_else(|| claim.agent.clone()));
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
        report.agent = self.state_left_to().filter(|_| self.is_beside()).cloned();
        if wanted.title != has.title {
            report.title.clone_from(&wanted.title);
            report.clear_title = wanted.title.is_none();
        }
        report.clear_state_labels = wanted.labels.is_empty() && !has.labels.is_empty();
        report.state_labels.clone_from(&wanted.labels);
        report.state_labels.retain(|state, text| has.labels.get(state) != Some(text));
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

fn clear(report: &mut ReportMetadata) {
    report.ttl_ms = None;
    report.clear_title = true;
    report.clear_display_agent = true;
    report.clear_state_labels = true;
}

/// The labels that go with a state that was reported once are a record of their
/// own: nobody could tell later which label was a reason that is over.
fn reason_source(source: &SourceId) -> SourceId {
    SourceId::parse(format!("{source}.reason")).unwrap_or_else(|_| source.clone())
}
