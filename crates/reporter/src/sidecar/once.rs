//! Reports that are made once, and looks.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use herdr_proto::{PaneGet, PaneInfo, ProcessInfo, ProcessInfoGet};
use herdr_socket_transport::{Client, Endpoint, Error, Options, Peer};

use crate::config::Config;
use crate::diagnostic::Diagnostic;
use crate::engine::{await_shell, exchange, judge_identity};
use crate::machine::{Answer, Claim, Identity, Input, Now, PaneCall, PaneMachine, Step};
use crate::process::ancestors;
use crate::receipt::Receipt;

/// What became of a report that was made once.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Reported {
    /// What became of its parts.
    pub receipts: Vec<Receipt>,
    /// What keeps it from showing.
    pub diagnostics: Vec<Diagnostic>,
    /// Everything was delivered and looked at, or never will be.
    pub in_time: bool,
}

/// Reports once, until `until`, and leaves it there. `is_superseded` says
/// whether a process that was started later has reported.
pub async fn report_once(
    pane: &Endpoint,
    claim: Claim,
    config: &Config,
    until: Instant,
    is_superseded: impl Fn() -> bool,
) -> Reported {
    let client = client(pane, config);
    let started = Instant::now();
    let now = || {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Now::new(started.elapsed(), u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
    };
    let left = || until.saturating_duration_since(Instant::now());
    let mut machine = PaneMachine::new(claim);
    let mut reported = Reported::default();
    let mut inputs = vec![Input::Timer];
    loop {
        let mut next = Step::default();
        if is_superseded() {
            inputs.insert(0, Input::Superseded);
        }
        for input in inputs.drain(..) {
            next = machine.step(now(), input);
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
        if let Some(mut request) = next.request {
            request.deadline = request.deadline.min(left());
            match exchange(client.clone(), request.call, request.deadline).await {
                (Ok(Answer::Processes(info)), Some(peer)) => {
                    let verdict = judge_place(&info, None, client.socket(), peer).await;
                    inputs.push(Input::Answered(Ok(Answer::Processes(info))));
                    inputs.push(Input::Identity(verdict));
                }
                (answer, _) => inputs.push(Input::Answered(answer)),
            }
        } else {
            let wake = next.wake.map_or(left(), |wake| wake.saturating_sub(started.elapsed()));
            tokio::time::sleep(wake.min(left())).await;
            inputs.push(Input::Timer);
        }
    }
}

/// What the pane shows.
///
/// # Errors
///
/// If the server is not reached in time, or does not say.
pub async fn shown(pane: &Endpoint, config: &Config, limit: Duration) -> Result<PaneInfo, Error> {
    let client = client(pane, config).with_deadline(limit);
    Ok(client.call(&PaneGet::new(pane.pane().clone())).await?.pane)
}

/// Whether `agent` runs in the pane; `None` if the server does not say whose
/// pane it is.
pub async fn identity(
    pane: &Endpoint,
    config: &Config,
    agent: Option<u32>,
    limit: Duration,
) -> Option<Identity> {
    let call = PaneCall::Processes(ProcessInfoGet::new(pane.pane().clone()));
    let client = client(pane, config);
    match exchange(client.clone(), call, limit).await {
        (Ok(Answer::Processes(info)), Some(peer)) => {
            Some(judge_place(&info, agent, client.socket(), peer).await)
        }
        _ => None,
    }
}

/// Judges whether `agent` runs in a pane. Without one, this process or one that
/// it comes from has to: hosts often start their hooks in a session of their
/// own, while a server of tmux that was born in the pane is nobody's child.
pub async fn judge_place(
    info: &ProcessInfo,
    agent: Option<u32>,
    socket: &Path,
    server: Peer,
) -> Identity {
    await_shell(info, server).await;
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
    let options = Options::default().allow_foreign_socket(config.allow_foreign_socket);
    Client::new(pane.socket(), options)
}
