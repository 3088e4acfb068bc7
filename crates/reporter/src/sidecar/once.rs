//! Reports by commands that report once and end, and reads of the pane.

use std::path::Path;
use std::time::{Duration, Instant};

use herdr_proto::{PaneGet, PaneInfo, ProcessInfo, ProcessInfoGet};
use herdr_socket_transport::{Client, Endpoint, Error, Peer};

use crate::clock;
use crate::config::Config;
use crate::diagnostic::Diagnostic;
use crate::engine::{await_shell, exchange, judge_identity};
use crate::machine::{Answer, Claim, Identity, Input, PaneCall, PaneMachine, Request, Step};
use crate::process::ancestors;
use crate::receipt::Receipt;

#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Reported {
    pub receipts: Vec<Receipt>,
    pub diagnostics: Vec<Diagnostic>,
    /// Everything was delivered and read back in time, or never will be.
    pub in_time: bool,
}

/// Reports once, and clears nothing at the end. Stops at `until`. `is_superseded` is whether a
/// process that was started later has reported.
pub async fn report_once(
    pane: &Endpoint,
    claim: Claim,
    until: Instant,
    is_superseded: impl Fn() -> bool,
) -> Reported {
    let client = client(pane, &claim.config);
    let started = Instant::now();
    let left = || until.saturating_duration_since(Instant::now());
    let mut machine = PaneMachine::new(claim);
    let mut reported = Reported::default();
    let mut input = Input::Timer;
    loop {
        let mut next = Step::default();
        for input in is_superseded().then_some(Input::Superseded).into_iter().chain([input]) {
            next = machine.step(clock::now(started.elapsed()), input);
            reported.receipts.append(&mut next.receipts);
            reported.diagnostics.append(&mut next.diagnostics);
            if next.request.is_some() {
                break;
            }
        }
        reported.in_time = next.quiet && next.request.is_none();
        if reported.in_time || left().is_zero() {
            return reported;
        }
        input = if let Some(Request { call, deadline, .. }) = next.request {
            let deadline = deadline.min(left());
            let (answer, _) =
                exchange(client.clone(), call, deadline, None, judge_with_ancestors).await;
            Input::Answered(answer)
        } else {
            let wake = next.wake.map_or(left(), |wake| wake.saturating_sub(started.elapsed()));
            tokio::time::sleep(wake.min(left())).await;
            Input::Timer
        };
    }
}

/// What the pane shows.
///
/// # Errors
///
/// If the server cannot be reached in time, or does not answer the question.
pub async fn shown(pane: &Endpoint, config: &Config, limit: Duration) -> Result<PaneInfo, Error> {
    let client = client(pane, config).with_deadline(limit);
    Ok(client.call(&PaneGet::new(pane.pane().clone())).await?.pane)
}

/// Whether the process `agent` runs in the pane; `None` if the server does not name the processes
/// of the pane.
pub async fn identity(
    pane: &Endpoint,
    config: &Config,
    agent: Option<u32>,
    limit: Duration,
) -> Option<Identity> {
    let call = PaneCall::Processes(ProcessInfoGet::new(pane.pane().clone()));
    match exchange(client(pane, config), call, limit, agent, judge_with_ancestors).await {
        (Ok(Answer::Identity(identity)), _) => Some(identity),
        _ => None,
    }
}

/// Judges whether the process `agent` runs in a pane. If `agent` is `None`, this process or one of
/// its ancestors must run there: hosts often start their hooks in a new session. (A tmux server
/// that was started in the pane does not count, since it has detached from its ancestors.)
pub async fn judge_place(
    info: &ProcessInfo,
    agent: Option<u32>,
    socket: &Path,
    server: Peer,
) -> Identity {
    await_shell(info, server).await;
    judge_with_ancestors(info, agent, socket, server)
}

fn judge_with_ancestors(
    info: &ProcessInfo,
    agent: Option<u32>,
    socket: &Path,
    server: Peer,
) -> Identity {
    let judge = |process| judge_identity(info, process, socket, server);
    let identity = judge(agent);
    let proves = |ancestor| judge(Some(ancestor)) == Identity::Proven;
    if identity == Identity::Foreign && agent.is_none() && ancestors(std::process::id()).any(proves)
    {
        return Identity::Proven;
    }
    identity
}

fn client(pane: &Endpoint, config: &Config) -> Client {
    Client::new(pane.socket(), config.transport())
}
