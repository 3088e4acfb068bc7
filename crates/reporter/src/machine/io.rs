//! What goes into the machine and what comes out of it.

use std::time::Duration;

use herdr_proto::{
    AgentExplain, Call, ClearAgentAuthority, ErrorCode, ErrorKind, Explanation, PaneGet, PaneInfo,
    PaneList, Ping, Pong, ProcessInfo, ProcessInfoGet, ReleaseAgent, ReportAgent, ReportMetadata,
    Seq, decode, encode,
};

use crate::activity::Snapshot;
use crate::diagnostic::Diagnostic;
use crate::receipt::Receipt;

/// The two clocks, read by the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Now {
    /// Time since a fixed moment; never goes back.
    pub elapsed: Duration,
    /// Wall clock, in microseconds since 1970; may jump. Sequence numbers are made from it.
    pub unix_micros: u64,
}

impl Now {
    pub fn new(elapsed: Duration, unix_micros: u64) -> Self {
        Self { elapsed, unix_micros }
    }
}

#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "one at a time, and moved once")]
pub enum Input {
    /// What the pane should show; `None` gives the pane back. Only the newest one counts.
    Wanted(Option<Box<Snapshot>>),
    Answered(Result<Answer, Failure>),
    /// The held stream has ended, or another socket is at the path or behind an answer. What the
    /// server knew may be gone, and the pane's id may name another pane. This input comes before
    /// the answer of that other socket.
    ServerChanged,
    /// Whether this process holds the pane's lease.
    Lease(Lease),
    /// A caller waits for the lease, even if there is nothing to report.
    AwaitLease,
    /// A one-shot that was started later has reported, so the state of this one is out of date.
    /// Only for a [`OneShot`](super::OneShot).
    Superseded,
    /// [`Step::wake`] has come. An extra timer does no harm.
    Timer,
    /// The host waits for delivery, so idle does not wait for the settle time.
    Flush,
    /// The end: clear, release, and be done within this time.
    Close {
        budget: Duration,
    },
}

/// Whether this process is the owner of the pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Lease {
    /// The lease has been asked for.
    Sought,
    Held,
    /// Another process is the owner.
    Denied,
}

/// Whether the agent runs in a pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Identity {
    /// The pane's shell leads the session of the agent's process.
    Proven,
    /// The pane's shell cannot be seen from here, or the server does not name it.
    Unprovable,
    /// The pane's shell can be seen, and leads another session.
    Foreign,
}

/// What the caller has to do after a step.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Step {
    /// Drop the request in flight. Its answer does not count any more.
    pub abandon: bool,
    /// The request to send. No other request is in flight then.
    pub request: Option<Request>,
    pub receipts: Vec<Receipt>,
    pub diagnostics: Vec<Diagnostic>,
    /// When to give [`Input::Timer`], as [`Now::elapsed`]; `None` means never.
    pub wake: Option<Duration>,
    /// Everything wanted has been delivered, or will not be delivered.
    pub quiet: bool,
    pub ended: Option<Ended>,
}

/// How a reporter ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ended {
    /// Nothing of ours was on the pane.
    NothingToRelease,
    /// Nothing of ours is left: title, labels and tokens were cleared, and then the row, if it was
    /// ours, was released.
    Released,
    /// The row was released, but a title, labels or tokens may stay until their ttl ends.
    ReleasedUncleared,
    /// The server did not accept the release in time, or it may still apply an unanswered claim
    /// after the release.
    NotReleased,
}

/// A request, and how long it may take.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Request {
    pub call: PaneCall,
    /// From connecting to the whole reply.
    pub deadline: Duration,
}

#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PaneCall {
    Report(ReportAgent),
    /// Title, name and labels, or tokens.
    Metadata(ReportMetadata),
    /// Releases the row.
    Release(ReleaseAgent),
    /// Ends the claim and keeps the row of an agent that Herdr detects below it.
    Clear(ClearAgentAuthority),
    Get(PaneGet),
    /// Asks which agent Herdr detects below our claim.
    Explain(AgentExplain),
    Ping(Ping),
    Processes(ProcessInfoGet),
    List(PaneList),
}

#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "one at a time, and moved once")]
pub enum Answer {
    Ack,
    Pane(PaneInfo),
    Explained(Explanation),
    Pong(Pong),
    /// The processes of a pane. The caller looks at them and gives [`Answer::Identity`] instead.
    Processes(ProcessInfo),
    /// What the processes prove about the agent and the pane that was asked about.
    Identity(Identity),
    Panes(Vec<PaneInfo>),
}

impl PaneCall {
    /// The sequence number; `None` for a read, and for the metadata of a one-shot.
    pub(super) fn seq(&self) -> Option<Seq> {
        match self {
            Self::Report(call) => call.seq,
            Self::Metadata(call) => call.seq,
            Self::Release(call) => call.seq,
            Self::Clear(call) => call.seq,
            _ => None,
        }
    }

    /// Whether a second copy of the request changes nothing: it only reads, or the server ignores
    /// its sequence number the second time.
    pub(crate) fn is_repeatable(&self) -> bool {
        let writes =
            matches!(self, Self::Report(_) | Self::Metadata(_) | Self::Release(_) | Self::Clear(_));
        !writes || self.seq().is_some()
    }

    /// The request line, newline included.
    ///
    /// # Errors
    ///
    /// [`FailureKind::Unusable`] if the request is longer than a line may be. Bounded values are
    /// never that long.
    pub fn encode(&self, id: &str) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Report(call) => encode(id, call),
            Self::Metadata(call) => encode(id, call),
            Self::Release(call) => encode(id, call),
            Self::Clear(call) => encode(id, call),
            Self::Get(call) => encode(id, call),
            Self::Explain(call) => encode(id, call),
            Self::Ping(call) => encode(id, call),
            Self::Processes(call) => encode(id, call),
            Self::List(call) => encode(id, call),
        }
        .map_err(|error| Failure::new(FailureKind::Unusable, error.to_string()))
    }

    /// The answer in a reply line.
    ///
    /// # Errors
    ///
    /// [`FailureKind::Rejected`] if the server refused the request; [`FailureKind::NotPaneApi`] or
    /// [`FailureKind::Malformed`] if the line is not a reply to it.
    pub fn decode(&self, line: &[u8]) -> Result<Answer, Failure> {
        match self {
            Self::Report(_) | Self::Metadata(_) | Self::Release(_) | Self::Clear(_) => {
                read::<ReportAgent>(line, |_| Answer::Ack)
            }
            Self::Get(_) => read::<PaneGet>(line, |reply| Answer::Pane(reply.pane)),
            Self::Explain(_) => read::<AgentExplain>(line, |it| Answer::Explained(it.explain)),
            Self::Ping(_) => read::<Ping>(line, Answer::Pong),
            Self::Processes(_) => {
                read::<ProcessInfoGet>(line, |reply| Answer::Processes(reply.process_info))
            }
            Self::List(_) => read::<PaneList>(line, |reply| Answer::Panes(reply.panes)),
        }
    }
}

fn read<C: Call>(line: &[u8], answer: impl FnOnce(C::Reply) -> Answer) -> Result<Answer, Failure> {
    match decode(line) {
        Ok(Ok(reply)) => Ok(answer(reply)),
        Ok(Err(rejection)) => {
            let detail = format!("the server refused: {}", shown(rejection.code.as_str()));
            Err(Failure::new(FailureKind::Rejected(rejection.code), detail))
        }
        Err(error) if error.kind() == ErrorKind::NotPaneApi => {
            Err(Failure::new(FailureKind::NotPaneApi, error.to_string()))
        }
        Err(error) => Err(Failure::new(FailureKind::Malformed, error.to_string())),
    }
}

/// Makes a word from the server, which may be anything, fit for people and logs.
pub(super) fn shown(word: &str) -> String {
    const SHOWN: usize = 64;
    herdr_proto::strip_controls(word).chars().take(SHOWN).collect()
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    pub kind: FailureKind,
    pub detail: String,
}

impl Failure {
    pub fn new(kind: FailureKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into() }
    }
}

/// Why a request failed, by what can be done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// No server took the connection, and nothing was sent. A server may come back.
    Unreachable,
    /// No answer came in time. The request may still be applied.
    Timeout,
    /// The connection broke. The request may have been applied.
    Broken,
    /// The answer is not a reply to this request, which may have been applied.
    Malformed,
    /// Only another socket can help: access is forbidden, there is no socket, its path is too long,
    /// or it is another user's.
    Unusable,
    /// Something other than Herdr's pane API answers.
    NotPaneApi,
    Rejected(ErrorCode),
}

#[cfg(test)]
mod tests {
    use herdr_proto::{PaneId, SourceId};

    use super::*;

    #[test]
    fn a_report_without_a_number_is_never_repeated() {
        let pane = PaneId::parse("w1:p1").unwrap();
        let source = SourceId::parse("custom:host").unwrap();
        let mut title = ReportMetadata::new(pane.clone(), source);
        assert!(!PaneCall::Metadata(title.clone()).is_repeatable());
        title.seq = Some(Seq::new(1));
        assert!(PaneCall::Metadata(title).is_repeatable());
        assert!(PaneCall::Get(PaneGet::new(pane)).is_repeatable());
    }
}
