//! Decides what a push does next. It has no clock and no socket: it takes the time and what was
//! seen, and returns one step.

use std::time::Duration;

use super::outcome::{Outcome, Why};
use crate::profile::{BoxState, Look, Profile, Scene};
use crate::transcript;

/// The pause between typing and Enter. Programs take an Enter that arrives with a paste as a
/// part of it.
const PAUSE: Duration = Duration::from_millis(300);
/// The interval between two looks.
const LOOK: Duration = Duration::from_millis(100);
/// How long a screen without a box may be one that is being redrawn.
const REDRAW: Duration = Duration::from_millis(600);
/// How long the box may take to show the text, and how much more for each 1 000 characters.
const APPEAR: Duration = Duration::from_secs(3);
const APPEAR_PER_1000: Duration = Duration::from_millis(200);
/// How long the text stays in the box before the Enter counts as eaten.
const EATEN: Duration = Duration::from_millis(1500);
/// How long the transcript may take to show the text after the last Enter.
const CONFIRM: Duration = Duration::from_secs(3);
/// How many Enters one call may press: one, and another one if the first was eaten. A later
/// call of the same operation may press as many again.
const MOST_ENTERS: u8 = 2;

/// What was seen of the pane.
#[derive(Debug, Clone)]
pub(crate) enum Seen {
    Scene(Scene),
    /// The pane exists, and its screen could not be read.
    Unreadable,
    /// The agent for which the text is meant has ended. Its last screen with the box may still
    /// be there.
    AgentEnded,
    Gone,
}

/// What to do next. What follows a look is done without a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Look at the pane after this time and continue with [`Machine::saw`].
    Look(Duration),
    /// Type the text now, without another look.
    Type,
    /// Press Enter now, without another look.
    Enter,
    /// The push has ended.
    End(Outcome, Option<Why>),
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// Nothing has been typed yet.
    Before { since: Duration },
    /// The text was typed, and the box does not show it yet.
    Appearing { since: Duration },
    /// The box shows the text. The look at the end of the pause decides.
    Pausing { since: Duration },
    /// Enter was pressed.
    Entered { at: Duration, in_box: Option<Why> },
}

/// One call of a push.
#[derive(Debug)]
pub(crate) struct Machine<'a> {
    profile: &'a dyn Profile,
    text: &'a str,
    /// The text is a command. It has succeeded when it has left the box, because the transcript
    /// does not show it.
    command: bool,
    phase: Phase,
    /// The transcript before the text was typed; `None` in a repeat.
    before: Option<Vec<String>>,
    /// The short form of the text in the box.
    fold: Option<String>,
    typed: bool,
    /// How many Enters this call has pressed.
    entered: u8,
    /// How many Enters earlier calls of the operation have pressed.
    earlier: u8,
    busy: bool,
}

impl<'a> Machine<'a> {
    /// A push of this text. It is typed when the box is empty.
    pub(crate) fn new(profile: &'a dyn Profile, text: &'a str, now: Duration) -> Self {
        Self {
            profile,
            text,
            command: profile.is_command(text),
            phase: Phase::Before { since: now },
            before: None,
            fold: None,
            typed: false,
            entered: 0,
            earlier: 0,
            busy: false,
        }
    }

    /// A push whose text was typed by an earlier call that pressed `earlier` Enters.
    pub(crate) fn again(
        profile: &'a dyn Profile,
        text: &'a str,
        enters: u8,
        now: Duration,
    ) -> Self {
        let phase = Phase::Appearing { since: now };
        Self { phase, typed: true, earlier: enters, ..Self::new(profile, text, now) }
    }

    pub(crate) fn is_command(&self) -> bool {
        self.command
    }

    pub(crate) fn typed(&self) -> bool {
        self.typed
    }

    pub(crate) fn enters(&self) -> u8 {
        self.earlier.saturating_add(self.entered)
    }

    pub(crate) fn busy(&self) -> bool {
        self.busy
    }

    /// The first step.
    pub(crate) fn begin(&mut self) -> Step {
        match (self.profile.guards(), self.typed) {
            (true, _) => Step::Look(Duration::ZERO),
            (false, false) => Step::Type,
            // Without a look, it is not known whether the text is still in the box.
            (false, true) => Step::End(Outcome::Unverified, Some(Why::Unguarded)),
        }
    }

    /// After [`Step::Type`].
    pub(crate) fn was_typed(&mut self, now: Duration) -> Step {
        self.typed = true;
        self.phase = Phase::Appearing { since: now };
        if self.profile.guards() { Step::Look(LOOK) } else { Step::Look(PAUSE) }
    }

    /// After [`Step::Enter`].
    pub(crate) fn was_entered(&mut self, now: Duration) -> Step {
        self.entered += 1;
        self.phase = Phase::Entered { at: now, in_box: None };
        if self.profile.guards() {
            Step::Look(LOOK)
        } else {
            Step::End(Outcome::Unverified, Some(Why::Unguarded))
        }
    }

    /// After a [`Step::Enter`] that was not sent, because the pane has moved.
    pub(crate) fn was_not_entered(&mut self, now: Duration) -> Step {
        match self.phase {
            Phase::Pausing { since } | Phase::Appearing { since } => {
                if now.saturating_sub(since) >= APPEAR + CONFIRM {
                    return self.end_unseen(Why::Unreadable);
                }
                self.phase = Phase::Appearing { since };
            }
            // These phases end by themselves.
            Phase::Before { .. } | Phase::Entered { .. } => {}
        }
        Step::Look(LOOK)
    }

    /// After [`Step::Look`].
    pub(crate) fn saw(&mut self, now: Duration, seen: &Seen) -> Step {
        let look = match seen {
            Seen::Gone => return self.end_unseen(Why::PaneGone),
            // A command such as `/exit` has succeeded.
            Seen::AgentEnded if self.command && self.enters() > 0 => {
                return Step::End(Outcome::Delivered, None);
            }
            Seen::AgentEnded => return self.end_unseen(Why::AgentEnded),
            Seen::Unreadable => None,
            Seen::Scene(_) if !self.profile.guards() => return Step::Enter,
            Seen::Scene(scene) => Some(self.profile.look(scene)),
        };
        if let Some(look) = &look {
            self.busy = look.busy;
        }
        match self.phase {
            Phase::Before { since } => self.before(now.saturating_sub(since), look),
            Phase::Appearing { since } => self.appearing(now, since, look.as_ref()),
            Phase::Pausing { since } => match &look {
                Some(look) if self.is_ours(look) => Step::Enter,
                _ => {
                    self.phase = Phase::Appearing { since };
                    self.appearing(now, since, look.as_ref())
                }
            },
            Phase::Entered { at, in_box } => self.entered(now, at, in_box, look.as_ref()),
        }
    }

    fn before(&mut self, waited: Duration, look: Option<Look>) -> Step {
        let held = |why| Step::End(Outcome::Held, Some(why));
        let why = match look {
            None => Why::Unreadable,
            Some(look) if look.state == BoxState::Empty => {
                self.before = Some(look.transcript);
                return Step::Type;
            }
            Some(look) => match look.state {
                BoxState::Dirty => return held(Why::BoxNotEmpty),
                BoxState::Dialog => return held(Why::Dialog),
                BoxState::Busy => return held(Why::Busy),
                _ => Why::NoBox,
            },
        };
        if waited < REDRAW { Step::Look(LOOK) } else { held(why) }
    }

    /// Whether an Enter now would send the text and nothing else.
    fn is_ours(&self, look: &Look) -> bool {
        look.state == BoxState::Dirty
            && (!look.menu || self.command)
            && self.profile.holds(look, self.text)
    }

    fn appearing(&mut self, now: Duration, since: Duration, look: Option<&Look>) -> Step {
        if let Some(look) = look {
            if self.is_ours(look) {
                self.fold = self.profile.fold(look);
                self.phase = Phase::Pausing { since };
                return Step::Look(PAUSE);
            }
            if look.state == BoxState::Dialog {
                return self.end_typed(Outcome::TypedUnconfirmed, Why::Dialog);
            }
            // In a repeat, the text may have been sent long ago.
            let emptied = matches!(look.state, BoxState::Empty | BoxState::Busy);
            let sent = self.enters() > 0 && self.before.is_none();
            if emptied && sent && transcript::holds(&look.transcript, self.text) {
                return Step::End(Outcome::Delivered, None);
            }
        }
        let longer = u32::try_from(self.text.chars().count() / 1000).unwrap_or(u32::MAX);
        if now.saturating_sub(since) < APPEAR + APPEAR_PER_1000.saturating_mul(longer) {
            return Step::Look(LOOK);
        }
        let Some(look) = look else {
            return self.end_typed(Outcome::TypedUnconfirmed, Why::Unreadable);
        };
        let shown = self.profile.holds(look, self.text);
        match look.state {
            BoxState::Dirty if shown => self.end_typed(Outcome::Held, Why::Menu),
            BoxState::Dirty => self.end_typed(Outcome::Held, Why::NotWhatWasTyped),
            BoxState::Empty => self.end_typed(Outcome::TypedUnconfirmed, Why::NotShown),
            BoxState::Busy => self.end_typed(Outcome::TypedUnconfirmed, Why::Busy),
            _ => self.end_typed(Outcome::TypedUnconfirmed, Why::NoBox),
        }
    }

    fn entered(
        &mut self,
        now: Duration,
        at: Duration,
        in_box: Option<Why>,
        look: Option<&Look>,
    ) -> Step {
        let why = match look {
            None => Why::Unreadable,
            Some(look) => match self.after_enter(look) {
                Ok(()) => return Step::End(Outcome::Delivered, None),
                Err(why) => why,
            },
        };
        let waited = now.saturating_sub(at);
        let twice = why == Why::StillInBox && in_box == Some(Why::StillInBox);
        let ours = look.is_some_and(|look| self.is_ours(look));
        if twice && ours && waited >= EATEN && self.entered < MOST_ENTERS {
            return Step::Enter;
        }
        if waited < CONFIRM {
            self.phase = Phase::Entered { at, in_box: Some(why) };
            return Step::Look(LOOK);
        }
        match why {
            Why::StillInBox => Step::End(Outcome::Pending, Some(why)),
            _ => Step::End(Outcome::Unverified, Some(why)),
        }
    }

    /// Whether the text was sent, or why that is not certain.
    fn after_enter(&self, look: &Look) -> Result<(), Why> {
        let left = match look.state {
            BoxState::Empty | BoxState::Busy => true,
            // A command may open a dialog.
            BoxState::Dialog => self.command,
            _ => false,
        };
        let gained = || match &self.before {
            Some(before) => {
                transcript::gained(before, &look.transcript, self.text, self.fold.as_deref())
            }
            None => transcript::holds(&look.transcript, self.text),
        };
        match look.state {
            _ if left && (self.command || gained()) => Ok(()),
            BoxState::Dirty if self.profile.holds(look, self.text) => Err(Why::StillInBox),
            BoxState::Dirty => Err(Why::NotWhatWasTyped),
            BoxState::Dialog => Err(Why::Dialog),
            BoxState::Empty | BoxState::Busy => Err(Why::NotInTranscript),
            BoxState::Unknown => Err(Why::NoBox),
        }
    }

    fn end_typed(&self, outcome: Outcome, why: Why) -> Step {
        // An earlier call may have sent it.
        let outcome = if self.enters() > 0 { Outcome::Unverified } else { outcome };
        Step::End(outcome, Some(why))
    }

    fn end_unseen(&self, why: Why) -> Step {
        let outcome = match (self.typed, self.enters()) {
            (false, _) => Outcome::Held,
            (true, 0) => Outcome::TypedUnconfirmed,
            (true, _) => Outcome::Unverified,
        };
        Step::End(outcome, Some(why))
    }
}
