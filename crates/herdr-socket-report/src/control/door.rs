//! Which clients are heard. A supervisor hears processes that belong to its own
//! process and mean its pane; any other owner hears every process of this user
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

/// Which of its addresses a client came by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Address {
    /// The one beside the lease, which everybody in the pane finds.
    Pane,
    /// A supervisor's own, which its process and its children are told.
    Own,
}

/// Decides which clients are heard. Clones share what they know.
#[derive(Clone)]
pub(crate) struct Door {
    settings: Arc<Settings>,
    lease: LeaseFile,
    of: Option<u32>,
    asked: Arc<AtomicBool>,
}

/// How near a process is to whoever sits at the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// It does not run.
    Stopped,
    /// It runs, and another job has the terminal.
    Behind,
    /// It has the terminal, or there is no terminal.
    InFront,
}

impl Standing {
    pub(crate) fn of(process: u32) -> Self {
        let Some(seen) = Process::of(process) else { return Self::InFront };
        match (seen.is_stopped(), seen.foreground) {
            (true, _) => Self::Stopped,
            (false, Some(_)) if !seen.is_in_front() => Self::Behind,
            (false, _) => Self::InFront,
        }
    }

    /// How one stands that wants the pane: with those that it comes from, since a
    /// reporter may have moved out of the way of its terminal's signals, but not
    /// with the shell, which comes to the front between two jobs. Without a
    /// terminal nothing says that it is in front.
    fn of_seeker(process: u32, terminal: Option<i32>) -> Self {
        let Some(seen) = Process::of(process) else { return Self::Stopped };
        let at_it = |seen: &Process| seen.terminal.is_some() && seen.terminal == terminal;
        let in_front = |pid: u32| {
            Process::of(pid).is_some_and(|it| at_it(&it) && it.is_in_front() && !it.is_stopped())
        };
        let mut job = ancestors(process).take_while(|pid| *pid != seen.session);
        if seen.is_stopped() {
            Self::Stopped
        } else if in_front(process) || job.any(in_front) {
            Self::InFront
        } else {
            Self::Behind
        }
    }
}

impl Door {
    /// The door of who reports for nobody but himself.
    pub(crate) fn open(settings: &Settings, lease: &LeaseFile) -> Self {
        Self {
            settings: Arc::new(settings.clone()),
            lease: lease.clone(),
            of: None,
            asked: Arc::default(),
        }
    }

    pub(crate) fn of_supervisor(settings: &Settings, lease: &LeaseFile, of: u32) -> Self {
        Self { of: Some(of), ..Self::open(settings, lease) }
    }

    /// Whether somebody in front of the supervised process has asked for the
    /// pane since this was asked last.
    pub(crate) fn was_asked(&self) -> bool {
        self.asked.swap(false, Ordering::Relaxed)
    }

    /// Whether a client may be heard, before it has said anything.
    pub(super) fn expects(&self, at: Address, peer: Option<u32>) -> bool {
        self.of.is_none_or(|of| lives(of) && belongs(at, peer, of))
    }

    /// The answer to a client, by who it is and what it says.
    pub(super) fn answer(&self, at: Address, peer: Option<u32>, hello: &Hello) -> Answer {
        let refused = |because, detail: String| Answer::Refused { because, detail };
        if self.means_another_pane(hello) {
            let detail = "the reporter at this address has another pane".to_owned();
            return refused(Refusal::OtherPane, detail);
        }
        if let Some(of) = self.of {
            if !lives(of) {
                return refused(Refusal::Late, format!("late: process {of} has ended"));
            }
            // Its own children ask in vain.
            let speaker = hello.seeks.or(peer);
            if speaker.is_some_and(|speaker| is_before(speaker, of, at, hello)) {
                self.asked.store(true, Ordering::Relaxed);
                let detail = format!("process {of} lets the pane go");
                return refused(Refusal::LetGo, detail);
            }
            if !belongs(at, peer, of) {
                return refused(
                    Refusal::Foreign,
                    format!("the pane's reporter hears only what belongs to process {of}"),
                );
            }
        }
        if let Some(detail) = self.speaks_for_another(hello) {
            return refused(Refusal::OtherAgent, detail);
        }
        if hello.seeks.is_some() {
            let detail = "another process reports for this pane".to_owned();
            return refused(Refusal::Foreign, detail);
        }
        Answer::Welcome { of: self.of }
    }

    fn means_another_pane(&self, hello: &Hello) -> bool {
        let (Some(socket), Some(pane)) = (&hello.socket, &hello.pane) else { return false };
        let meant = Endpoint::new(socket.clone(), pane.clone());
        LeaseFile::of_pane(&self.settings.config, &meant).path().file_name()
            != self.lease.path().file_name()
    }

    /// What is wrong with the agent or the source that a client names.
    fn speaks_for_another(&self, hello: &Hello) -> Option<String> {
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

/// Whether who speaks is a job of its own that is nearer to the terminal than
/// the supervised process.
fn is_before(speaker: u32, of: u32, at: Address, hello: &Hello) -> bool {
    if descends(speaker, of) || (at == Address::Own && hello.seeks.is_none()) {
        return false;
    }
    // A client that only reports may report to a process that runs.
    let ours = Standing::of(of);
    let lets_go_below = match hello.seeks {
        Some(_) => Standing::InFront,
        None => Standing::Behind,
    };
    let terminal = Process::of(of).and_then(|process| process.terminal);
    ours < lets_go_below && Standing::of_seeker(speaker, terminal) > ours
}

/// Whether a peer belongs to the supervised process: it is in its session or
/// comes from it. Where nothing tells, the supervisor's own address does, which
/// only that process was given.
fn belongs(at: Address, peer: Option<u32>, of: u32) -> bool {
    let by_address = at == Address::Own;
    let Some(peer) = peer else { return by_address };
    if are_in_one_session(peer, of) {
        return true;
    }
    if !tells_of_processes() || !shares_our_numbers(peer) {
        return by_address;
    }
    descends(peer, of)
}

/// Whether two processes are in the same session. Those whose leader is outside
/// of a container all have the number 0 in it; their terminal tells them apart.
fn are_in_one_session(one: u32, other: u32) -> bool {
    let terminal = |pid: u32| Process::of(pid).and_then(|process| process.terminal);
    match (session_of(one), session_of(other)) {
        (Some(0), Some(0)) => terminal(one) == terminal(other),
        (one, other) => one.is_some() && one == other,
    }
}

/// Whether a process counts processes as we do, and is not in a container.
fn shares_our_numbers(peer: u32) -> bool {
    let namespace = |process: &str| std::fs::read_link(format!("/proc/{process}/ns/pid")).ok();
    namespace(&peer.to_string()) == namespace("self")
}
