//! Arbitrary calls of every method, each tried by one and the same check.

use std::fmt::Debug;

use herdr_proto::{
    AgentGet, AgentList, AgentPrompt, AgentRead, Call, ClearAgentAuthority, PaneCurrent, PaneGet,
    PaneList, PaneRead, Ping, ProcessInfoGet, ReadFormat, ReadSource, ReleaseAgent, ReportAgent,
    ReportAgentSession, SendInput, SendKeys, SendText, SessionSnapshot, Subscribe,
};
use proptest::option;
use proptest::prelude::*;
use serde::de::DeserializeOwned;

use super::*;

/// A call of any method.
#[derive(Debug, Clone)]
pub(crate) enum AnyCall {
    Ping,
    AgentList,
    SessionSnapshot,
    ReportAgent(ReportAgent),
    ReportAgentSession(ReportAgentSession),
    ReportMetadata(Box<ReportMetadata>),
    ReleaseAgent(ReleaseAgent),
    ClearAgentAuthority(ClearAgentAuthority),
    PaneGet(PaneGet),
    PaneCurrent(PaneCurrent),
    PaneList(PaneList),
    ProcessInfoGet(ProcessInfoGet),
    AgentGet(AgentGet),
    Subscribe(Subscribe),
    SendText(SendText),
    SendKeys(SendKeys),
    SendInput(SendInput),
    PaneRead(PaneRead),
    AgentRead(AgentRead),
    AgentPrompt(AgentPrompt),
}

/// What a test does with a call, whatever its type.
pub(crate) trait Check {
    fn check<C>(&self, call: &C)
    where
        C: Call + DeserializeOwned + PartialEq + Debug;
}

impl AnyCall {
    pub(crate) fn check(&self, check: &impl Check) {
        match self {
            Self::Ping => check.check(&Ping::default()),
            Self::AgentList => check.check(&AgentList::default()),
            Self::SessionSnapshot => check.check(&SessionSnapshot::default()),
            Self::ReportAgent(call) => check.check(call),
            Self::ReportAgentSession(call) => check.check(call),
            Self::ReportMetadata(call) => check.check(&**call),
            Self::ReleaseAgent(call) => check.check(call),
            Self::ClearAgentAuthority(call) => check.check(call),
            Self::PaneGet(call) => check.check(call),
            Self::PaneCurrent(call) => check.check(call),
            Self::PaneList(call) => check.check(call),
            Self::ProcessInfoGet(call) => check.check(call),
            Self::AgentGet(call) => check.check(call),
            Self::Subscribe(call) => check.check(call),
            Self::SendText(call) => check.check(call),
            Self::SendKeys(call) => check.check(call),
            Self::SendInput(call) => check.check(call),
            Self::PaneRead(call) => check.check(call),
            Self::AgentRead(call) => check.check(call),
            Self::AgentPrompt(call) => check.check(call),
        }
    }
}

pub(crate) fn any_call() -> impl Strategy<Value = AnyCall> {
    prop_oneof![
        1 => Just(AnyCall::Ping),
        1 => Just(AnyCall::AgentList),
        1 => Just(AnyCall::SessionSnapshot),
        4 => report_agent().prop_map(AnyCall::ReportAgent),
        4 => report_agent_session().prop_map(AnyCall::ReportAgentSession),
        6 => metadata().prop_map(|call| AnyCall::ReportMetadata(Box::new(call))),
        2 => (pane_id(), source(), label(), option::of(seq())).prop_map(|(pane, source, agent, seq)| {
            let mut call = ReleaseAgent::new(pane, source, agent);
            call.seq = seq;
            AnyCall::ReleaseAgent(call)
        }),
        2 => (pane_id(), option::of(source()), option::of(seq())).prop_map(|(pane, source, seq)| {
            let mut call = ClearAgentAuthority::new(pane, "any".parse().unwrap());
            (call.source, call.seq) = (source, seq);
            AnyCall::ClearAgentAuthority(call)
        }),
        1 => pane_id().prop_map(|pane| AnyCall::PaneGet(PaneGet::new(pane))),
        1 => option::of(pane_id()).prop_map(|pane| {
            AnyCall::PaneCurrent(pane.map_or_else(PaneCurrent::default, PaneCurrent::of))
        }),
        1 => option::of("w[0-9]{1,3}").prop_map(|workspace| {
            let mut call = PaneList::default();
            call.workspace_id = workspace;
            AnyCall::PaneList(call)
        }),
        1 => option::of(pane_id()).prop_map(|pane| {
            AnyCall::ProcessInfoGet(pane.map_or_else(ProcessInfoGet::default, ProcessInfoGet::new))
        }),
        1 => (pane_id(), option::of("\\PC{0,40}")).prop_map(|(pane, name)| {
            let mut call = AgentGet::of(&pane);
            call.target = name.unwrap_or(call.target);
            AnyCall::AgentGet(call)
        }),
        1 => Just(AnyCall::Subscribe(Subscribe::nothing())),
        1 => (pane_id(), ".{0,80}").prop_map(|(p, text)| AnyCall::SendText(SendText::new(p, text))),
        1 => (pane_id(), keys()).prop_map(|(p, keys)| AnyCall::SendKeys(SendKeys::new(p, keys))),
        1 => (pane_id(), ".{0,80}", keys()).prop_map(|(pane, text, keys)| {
            let mut call = SendInput::new(pane, text);
            call.keys = keys;
            AnyCall::SendInput(call)
        }),
        1 => (pane_id(), source_read(), option::of(0..2000_u32)).prop_map(|(pane, read, lines)| {
            let mut call = PaneRead::new(pane, read.0);
            (call.format, call.lines) = (read.1, lines);
            AnyCall::PaneRead(call)
        }),
        1 => (pane_id(), source_read(), option::of(0..2000_u32)).prop_map(|(pane, read, lines)| {
            let mut call = AgentRead::of(&pane, read.0);
            (call.format, call.lines) = (read.1, lines);
            AnyCall::AgentRead(call)
        }),
        1 => (pane_id(), ".{0,80}").prop_map(|(pane, text)| {
            AnyCall::AgentPrompt(AgentPrompt::new(&pane, text))
        }),
    ]
}

fn keys() -> impl Strategy<Value = Vec<String>> {
    vec("[a-z+]{1,8}", 0..4)
}

fn source_read() -> impl Strategy<Value = (ReadSource, ReadFormat)> {
    let source = prop_oneof![
        Just(ReadSource::Detection),
        Just(ReadSource::Visible),
        Just(ReadSource::Recent),
        Just(ReadSource::RecentUnwrapped),
    ];
    (source, prop_oneof![Just(ReadFormat::Text), Just(ReadFormat::Ansi)])
}

fn report_agent() -> impl Strategy<Value = ReportAgent> {
    (
        (pane_id(), source(), label(), state(), option::of(text()), option::of(seq())),
        (option::of(session_id()), option::of(session_path()), option::of(resume_argv())),
    )
        .prop_map(|(report, session)| {
            let mut call = ReportAgent::new(report.0, report.1, report.2, report.3);
            (call.message, call.seq) = (report.4, report.5);
            call.agent_session_id = session.0;
            call.agent_session_path = session.1;
            call.resume_argv = session.2;
            call
        })
}

fn report_agent_session() -> impl Strategy<Value = ReportAgentSession> {
    (
        (pane_id(), source(), label(), option::of(seq()), option::of(start_source())),
        (option::of(session_id()), option::of(session_path()), option::of(resume_argv())),
    )
        .prop_map(|(report, session)| {
            let mut call = ReportAgentSession::new(report.0, report.1, report.2);
            (call.seq, call.session_start_source) = (report.3, report.4);
            call.agent_session_id = session.0;
            call.agent_session_path = session.1;
            call.resume_argv = session.2;
            call
        })
}
