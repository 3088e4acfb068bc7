use std::time::Duration;

use herdr_proto::{
    AgentExplain, ClearAgentAuthority, ErrorCode, Explanation, PaneGet, PaneInfo, PaneList, Ping,
    Pong, ProcessInfo, ProcessInfoGet, ReleaseAgent, ReportAgent, ReportMetadata, decode, encode,
};

use crate::activity::Snapshot;
use crate::diagnostic::Diagnostic;
use crate::receipt::Receipt;

/// The two clocks, read by the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Now {
    /// Time since some fixed moment; never goes back.
    pub elapsed: Duration,
    /// Wall clock, microseconds since 1970; may jump. Sequence numbers come
    /// from it.
    pub unix_micros: u64,
}

impl Now {
    /// Both clocks at one moment.
    pub fn new(elapsed: Duration, unix_micros: u64) -> Self {
        Self { elapsed, unix_micros }
    }
}

/// What happened to a pane's reporter.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "one at a time, and moved once")]
pub enum Input {
    /// What the pane is to show; `None` gives it back. The newest one counts.
    Wanted(Option<Box<Snapshot>>),
    /// How the request in flight ended.
    Answered(Result<Answer, Failure>),
    /// The held stream ended, or another socket is at the path or behind an
    /// answer: whatever the server knew may be gone, and the pane's id may be
    /// somebody else's. It comes before the answer of that other socket.
    ServerChanged,
    /// Whether the pane is ours among the processes of this machine.
    Lease(Lease),
    /// What [`Answer::Processes`] proves about the agent and the pane that was
    /// asked for.
    Identity(Identity),
    /// Another process that reports once was started later and has reported:
    /// what this one says of the state is out of date. Only for
    /// [`Mode::Once`](super::Mode::Once).
    Superseded,
    /// The time asked for has come, or any other.
    Timer,
    /// A host waits for delivery: no settling now.
    Flush,
    /// The end: clear, release, and be done within this time.
    Close {
        /// From now on.
        budget: Duration,
    },
}

/// Whether the pane is ours among the processes of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Lease {
    /// It is being asked for.
    Sought,
    /// It is.
    Held,
    /// Another process reports for it.
    Denied,
}

/// Whether the agent runs in a pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Identity {
    /// The pane's shell leads the agent's session.
    Proven,
    /// The pane's shell cannot be seen from here, or the server names none.
    Unprovable,
    /// The pane's shell is there to be seen, and leads another session.
    Foreign,
}

/// What the machine wants of the shell after a step.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Step {
    /// Drop the request in flight, answered or not.
    pub abandon: bool,
    /// Send this; there is no other in flight then.
    pub request: Option<Request>,
    /// What became of reports.
    pub receipts: Vec<Receipt>,
    /// What keeps reports from showing.
    pub diagnostics: Vec<Diagnostic>,
    /// When to give [`Input::Timer`], as [`Now::elapsed`]; `None` is never.
    pub wake: Option<Duration>,
    /// Everything wanted is delivered, or will not be.
    pub quiet: bool,
    /// It is over, and this is how.
    pub ended: Option<Ended>,
}

/// How a reporter ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ended {
    /// There was nothing of ours on the pane.
    NothingToRelease,
    /// Nothing of ours is left: title, labels and tokens were cleared, and then
    /// the row, if it was ours, was released.
    Released,
    /// The same, but a title or tokens may stay until their ttl.
    ReleasedUncleared,
    /// The server did not take the release in time.
    NotReleased,
}

/// One request, and how long it may take.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// What to send.
    pub call: PaneCall,
    /// From connecting to the whole reply.
    pub deadline: Duration,
}

/// A request of a reporter.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PaneCall {
    /// State.
    Report(ReportAgent),
    /// Title, name and labels, or tokens.
    Metadata(ReportMetadata),
    /// The last word.
    Release(ReleaseAgent),
    /// The last word over an agent that Herdr detects.
    Clear(ClearAgentAuthority),
    /// A read-back.
    Get(PaneGet),
    /// Which agent does Herdr detect below ours?
    Explain(AgentExplain),
    /// Which server is it?
    Ping(Ping),
    /// Whose pane is it?
    Processes(ProcessInfoGet),
    /// Which panes are there?
    List(PaneList),
}

/// What a request of a reporter was answered.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "one at a time, and moved once")]
pub enum Answer {
    /// `ok`: delivered.
    Ack,
    /// The pane as it is.
    Pane(PaneInfo),
    /// What Herdr makes of the agent.
    Explained(Explanation),
    /// The server's name.
    Pong(Pong),
    /// A pane's processes. The shell looks at them and gives
    /// [`Input::Identity`]; until then the machine waits.
    Processes(ProcessInfo),
    /// All panes.
    Panes(Vec<PaneInfo>),
}

impl PaneCall {
    /// The request line, newline included.
    ///
    /// # Errors
    ///
    /// [`FailureKind::Unusable`] if it does not fit a line, which bounded
    /// values never bring about.
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
    /// What the server refused, or that the line is no reply.
    pub fn decode(&self, line: &[u8]) -> Result<Answer, Failure> {
        let reply = match self {
            Self::Report(_) | Self::Metadata(_) | Self::Release(_) | Self::Clear(_) => {
                decode::<herdr_proto::Ack>(line).map(|reply| reply.map(|_| Answer::Ack))
            }
            Self::Get(_) => decode::<herdr_proto::PaneInfoReply>(line)
                .map(|reply| reply.map(|reply| Answer::Pane(reply.pane))),
            Self::Explain(_) => decode::<herdr_proto::AgentExplainReply>(line)
                .map(|reply| reply.map(|reply| Answer::Explained(reply.explain))),
            Self::Ping(_) => decode::<Pong>(line).map(|reply| reply.map(Answer::Pong)),
            Self::Processes(_) => decode::<herdr_proto::ProcessInfoReply>(line)
                .map(|reply| reply.map(|reply| Answer::Processes(reply.process_info))),
            Self::List(_) => decode::<herdr_proto::PaneListReply>(line)
                .map(|reply| reply.map(|reply| Answer::Panes(reply.panes))),
        };
        match reply {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(rejection)) => {
                let detail = format!("the server refused: {}", shown(rejection.code.as_str()));
                Err(Failure::new(FailureKind::Rejected(rejection.code), detail))
            }
            Err(error) if error.kind() == herdr_proto::ErrorKind::NotPaneApi => {
                Err(Failure::new(FailureKind::NotPaneApi, error.to_string()))
            }
            Err(error) => Err(Failure::new(FailureKind::Malformed, error.to_string())),
        }
    }
}

/// A word of the server's for people and logs: it may be anything.
pub(super) fn shown(word: &str) -> String {
    const SHOWN: usize = 64;
    herdr_proto::strip_controls(word).chars().take(SHOWN).collect()
}

/// A request that did not come to its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// What can be done about it.
    pub kind: FailureKind,
    /// In words, without payloads.
    pub detail: String,
}

impl Failure {
    /// A failure in words.
    pub fn new(kind: FailureKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into() }
    }
}

/// A failed request, by what can be done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// Nobody took the connection; nothing was sent. The server comes back or
    /// not.
    Unreachable,
    /// No answer in time. The request may yet be applied.
    Timeout,
    /// The connection broke. The request may have been applied.
    Broken,
    /// The answer is none to this request. It may have been applied.
    Malformed,
    /// Nothing will change until the socket does: forbidden, no socket at
    /// all, too long, another user's.
    Unusable,
    /// Something else than Herdr's pane API answers.
    NotPaneApi,
    /// The server refused.
    Rejected(ErrorCode),
}
