//! The detector, which examines the foreground of a pane every 300 ms: which known agent runs
//! there, and what its screen shows.
//!
//! The model's detector only looks when there may be something new: some time after the
//! foreground has changed, and when it has postponed something.

use std::time::Duration;

use super::panes::PaneProcess;
use super::state::State;

/// The interval between two looks.
pub(super) const TICK: Duration = Duration::from_millis(300);

/// How long it takes on average until a program's beginning or end is noticed. The looks do not
/// start with the program.
const NOTICED_AFTER: Duration = Duration::from_millis(200);

/// How long the screen of a new agent is not read.
const STARTUP: Duration = Duration::from_secs(3);

/// How long the process of a released agent is not detected again.
const RELEASED_FOR: Duration = Duration::from_secs(1);

/// The interval at which a prompt that stays on the screen is reported again.
const PROMPT_AGAIN: Duration = Duration::from_millis(900);

/// How many looks must find neither an agent nor the shell in the foreground until an agent
/// counts as gone, and the interval of these looks.
/// counts as gone, and the time between them.
const MISSES: u8 = 6;
const MISS_AGAIN: Duration = Duration::from_secs(5);

/// The foreground of a pane.
#[derive(Debug, Clone, Default)]
pub(super) struct Foreground {
    pub(super) shell_pid: Option<u32>,
    pub(super) processes: Vec<PaneProcess>,
    /// The agent, if it is one that Herdr knows.
    pub(super) agent: Option<&'static str>,
    /// The state that its screen shows.
    pub(super) screen: State,
    /// Whether a program other than the shell runs.
    pub(super) busy: bool,
    /// Counts the programs and their redraws.
    group: u64,
    drawn: u64,
}

impl Foreground {
    /// Starts a simulated program, or returns to the shell.
    pub(super) fn play(&mut self, agent: Option<&'static str>, screen: State) {
        if self.agent != agent {
            self.group += 1;
        }
        (self.agent, self.busy, self.screen) = (agent, agent.is_some(), screen);
        self.drawn += 1;
    }

    /// Sets the real processes, the leader first. Returns whether they have changed.
    pub(super) fn run(&mut self, shell_pid: Option<u32>, processes: Vec<PaneProcess>) -> bool {
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

/// The agent that a process is, by the name of its program.
fn agent_of(process: &PaneProcess) -> Option<&'static str> {
    let called = process.argv.first().and_then(|program| program.rsplit('/').next());
    herdr_proto::canonical_label(&process.name)
        .or_else(|| called.and_then(herdr_proto::canonical_label))
}

/// What the detector tells the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sighting {
    /// The process of an agent has appeared; its state follows later.
    Process(&'static str),
    /// The state of an agent; without an agent if none is detected.
    State { agent: Option<&'static str>, state: State },
    /// The process of the agent has ended.
    Exit(&'static str),
}

/// The memory of a pane's detector.
#[derive(Debug, Clone, Default)]
pub(super) struct Detector {
    agent: Option<&'static str>,
    /// The state that was last reported, and the redraw from which it was read.
    told: State,
    read: u64,
    /// The foreground of the last look.
    group: Option<u64>,
    misses: u8,
    /// Until when the screen of a new agent is not read.
    startup: Option<Duration>,
    /// Whether the end of the agent's process was noticed and reported.
    exiting: bool,
    released: Option<(&'static str, Duration)>,
    /// Whether screens are not read, because a full-lifecycle claim holds the pane.
    paused: bool,
    next: Option<Duration>,
}

impl Detector {
    /// The time of the next look, if there may be something new.
    pub(super) fn next(&self) -> Option<Duration> {
        self.next
    }

    /// Makes the next look happen within this time.
    pub(super) fn look_within(&mut self, now: Duration, time: Duration) {
        let at = now.saturating_add(time);
        self.next = Some(self.next.map_or(at, |next| next.min(at)));
    }

    /// Notices a changed foreground after the usual time.
    pub(super) fn notice(&mut self, now: Duration) {
        self.look_within(now, NOTICED_AFTER);
    }

    /// Reads the screen of a new agent at once.
    pub(super) fn skip_startup(&mut self) {
        self.startup = None;
    }

    /// The detected agent.
    pub(super) fn agent(&self) -> Option<&'static str> {
        self.agent
    }

    /// A known label was released. Its process is detected again, but not at once.
    pub(super) fn release(&mut self, now: Duration, agent: &'static str) {
        self.released = Some((agent, now.saturating_add(RELEASED_FOR)));
        self.forget(now);
    }

    /// A full-lifecycle claim has begun or ended.
    pub(super) fn pause(&mut self, now: Duration, paused: bool) {
        match (std::mem::replace(&mut self.paused, paused), paused) {
            (false, true) => self.forget(now),
            (true, false) => self.look_within(now, TICK),
            _ => {}
        }
    }

    /// A claim was made after the prompt on the screen. It holds until the prompt is reported
    /// again.
    pub(super) fn tell_prompt_again(&mut self, now: Duration) {
        if self.told == State::Blocked && self.agent.is_some() {
            self.look_within(now, PROMPT_AGAIN);
        }
    }

    fn forget(&mut self, now: Duration) {
        let (released, paused) = (self.released, self.paused);
        *self = Self { released, paused, next: Some(now), ..Self::default() };
    }

    /// One look, and what it finds.
    pub(super) fn look(&mut self, now: Duration, pane: &Foreground) -> Vec<Sighting> {
        self.next = None;
        let mut seen = Vec::new();
        if self.released.take_if(|(_, until)| *until <= now).is_some() {
            self.group = None;
        }
        let anew = self.probe(now, pane);
        if anew {
            self.startup = self.agent.map(|_| now.saturating_add(STARTUP));
            if let Some(agent) = self.agent {
                self.told = State::Unknown;
                seen.push(Sighting::Process(agent));
            }
        }
        if self.exiting {
            // This is reported at once, and cleared by the next look.
            seen.extend(self.agent.map(Sighting::Exit));
            (self.told, self.startup) = (State::Idle, None);
            self.look_within(now, TICK);
        } else if !self.paused && self.is_started(now) {
            self.read_screen(anew, pane, &mut seen);
        }
        if let Some((_, until)) = self.released {
            self.look_within(until, Duration::ZERO);
        }
        seen
    }

    /// Examines the process. Returns whether another agent runs, or another process of the same
    /// agent.
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
                    self.look_within(now, MISS_AGAIN);
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

    fn read_screen(&mut self, anew: bool, pane: &Foreground, seen: &mut Vec<Sighting>) {
        let state = self.agent.map_or(State::Unknown, |_| pane.screen);
        let drawn = std::mem::replace(&mut self.read, pane.drawn) != pane.drawn;
        let prompt = state == State::Blocked && self.told == State::Blocked;
        let idle = self.told == State::Idle && self.agent.is_some() && !anew && !drawn;
        if !idle && (state != self.told || anew || prompt) {
            self.told = state;
            seen.push(Sighting::State { agent: self.agent, state });
        }
    }
}
