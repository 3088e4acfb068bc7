use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::envelope::{Envelope, Reply, part};
use crate::error::{Error, ErrorKind};
use crate::limits::REQUEST_LINE_MAX;

/// A method's parameters, tied to what the server answers.
///
/// The value serialises as the `params` object, which is never null. Fields that are not set
/// are left out (failure B81).
pub trait Call: Serialize {
    /// The method's name on the wire.
    const METHOD: &'static str;
    /// What the `result` of a successful reply holds.
    type Reply: DeserializeOwned;
}

macro_rules! methods {
    ($($method:literal: $call:ident -> $reply:ident;)*) => {$(
        impl Call for crate::$call {
            const METHOD: &'static str = $method;
            type Reply = crate::$reply;
        }
    )*};
}

methods! {
    "ping": Ping -> Pong;
    "pane.report_agent": ReportAgent -> Ack;
    "pane.report_agent_session": ReportAgentSession -> Ack;
    "pane.report_metadata": ReportMetadata -> Ack;
    "pane.release_agent": ReleaseAgent -> Ack;
    "pane.clear_agent_authority": ClearAgentAuthority -> Ack;
    "pane.get": PaneGet -> PaneInfoReply;
    "pane.current": PaneCurrent -> PaneInfoReply;
    "pane.list": PaneList -> PaneListReply;
    "pane.process_info": ProcessInfoGet -> ProcessInfoReply;
    "pane.read": PaneRead -> PaneReadReply;
    "pane.send_text": SendText -> Ack;
    "pane.send_keys": SendKeys -> Ack;
    "pane.send_input": SendInput -> Ack;
    "agent.get": AgentGet -> AgentInfoReply;
    "agent.list": AgentList -> AgentListReply;
    "agent.read": AgentRead -> PaneReadReply;
    "agent.prompt": AgentPrompt -> AgentInfoReply;
    "agent.explain": AgentExplain -> AgentExplainReply;
    "session.snapshot": SessionSnapshot -> SnapshotReply;
    "events.subscribe": Subscribe -> SubscriptionStarted;
}

/// `{"type": "ok"}`: the request was delivered. That does not mean that it changed anything
/// (protocol §5).
///
/// Any result object counts, whatever its `type`: a server that answers a report with more than
/// `ok` has not refused it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Ack {}

/// Writes one request line with its newline. Send it with a single write: a line that arrives
/// in two parts costs 100 ms (protocol §7.3).
///
/// # Errors
///
/// [`ErrorKind::Oversize`] if the line is over [`REQUEST_LINE_MAX`] bytes. Reports never are,
/// because their values are bounded (failure B61). A call with a list or free text, such as
/// [`AgentGet::target`](crate::AgentGet::target), can be.
pub fn encode<C: Call>(id: &str, call: &C) -> Result<Vec<u8>, Error> {
    #[derive(Serialize)]
    struct Request<'a, C> {
        id: &'a str,
        method: &'static str,
        params: &'a C,
    }

    let request = Request { id, method: C::METHOD, params: call };
    let mut line = Vec::with_capacity(256);
    serde_json::to_writer(&mut line, &request)
        .map_err(|cause| Error::json("the request cannot be written as JSON", &cause))?;
    line.push(b'\n');
    if line.len() > REQUEST_LINE_MAX {
        return Err(Error::new(
            ErrorKind::Oversize,
            format!("the request has {} bytes, at most {REQUEST_LINE_MAX} are sent", line.len()),
        ));
    }
    Ok(line)
}

/// Reads one reply line. `error` is checked first. The id is ignored, because a refused line
/// comes back with the id `""` (failure B59).
///
/// A result is recognised by its fields. Its `type` counts only for [`Pong`](crate::Pong) and
/// [`SubscriptionStarted`](crate::SubscriptionStarted), which have nothing else to recognise
/// them by. Elsewhere another name for the same fields is accepted.
///
/// # Errors
///
/// [`ErrorKind::Malformed`] for a line that is not a reply to this call,
/// [`ErrorKind::NotPaneApi`] for a JSON-RPC answer.
pub fn decode<R: DeserializeOwned>(line: &[u8]) -> Result<Reply<R>, Error> {
    match Envelope::open(line)? {
        Ok(envelope) => part(
            envelope.result,
            "the reply has neither result nor error",
            "the result is not what this method answers",
        )
        .map(Ok),
        Err(rejection) => Ok(Err(rejection)),
    }
}
