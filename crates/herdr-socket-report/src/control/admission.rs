//! Which clients of a control socket may report. A supervisor accepts processes that belong to
//! the process it watches and mean its pane. Any other owner accepts every process of this user
//! that means its pane.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use herdr_proto::AgentLabel;
use herdr_reporter::sidecar::{
    LeaseFile, Process, ancestors, descends, lives, session_of, tells_of_processes,
};
use herdr_socket_transport::Endpoint;

use super::hello::{Answer, Hello, Refusal};
use crate::settings::Settings;
use crate::text::shown;

/// The address through which a client connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Address {
    /// The address beside the lease, which every process in the pane can find.
    Pane,
    /// The supervisor's own address, which only the watched process and its children are told.
    Own,
}

/// Decides which clients may report. Clones share their state.
#[derive(Clone)]
pub(crate) struct Admission {
    settings: Arc<Settings>,
    lease: LeaseFile,
    of: Option<u32>,
    release_asked: Arc<AtomicBool>,
}

/// The job-control state of a process. A greater one is nearer to the person at the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum JobState {
    /// The process is stopped.
    Stopped,
    /// The process runs, and another job has the terminal.
    Background,
    /// The process has the terminal, or there is no terminal.
    Foreground,
}

impl JobState {
    pub(crate) fn of(process: u32) -> Self {
        let Some(seen) = Process::of(process) else { return Self::Foreground };
        match (seen.is_stopped(), seen.foreground) {
            (true, _) => Self::Stopped,
            (false, Some(_)) if !seen.is_in_front() => Self::Background,
            (false, _) => Self::Foreground,
        }
    }

    /// The state of a process that asks for the pane. It is in the foreground if it or one of
    /// its ancestors below the shell is: a reporter may have left the foreground process group
    /// to avoid the signals of its terminal. The shell itself does not count, since it comes to
    /// the foreground between two jobs. A process without a terminal is not in the foreground.
    fn of_applicant(process: u32, terminal: Option<i32>) -> Self {
        let Some(seen) = Process::of(process) else { return Self::Stopped };
        let at_it = |seen: &Process| seen.terminal.is_some() && seen.terminal == terminal;
        let in_front = |pid: u32| {
            Process::of(pid).is_some_and(|it| at_it(&it) && it.is_in_front() && !it.is_stopped())
        };
        let mut job = ancestors(process).take_while(|pid| *pid != seen.session);
        if seen.is_stopped() {
            Self::Stopped
        } else if in_front(process) || job.any(in_front) {
            Self::Foreground
        } else {
            Self::Background
        }
    }
}

impl Admission {
    /// For an owner that reports for no other process.
    pub(crate) fn of_owner(settings: &Settings, lease: &LeaseFile) -> Self {
        Self {
            settings: Arc::new(settings.clone()),
            lease: lease.clone(),
            of: None,
            release_asked: Arc::default(),
        }
    }

    pub(crate) fn of_supervisor(settings: &Settings, lease: &LeaseFile, of: u32) -> Self {
        Self { of: Some(of), ..Self::of_owner(settings, lease) }
    }

    /// Whether a process in front of the watched one has asked for the pane since the last
    /// call.
    pub(crate) fn was_asked_to_release(&self) -> bool {
        self.release_asked.swap(false, Ordering::Relaxed)
    }

    /// Whether a client may report at all, before its first line is read.
    pub(super) fn may_report(&self, at: Address, peer: Option<u32>) -> bool {
        self.of.is_none_or(|of| lives(of) && belongs_to(at, peer, of))
    }

    /// The answer to the first line of a client.
    pub(super) fn answer(&self, at: Address, peer: Option<u32>, hello: &Hello) -> Answer {
        let refused = |because, detail: String| Answer::Refused { because, detail };
        if self.names_another_pane(hello) {
            let detail = "the reporter at this address has another pane".to_owned();
            return refused(Refusal::OtherPane, detail);
        }
        if let Some(of) = self.of {
            if !lives(of) {
                return refused(Refusal::Late, format!("late: process {of} has ended"));
            }
            // Children of the watched process do not get the pane.
            let speaker = hello.seeks.or(peer);
            if speaker.is_some_and(|speaker| has_precedence(speaker, of, at, hello)) {
                self.release_asked.store(true, Ordering::Relaxed);
                let detail = format!("process {of} lets the pane go");
                return refused(Refusal::LetGo, detail);
            }
            if !belongs_to(at, peer, of) {
                return refused(
                    Refusal::Foreign,
                    format!("the pane's reporter hears only what belongs to process {of}"),
                );
            }
        }
        if let Some(detail) = self.names_another_agent(hello) {
            return refused(Refusal::OtherAgent, detail);
        }
        if hello.seeks.is_some() {
            let detail = "another process reports for this pane".to_owned();
            return refused(Refusal::Foreign, detail);
        }
        Answer::Welcome { of: self.of }
    }

    fn names_another_pane(&self, hello: &Hello) -> bool {
        let (Some(socket), Some(pane)) = (&hello.socket, &hello.pane) else { return false };
        let named = Endpoint::new(socket.clone(), pane.clone());
        LeaseFile::of_pane(&self.settings.config, &named).path().file_name()
            != self.lease.path().file_name()
    }

    /// What is wrong with the agent or the source that a client names.
    fn names_another_agent(&self, hello: &Hello) -> Option<String> {
        let ours = AgentLabel::normalize(&self.settings.agent)?;
        let no_effect = |what: &str, named: &str, ours: &str| {
            let (named, ours) = (shown(named), shown(ours));
            format!("no effect: the pane's reporter speaks for {what} {ours}, not {named}")
        };
        let same = |label: AgentLabel| label.as_str().eq_ignore_ascii_case(ours.as_str());
        if let Some(agent) = &hello.agent
            && !AgentLabel::normalize(agent).is_some_and(same)
        {
            return Some(no_effect("agent", agent, ours.as_str()));
        }
        let source = self.settings.source(&ours);
        let named = hello.source.as_ref().filter(|named| **named != source.as_str())?;
        Some(no_effect("source", named, source.as_str()))
    }
}

/// Whether the speaker is another job than the watched process and nearer to the terminal.
fn has_precedence(speaker: u32, of: u32, at: Address, hello: &Hello) -> bool {
    if descends(speaker, of) || (at == Address::Own && hello.seeks.is_none()) {
        return false;
    }
    // A client that only reports may still report to a watched process that runs.
    let ours = JobState::of(of);
    let releases_below = match hello.seeks {
        Some(_) => JobState::Foreground,
        None => JobState::Background,
    };
    let terminal = Process::of(of).and_then(|process| process.terminal);
    ours < releases_below && JobState::of_applicant(speaker, terminal) > ours
}

/// Whether a peer is in the session of the watched process or descends from it. Where the
/// system does not tell, the address decides, because only the watched process was given the
/// supervisor's own.
fn belongs_to(at: Address, peer: Option<u32>, of: u32) -> bool {
    let by_address = at == Address::Own;
    let Some(peer) = peer else { return by_address };
    if share_session(peer, of) {
        return true;
    }
    if !tells_of_processes() || !shares_pid_namespace(peer) {
        return by_address;
    }
    descends(peer, of)
}

/// Whether two processes are in the same session. In a container, sessions whose leader is
/// outside all have the number 0; the terminal tells those apart.
fn share_session(one: u32, other: u32) -> bool {
    let terminal = |pid: u32| Process::of(pid).and_then(|process| process.terminal);
    match (session_of(one), session_of(other)) {
        (Some(0), Some(0)) => terminal(one) == terminal(other),
        (one, other) => one.is_some() && one == other,
    }
}

/// Whether a peer is in this process's pid namespace, so that its pid means the same here.
fn shares_pid_namespace(peer: u32) -> bool {
    let namespace = |process: &str| std::fs::read_link(format!("/proc/{process}/ns/pid")).ok();
    namespace(&peer.to_string()) == namespace("self")
}
