use std::fmt;

use herdr_proto::{AgentInfo, AgentStatus, PaneInfo, ProcessInfo};
use serde::Serialize;

use crate::control::PaneControl;
use crate::error::{Error, ErrorKind};
use crate::target::Target;

/// Whether something runs in a pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Life {
    /// The pane's program runs.
    Live,
    /// The pane's program does not run, or the pane is gone.
    Dead,
    /// There is no evidence.
    Unknown,
}

/// The evidence for a pane's [`Life`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Evidence {
    /// Live: an agent is on record, and a program other than the shell is in the foreground.
    Agent,
    /// Live: no agent is on record, and a program is in the foreground.
    Program,
    /// Live: no agent is on record, and the shell waits for input.
    Shell,
    /// Live: the server is starting the agent.
    Launching,
    /// Dead: no pane has this id or this terminal.
    PaneGone,
    /// Dead: an agent is on record, and only the shell is in the foreground. An agent that is
    /// stopped with Ctrl-Z or runs elsewhere looks the same.
    OnlyShell,
    /// Unknown: the server reports no process of the pane.
    NoProcess,
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Agent => "an agent is on record, and its program runs",
            Self::Program => "a program runs in the foreground",
            Self::Shell => "the shell waits",
            Self::Launching => "the server starts the agent",
            Self::PaneGone => "the pane does not exist",
            Self::OnlyShell => "an agent is on record, and only the shell runs",
            Self::NoProcess => "the server shows no process of the pane",
        })
    }
}

/// What is known about a pane.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Probe {
    /// Whether something runs in it.
    pub life: Life,
    /// The evidence for that.
    pub evidence: Evidence,
    /// The pane, with its present id and status; absent if it is gone.
    pub pane: Option<PaneInfo>,
    /// The agent, with `launch_pending`, `interactive_ready` and
    /// `screen_detection_skipped`; absent if none is on record.
    pub agent: Option<AgentInfo>,
    /// The processes; absent if the server does not tell.
    pub processes: Option<ProcessInfo>,
    target: Target,
}

impl Probe {
    /// The pane with its terminal, which is the better target for further calls.
    pub fn target(&self) -> &Target {
        &self.target
    }
}

/// The status of an agent, for a caller that waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Signal {
    /// The agent works.
    Working,
    /// The agent waits for a person's answer.
    Blocked,
    /// The agent waits for work.
    Idle,
    /// There is no signal. Do not take this for idle.
    Unreadable(Missing),
}

/// Why there is no signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Missing {
    /// The server says `unknown`, or a word that this crate does not know.
    Unknown,
    /// The server says `done`: the agent became idle and no person has seen it. This does not
    /// tell what happened after that.
    Done,
    /// No agent is on record.
    NoAgent,
    /// There is a status and no process, see [`Evidence::OnlyShell`] and
    /// [`Evidence::NoProcess`].
    NoProcess,
    /// The agent is still starting.
    Launching,
    /// The pane does not exist.
    PaneGone,
}

/// The status of an agent at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Tick {
    /// The signal.
    pub signal: Signal,
    /// The server's word for the status; absent if there is no agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The sequence number of the last change of the status, over all panes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_change_seq: Option<u64>,
    /// The number of turns that have ended, if the server counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_seq: Option<u64>,
}

impl PaneControl {
    /// Finds out whether something runs in a pane.
    ///
    /// Before a pane counts as gone, it is looked for by its terminal, if the target knows
    /// that, because it may have moved.
    ///
    /// # Errors
    ///
    /// A pane that is gone is not an error. If the server does not answer
    /// ([`ErrorKind::NoServer`]), nothing is known.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn probe(&self, target: &Target) -> Result<Probe, Error> {
        // A pane may move between the requests, so they are repeated once.
        for _ in 0..2 {
            match self.look_at(target).await {
                Err(error) if error.kind() == ErrorKind::PaneGone => {}
                other => return other,
            }
        }
        Ok(Probe {
            life: Life::Dead,
            evidence: Evidence::PaneGone,
            pane: None,
            agent: None,
            processes: None,
            target: target.clone(),
        })
    }

    async fn look_at(&self, target: &Target) -> Result<Probe, Error> {
        let found = self.find(target).await?;
        let agent = match found.info.agent {
            Some(_) => self.agent(&found.id()).await?,
            None => None,
        };
        let processes = self.processes(&found.id()).await?;
        let evidence = Evidence::of(agent.as_ref(), processes.as_ref());
        Ok(Probe {
            life: evidence.life(),
            evidence,
            pane: Some(found.info),
            agent,
            processes,
            target: found.target,
        })
    }

    /// Reads an agent's status.
    ///
    /// # Errors
    ///
    /// As [`probe`](Self::probe).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn tick(&self, target: &Target) -> Result<Tick, Error> {
        Ok(tick(&self.probe(target).await?))
    }
}

impl Evidence {
    /// The evidence for an existing pane: the record of its agent, if there is one, and its
    /// processes.
    pub fn of(agent: Option<&AgentInfo>, processes: Option<&ProcessInfo>) -> Self {
        if agent.is_some_and(|agent| agent.launch_pending == Some(true)) {
            return Self::Launching;
        }
        match (agent.is_some(), processes.and_then(shell_in_front)) {
            (_, None) => Self::NoProcess,
            (true, Some(true)) => Self::OnlyShell,
            (true, Some(false)) => Self::Agent,
            (false, Some(true)) => Self::Shell,
            (false, Some(false)) => Self::Program,
        }
    }

    /// What this evidence means.
    pub fn life(self) -> Life {
        match self {
            Self::Agent | Self::Program | Self::Shell | Self::Launching => Life::Live,
            Self::PaneGone | Self::OnlyShell => Life::Dead,
            Self::NoProcess => Life::Unknown,
        }
    }
}

/// The names of shells' processes.
const SHELLS: [&str; 14] = [
    "sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "ash", "csh", "tcsh", "nu", "xonsh",
    "elvish", "pwsh",
];

/// Whether only a shell is in the foreground; `None` if no process is known. An agent that
/// replaced the shell with `exec` is not a shell.
pub(crate) fn shell_in_front(processes: &ProcessInfo) -> Option<bool> {
    let front = &processes.foreground_processes;
    if front.is_empty() {
        return processes
            .shell_pid
            .and(processes.foreground_process_group_id)
            .map(|group| Some(group) == processes.shell_pid);
    }
    let is_shell = |name: &str| SHELLS.contains(&name.trim_start_matches('-'));
    Some(
        front
            .iter()
            .all(|process| Some(process.pid) == processes.shell_pid && is_shell(&process.name)),
    )
}

fn tick(probe: &Probe) -> Tick {
    let status = probe.agent.as_ref().map(|agent| &agent.agent_status);
    let missing = |why| Signal::Unreadable(why);
    let signal = match (probe.evidence, status) {
        (Evidence::PaneGone, _) => missing(Missing::PaneGone),
        (Evidence::Launching, _) => missing(Missing::Launching),
        (_, None) => missing(Missing::NoAgent),
        (Evidence::OnlyShell | Evidence::NoProcess, _) => missing(Missing::NoProcess),
        (_, Some(status)) if *status == AgentStatus::WORKING => Signal::Working,
        (_, Some(status)) if *status == AgentStatus::BLOCKED => Signal::Blocked,
        (_, Some(status)) if *status == AgentStatus::IDLE => Signal::Idle,
        (_, Some(status)) if *status == AgentStatus::DONE => missing(Missing::Done),
        (_, Some(_)) => missing(Missing::Unknown),
    };
    Tick {
        signal,
        status: status.map(|status| status.as_str().to_owned()),
        state_change_seq: probe.agent.as_ref().map(|agent| agent.state_change_seq),
        completion_seq: probe.agent.as_ref().and_then(|agent| agent.completion_seq),
    }
}
