//! The look that the server takes at a pane's foreground every 300 ms: which
//! agent it knows runs there, and what its screen shows.
//!
//! Here it looks only when there is something to see: a while after the
//! foreground has changed, and whenever it has put something off.

use std::time::Duration;

use super::panes::PaneProcess;
use super::state::State;

/// Between two looks.
pub(super) const TICK: Duration = Duration::from_millis(300);

/// After a program has begun or ended: on average, as the looks have a rhythm of
/// their own.
const NOTICED_AFTER: Duration = Duration::from_millis(200);

/// A new agent's screen is not read before.
const STARTUP: Duration = Duration::from_secs(3);

/// The process of an agent that was released is not seen before.
const RELEASED_FOR: Duration = Duration::from_secs(1);

/// A prompt that stays on the screen is told of again.
const PROMPT_AGAIN: Duration = Duration::from_millis(900);

/// Looks at a foreground that is neither an agent nor the shell until an agent
/// counts as gone, and the time between them.
const MISSES: u8 = 6;
const MISS_AGAIN: Duration = Duration::from_secs(5);

/// What runs in the foreground of a pane.
#[derive(Debug, Clone, Default)]
pub(super) struct Foreground {
    pub(super) shell_pid: Option<u32>,
    pub(super) processes: Vec<PaneProcess>,
    /// The agent that Herdr knows, if it is one.
    pub(super) agent: Option<&'static str>,
    /// What its screen shows.
    pub(super) screen: State,
    /// Another program than the shell.
    pub(super) busy: bool,
    /// Counts the programs, and what they have drawn.
    group: u64,
    drawn: u64,
}

impl Foreground {
    /// A played program begins, or the shell is back.
    pub(super) fn play(&mut self, agent: Option<&'static str>, screen: State) {
        if self.agent != agent {
            self.group += 1;
        }
        (self.agent, self.busy, self.screen) = (agent, agent.is_some(), screen);
        self.drawn += 1;
    }

    /// Real processes, the leader first; `true` if others than before.
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

/// The agent that a process is by the name of its program.
fn agent_of(process: &PaneProcess) -> Option<&'static str> {
    let called = process.argv.first().and_then(|program| program.rsplit('/').next());
    herdr_proto::canonical_label(&process.name)
        .or_else(|| called.and_then(herdr_proto::canonical_label))
}

/// What a look found that the terminal is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sighting {
    /// The process of an agent, before its state.
    Process(&'static str),
    /// A state, of nobody if there is no agent.
    State { agent: Option<&'static str>, state: State },
    /// The process is gone.
    Exit(&'static str),
}

/// What a pane's detector remembers.
#[derive(Debug, Clone, Default)]
pub(super) struct Detector {
    agent: Option<&'static str>,
    /// The state that it told of last, and the drawing from which it read it.
    told: State,
    read: u64,
    /// The foreground that it has looked at.
    group: Option<u64>,
    misses: u8,
    /// Until when a new agent's screen is not read.
    startup: Option<Duration>,
    /// The agent's process was found to be gone, and that was told.
    exiting: bool,
    released: Option<(&'static str, Duration)>,
    /// A full-lifecycle claim holds the pane, so that no screen is read.
    paused: bool,
    next: Option<Duration>,
}

impl Detector {
    /// When it looks next, if there is anything to see.
    pub(super) fn next(&self) -> Option<Duration> {
        self.next
    }

    /// Makes it look at the latest then.
    pub(super) fn look_within(&mut self, now: Duration, time: Duration) {
        let at = now.saturating_add(time);
        self.next = Some(self.next.map_or(at, |next| next.min(at)));
    }

    /// Lets it notice a changed foreground.
    pub(super) fn notice(&mut self, now: Duration) {
        self.look_within(now, NOTICED_AFTER);
    }

    /// Does not wait for a new agent to draw itself.
    pub(super) fn skip_startup(&mut self) {
        self.startup = None;
    }

    /// The agent that it knows of.
    pub(super) fn agent(&self) -> Option<&'static str> {
        self.agent
    }

    /// A known label was released: its process is looked for again, and not found
    /// for a while.
    pub(super) fn release(&mut self, now: Duration, agent: &'static str) {
        self.released = Some((agent, now.saturating_add(RELEASED_FOR)));
        self.forget(now);
    }

    /// A full-lifecycle claim begins or ends.
    pub(super) fn pause(&mut self, now: Duration, paused: bool) {
        match (std::mem::replace(&mut self.paused, paused), paused) {
            (false, true) => self.forget(now),
            (true, false) => self.look_within(now, TICK),
            _ => {}
        }
    }

    /// A claim that is newer than the prompt on the screen has until its next
    /// telling.
    pub(super) fn tell_prompt_again(&mut self, now: Duration) {
        if self.told == State::Blocked && self.agent.is_some() {
            self.look_within(now, PROMPT_AGAIN);
        }
    }

    fn forget(&mut self, now: Duration) {
        let (released, paused) = (self.released, self.paused);
        *self = Self { released, paused, next: Some(now), ..Self::default() };
    }

    /// One look, and what comes of it.
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
            // Told at once, and cleared by the next look.
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

    /// Looks at the process; `true` if it is another agent's, or another one of
    /// the same.
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
