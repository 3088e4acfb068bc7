//! The requests: which ones there are, and how each is built.

use std::time::Duration;

use herdr_proto::{
    AgentExplain, ClearAgentAuthority, PaneGet, Ping, Pong, ReleaseAgent, ReportAgent,
    ReportMetadata, Seq, SourceId, StateLabels, TokenPatch,
};

use super::slot::{Escalation, OnServer, PresentationRecord, StateRecord};
use super::timing::{ReportKind, RetryGroup};
use super::{Now, PaneCall, PaneMachine, Request};
use crate::activity::{Presentation, Session};
use crate::receipt::Part;

/// A request that has been sent: the one in flight, or one that failed and is kept for a retry.
#[derive(Debug, Clone)]
pub(super) struct SentRequest {
    pub(super) call: PaneCall,
    pub(super) action: Action,
    pub(super) sent_at: Duration,
    /// The server was replaced after this request was sent, so the answer says nothing about the
    /// present server.
    pub(super) to_old_server: bool,
}

/// What a request is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    ReportState(StateRecord, Option<Session>),
    /// Holds what the server has of title, name and labels once it has accepted the request; `None`
    /// is an empty record.
    SetPresentation(Option<PresentationRecord>),
    /// The labels that go with the state of a one-shot; `None` clears them.
    SetReason(Option<StateLabels>),
    PatchTokens(TokenPatch),
    EndClaim(EndBy),
    /// `pane.get`: what does the pane show?
    ReadBack,
    /// `agent.explain`: does Herdr detect an agent of its own below our claim?
    Explain,
    /// `ping`: which version is the server?
    Ping,
    /// `pane.process_info`: does the agent run in the pane?
    GetProcesses,
    /// `pane.list`: which panes may be ours?
    ListPanes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndBy {
    Release,
    /// `pane.clear_agent_authority`. A release would also remove the row of an agent that Herdr
    /// detects below our claim (protocol §5.4).
    Clear,
}

impl Action {
    pub(super) fn part(&self) -> Option<Part> {
        match self {
            Self::ReportState(..) => Some(Part::State),
            Self::SetPresentation(_) => Some(Part::Presentation),
            Self::PatchTokens(_) => Some(Part::Tokens),
            Self::EndClaim(_) => Some(Part::Release),
            _ => None,
        }
    }

    pub(super) fn group(&self) -> RetryGroup {
        match self {
            Self::ReportState(..) => RetryGroup::State,
            Self::SetPresentation(_) | Self::SetReason(_) | Self::PatchTokens(_) => {
                RetryGroup::Metadata
            }
            Self::EndClaim(_) => RetryGroup::End,
            Self::ReadBack => RetryGroup::ReadBack,
            Self::Explain => RetryGroup::Explain,
            Self::Ping => RetryGroup::Version,
            Self::GetProcesses | Self::ListPanes => RetryGroup::Identity,
        }
    }

    /// `None` if the action is not a report.
    pub(super) fn report_kind(&self) -> Option<ReportKind> {
        match self {
            Self::ReportState(..) => Some(ReportKind::State),
            Self::SetPresentation(_) => Some(ReportKind::Presentation),
            Self::SetReason(_) => Some(ReportKind::Reason),
            Self::PatchTokens(_) => Some(ReportKind::Tokens),
            _ => None,
        }
    }

    /// The index of the sequence mark that applies: the server keeps one for the claim and one for
    /// metadata (protocol §5.1).
    fn sequence_mark(&self) -> usize {
        usize::from(self.group() == RetryGroup::Metadata)
    }

    pub(super) fn only_reads(&self) -> bool {
        !matches!(self.group(), RetryGroup::State | RetryGroup::Metadata | RetryGroup::End)
    }
}

impl SentRequest {
    /// Whether the report includes the command that restarts the agent.
    pub(super) fn has_resume_argv(&self) -> bool {
        matches!(&self.call, PaneCall::Report(report) if report.resume_argv.is_some())
    }
}

impl PaneMachine {
    pub(super) fn send(&mut self, action: Action, now: Now, deadline: Duration) -> Request {
        let sent = match self.backoffs.of_mut(action.group()).failed_request.take() {
            // A retry keeps its number: if the server did apply the first attempt, it ignores the
            // second one as stale.
            Some(last)
                if last.action == action
                    && last.call.seq() == self.last_seqs[action.sequence_mark()]
                    && self.escalation_of(&action) == Escalation::None =>
            {
                last
            }
            _ => self.new_request(action, now),
        };
        match &sent.action {
            Action::ReportState(record, _) => self.last_sent_state = Some(record.state),
            Action::ReadBack => self.read_backs.last = Some(now.elapsed),
            _ => {}
        }
        if let Some(kind) = sent.action.report_kind() {
            self.attempts.of_mut(kind).sent_at = Some(now.elapsed);
        }
        if let Some(part) = sent.action.part() {
            self.receipts.sent(part);
        }
        if sent.call.seq().is_some() {
            self.last_seqs[sent.action.sequence_mark()] = sent.call.seq();
        }
        let call = sent.call.clone();
        self.in_flight = Some(SentRequest { sent_at: now.elapsed, to_old_server: false, ..sent });
        Request { call, deadline }
    }

    pub(super) fn escalation_of(&self, action: &Action) -> Escalation {
        match action {
            Action::ReportState(..) | Action::EndClaim(_) => self.state.escalation,
            Action::SetPresentation(_) => self.presentation.escalation,
            Action::PatchTokens(patch) => {
                let slots = patch.iter().filter_map(|(key, _)| self.tokens.slots.get(key));
                slots.map(|slot| slot.escalation).max().unwrap_or_default()
            }
            _ => Escalation::None,
        }
    }

    fn new_request(&mut self, action: Action, now: Now) -> SentRequest {
        let seq = self.number(&action, now);
        let call = match &action {
            Action::ReportState(record, session) => self.report(record, session.as_ref(), seq),
            Action::SetPresentation(_) | Action::SetReason(_) | Action::PatchTokens(_) => {
                self.metadata_call(&action, seq)
            }
            Action::EndClaim(by) => self.end_call(*by, seq),
            Action::ReadBack => PaneCall::Get(PaneGet::new(self.claim.pane.clone())),
            Action::Explain => {
                // `agent.explain` does not accept the former id of a pane that has moved.
                let pane = self.current_pane_id.as_ref().unwrap_or(&self.claim.pane);
                PaneCall::Explain(AgentExplain::of(pane))
            }
            Action::Ping => PaneCall::Ping(Ping::default()),
            Action::GetProcesses => self.processes_call(),
            Action::ListPanes => PaneCall::List(herdr_proto::PaneList::default()),
        };
        SentRequest { call, action, sent_at: now.elapsed, to_old_server: false }
    }

    /// The sequence number of a request; reads have none. The metadata of a one-shot has none
    /// either: the server accepts a report without a number whatever the clocks of other processes
    /// were.
    fn number(&mut self, action: &Action, now: Now) -> Option<Seq> {
        if action.only_reads() {
            return None;
        }
        let escalation = self.escalation_of(action);
        let clock = match (&self.claim.once, action.group()) {
            (Some(_), RetryGroup::Metadata) => return None,
            (Some(once), _) if escalation == Escalation::None => once.started,
            _ if escalation == Escalation::NanosSeq => now.unix_micros.saturating_mul(1_000),
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
            if self.server_version.as_ref().is_some_and(Pong::takes_resume_argv)
                && !self.resume_argv_refused
            {
                report.resume_argv.clone_from(&session.resume_argv);
            }
        }
        PaneCall::Report(report)
    }

    fn metadata_call(&self, action: &Action, seq: Option<Seq>) -> PaneCall {
        let claim = self.active_claim();
        let mut report = ReportMetadata::new(claim.pane.clone(), claim.source.clone());
        report.seq = seq;
        report.ttl_ms = Some(self.claim.config.metadata_ttl);
        match action {
            Action::PatchTokens(patch) => report.tokens.clone_from(patch),
            Action::SetReason(labels) => {
                report.source = reason_source(&claim.source);
                match labels {
                    Some(labels) => report.state_labels.clone_from(labels),
                    None => clear(&mut report),
                }
            }
            Action::SetPresentation(Some(record)) if claim.once.is_some() => {
                self.edit(&mut report, &record.presentation);
            }
            Action::SetPresentation(Some(record)) => {
                let Presentation { title, display_agent, labels } = record.presentation.clone();
                report.title = title;
                report.display_agent = display_agent;
                report.state_labels = labels;
            }
            _ => clear(&mut report),
        }
        // An edit by a one-shot applies to whatever the pane shows, and tokens cannot be guarded
        // (protocol §5.6 D3).
        let guarded = match action {
            Action::SetReason(labels) => labels.is_some(),
            Action::SetPresentation(_) => claim.once.is_none(),
            _ => false,
        };
        if guarded {
            let under = self.state_left_to().cloned();
            report.applies_to_source = under.is_none().then(|| claim.source.clone());
            report.agent = Some(under.unwrap_or_else(|| claim.agent.clone()));
        }
        PaneCall::Metadata(report)
    }

    /// Sends only what changes, with a `clear_*` flag, so that what other processes have set stays
    /// (protocol §5.6 D5, failure B42).
    fn edit(&self, report: &mut ReportMetadata, wanted: &Presentation) {
        let nothing = Presentation::default();
        let has = match &self.presentation.on_server {
            OnServer::Known(has) => &has.presentation,
            _ => &nothing,
        };
        report.clear_display_agent = true;
        report.agent = self.state_left_to().filter(|_| self.leaves_state_to_herdr()).cloned();
        if wanted.title != has.title {
            report.title.clone_from(&wanted.title);
            report.clear_title = wanted.title.is_none();
        }
        report.clear_state_labels = wanted.labels.is_empty() && !has.labels.is_empty();
        report.state_labels.clone_from(&wanted.labels);
        report.state_labels.retain(|state, text| has.labels.get(state) != Some(text));
    }

    fn end_call(&self, by: EndBy, seq: Option<Seq>) -> PaneCall {
        let claim = self.active_claim();
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

    /// Whether the server's version must be known before the next report: it decides whether the
    /// report may include `resume_argv`. It is asked once per server, since a handoff may change it
    /// (failure B82).
    pub(super) fn must_ask_version(&self) -> bool {
        let resumable = self.session.as_ref().is_some_and(|s| s.resume_argv.is_some());
        resumable
            && self.reports_state()
            && self.server_version.is_none()
            && !self.resume_argv_refused
            && !matches!(self.state.on_server, OnServer::Known(_))
    }
}

fn clear(report: &mut ReportMetadata) {
    report.ttl_ms = None;
    report.clear_title = true;
    report.clear_display_agent = true;
    report.clear_state_labels = true;
}

/// The labels that go with the state of a one-shot have their own source. Otherwise a later
/// one-shot could not know which label was only the reason of an earlier state.
fn reason_source(source: &SourceId) -> SourceId {
    SourceId::parse(format!("{source}.reason")).unwrap_or_else(|_| source.clone())
}
