//! The detector, which looks at a pane's foreground every 300 ms on the real server:
//! which known agent runs there, and what its screen shows.
//!
//! Here it looks only when the result can differ: some time after the foreground has
//! changed, and when a delay of its own is over.

use std::time::Duration;

use super::panes::PaneProcess;
use super::state::State;

/// The time between two looks.
pub(super) const TICK: Duration = Duration::from_millis(300);

/// How long the detector needs on average to notice that a program has begun or
/// ended.
const NOTICED_AFTER: Duration = Duration::from_millis(200);

/// How long the screen of a new agent is not read.
const STARTUP: Duration = Duration::from_secs(3);

/// How long the process of a released agent is ignored.
const RELEASE_PAUSE: Duration = Duration::from_secs(1);

/// After this time a prompt that is still on the screen is reported again.
const PROMPT_REPEAT: Duration = Duration::from_millis(900);

/// After so many looks at another program than the shell, a missing agent counts as
/// gone.
const MISSES: u8 = 6;

/// The time between two such looks.
const MISS_INTERVAL: Duration = Duration::from_secs(5);

/// What runs in the foreground of a pane.
#[derive(Debug, Clone, Default)]
pub(super) struct Foreground {
    pub(super) shell_pid: Option<u32>,
    pub(super) processes: Vec<PaneProcess>,
    /// The known agent among the processes.
    pub(super) agent: Option<&'static str>,
    /// The state that the agent's screen shows.
    pub(super) screen: State,
    /// Whether another program than the shell runs.
    pub(super) busy: bool,
    /// Counts the changes of the program in the foreground.
    group: u64,
    /// Counts the changes of the screen.
    drawn: u64,
}

impl Foreground {
    /// Starts a simulated program, or brings the shell back.
    pub(super) fn simulate(&mut self, agent: Option<&'static str>, screen: State) {
        if self.agent != agent {
            self.group += 1;
        }
        (self.agent, self.busy, self.screen) = (agent, agent.is_some(), screen);
        self.drawn += 1;
    }

    /// Sets the real processes, the leader first; `true` if the leader has changed.
    pub(super) fn set_processes(
        &mut self,
        shell_pid: Option<u32>,
        processes: Vec<PaneProcess>,
    ) -> bool {
        let leader = |processes: &[PaneProcess]| {
            processes.first().map(|process| (process.pid, process.name.clone()))
        };
        let changed = leader(&processes) != leader(&self.processes);
        self.shell_pid = shell_pid;
        self.busy =
            !processes.is_empty() && processes.iter().all(|process| Some(process.pid) != shell_pid);
        self.agent = processes.iter().find_map(agent_of);
        self.processes = processes;
        if changed {
            self.group += 1;
            self.screen = State::Idle;
        }
        changed
    }
}

/// The known agent of a process, by the name of its program.
fn agent_of(process: &PaneProcess) -> Option<&'static str> {
    let called = process.argv.first().and_then(|program| program.rsplit('/').next());
    herdr_proto::canonical_label(&process.name)
        .or_else(|| called.and_then(herdr_proto::canonical_label))
}

/// What the detector reports to the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detection {
    /// A new process of an agent, whose state is not known yet.
    Process(&'static str),
    /// The state on the screen; without an agent, the row is to be cleared.
    State { agent: Option<&'static str>, state: State },
    /// The process of an agent is gone.
    Exit(&'static str),
}

/// What a pane's detector remembers.
#[derive(Debug, Clone, Default)]
pub(super) struct Detector {
    agent: Option<&'static str>,
    /// The state that was reported last.
    reported: State,
    /// The count of screen changes at the last reading.
    drawn: u64,
    /// The count of program changes at the last look.
    group: Option<u64>,
    misses: u8,
    /// Until when a new agent's screen is not read.
    startup: Option<Duration>,
    /// The end of the agent's process was reported, and its row is still to be cleared.
    exiting: bool,
    released: Option<(&'static str, Duration)>,
    /// A full-lifecycle claim holds the pane, so the screen is not read.
    paused: bool,
    next: Option<Duration>,
}

impl Detector {
    /// When the next look is due, if any.
    pub(super) fn next(&self) -> Option<Duration> {
        self.next
    }

    /// Schedules a look, unless an earlier one is due.
    pub(super) fn look_within(&mut self, now: Duration, time: Duration) {
        let at = now.saturating_add(time);
        self.next = Some(self.next.map_or(at, |next| next.min(at)));
    }

    /// Schedules the look that notices a changed foreground.
    pub(super) fn notice(&mut self, now: Duration) {
        self.look_within(now, NOTICED_AFTER);
    }

    /// Ends the delay before a new agent's screen is read.
    pub(super) fn skip_startup(&mut self) {
        self.startup = None;
    }

    /// The agent that the detector has seen.
    pub(super) fn agent(&self) -> Option<&'static str> {
        self.agent
    }

    /// Starts anew after a known label was released. The agent's process is ignored
    /// for [`RELEASE_PAUSE`].
    pub(super) fn release(&mut self, now: Duration, agent: &'static str) {
        self.released = Some((agent, now.saturating_add(RELEASE_PAUSE)));
        self.forget(now);
    }

    /// Stops or resumes reading the screen, as a full-lifecycle claim begins or ends.
    pub(super) fn pause(&mut self, now: Duration, paused: bool) {
        match (std::mem::replace(&mut self.paused, paused), paused) {
            (false, true) => self.forget(now),
            (true, false) => self.look_within(now, TICK),
            _ => {}
        }
    }

    /// Schedules the repeated report of a prompt on the screen, which overrides a
    /// claim that is newer than its first report.
    pub(super) fn schedule_prompt_repeat(&mut self, now: Duration) {
        if self.reported == State::Blocked && self.agent.is_some() {
            self.look_within(now, PROMPT_REPEAT);
        }
    }

    fn forget(&mut self, now: Duration) {
        let (released, paused) = (self.released, self.paused);
        *self = Self { released, paused, next: Some(now), ..Self::default() };
    }

    /// Takes one look and returns what it has found.
    pub(super) fn look(&mut self, now: Duration, pane: &Foreground) -> Vec<Detection> {
        self.next = None;
        let mut seen = Vec::new();
        if self.released.take_if(|(_, until)| *until <= now).is_some() {
            self.group = None;
        }
        let anew = self.probe(now, pane);
        if anew {
            self.startup = self.agent.map(|_| now.saturating_add(STARTUP));
            if let Some(agent) = self.agent {
                self.reported = State::Unknown;
                seen.push(Detection::Process(agent));
            }
        }
        if self.exiting {
            // The end is reported at once, and the next look clears the row.
            seen.extend(self.agent.map(Detection::Exit));
            (self.reported, self.startup) = (State::Idle, None);
            self.look_within(now, TICK);
        } else if !self.paused && self.is_started(now) {
            self.read_screen(anew, pane, &mut seen);
        }
        if let Some((_, until)) = self.released {
            self.look_within(until, Duration::ZERO);
        }
        seen
    }

    /// Looks at the process; `true` if the agent has changed or has a new process.
    fn probe(&mut self, now: Duration, pane: &Foreground) -> bool {
        let changed = self.group != Some(pane.group);
        if !changed && !self.exiting && self.misses == 0 {
            return false;
        }
        self.group = Some(pane.group);
        let mut found = pane.agent;
        match self.released {
            Some((agent, _)) if found == Some(agent) => found = None,
            _ => self.released = None,
        }
        if std::mem::take(&mut self.exiting) && (found.is_none() || found == self.agent) {
            self.agent = found;
            return true;
        }
        match (self.agent, found) {
            (before, Some(found)) => {
                self.misses = 0;
                self.agent = Some(found);
                before != Some(found)
            }
            (None, None) => false,
            (Some(_), None) if !pane.busy => {
                self.exiting = true;
                false
            }
            (Some(_), None) => {
                self.misses += 1;
                if self.misses < MISSES {
                    self.look_within(now, MISS_INTERVAL);
                    return false;
                }
                (self.agent, self.misses) = (None, 0);
                true
            }
        }
    }

    fn is_started(&mut self, now: Duration) -> bool {
        match self.startup {
            None => true,
            Some(until) if now < until.saturating_add(TICK) => {
                self.look_within(until, TICK);
                false
            }
            Some(_) => {
                self.startup = None;
                true
            }
        }
    }

    fn read_screen(&mut self, anew: bool, pane: &Foreground, seen: &mut Vec<Detection>) {
        let state = self.agent.map_or(State::Unknown, |_| pane.screen);
        let drawn = std::mem::replace(&mut self.drawn, pane.drawn) != pane.drawn;
        let prompt = state == State::Blocked && self.reported == State::Blocked;
        let idle = self.reported == State::Idle && self.agent.is_some() && !anew && !drawn;
        if !idle && (state != self.reported || anew || prompt) {
            self.reported = state;
            seen.push(Detection::State { agent: self.agent, state });
        }
    }
}
