//! One request and what became of it.

use std::path::Path;
use std::time::Duration;

use herdr_proto::ProcessInfo;
use herdr_socket_transport::{Client, Error, ErrorKind, Peer, Phase};

use super::identity::await_shell;
use crate::machine::{Answer, Failure, FailureKind, Identity, PaneCall};

/// What became of a request, and the process that answered it.
pub(crate) type Outcome = (Result<Answer, Failure>, Option<Peer>);

/// Judges whether an agent runs in a pane, as
/// [`judge_identity`](super::identity::judge_identity) does.
type Judge = fn(&ProcessInfo, Option<u32>, &Path, Peer) -> Identity;

/// Sends a request and reads its answer. If the answer contains the processes of a pane, `judge`
/// says what they prove about `agent`.
pub(crate) async fn exchange(
    client: Client,
    call: PaneCall,
    deadline: Duration,
    agent: Option<u32>,
    judge: Judge,
) -> Outcome {
    let line = match call.encode("r") {
        Ok(line) => line,
        Err(failure) => return (Err(failure), None),
    };
    let client = client.with_deadline(deadline);
    let exchanged = if call.is_repeatable() {
        client.exchange_repeatable(&line).await
    } else {
        client.exchange_with(&line).await
    };
    match exchanged {
        Ok((reply, peer)) => {
            let answer = match call.decode(&reply) {
                Ok(Answer::Processes(info)) => {
                    await_shell(&info, peer).await;
                    Ok(Answer::Identity(judge(&info, agent, client.socket(), peer)))
                }
                answer => answer,
            };
            (answer, Some(peer))
        }
        Err(error) => (Err(failure(&error)), None),
    }
}

/// What the machine can do about a transport's error.
fn failure(error: &Error) -> Failure {
    let kind = match error.kind() {
        ErrorKind::NoSuchSocket
        | ErrorKind::Refused
        | ErrorKind::Busy
        | ErrorKind::Timeout(Phase::Connect) => FailureKind::Unreachable,
        ErrorKind::Timeout(_) => FailureKind::Timeout,
        ErrorKind::NotASocket
        | ErrorKind::Permission
        | ErrorKind::PathTooLong
        | ErrorKind::ForeignOwner
        | ErrorKind::InvalidRequest
        | ErrorKind::Unsupported => FailureKind::Unusable,
        ErrorKind::NotPaneApi => FailureKind::NotPaneApi,
        ErrorKind::Malformed | ErrorKind::Oversize => FailureKind::Malformed,
        ErrorKind::Rejected => match error.rejection() {
            Some(rejection) => FailureKind::Rejected(rejection.code.clone()),
            None => FailureKind::Broken,
        },
        _ => FailureKind::Broken,
    };
    Failure::new(kind, error.to_string())
}
