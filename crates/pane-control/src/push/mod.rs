//! Pushing a text into a program's input box.

mod journal;
mod machine;
mod outcome;

use std::sync::Arc;
use std::time::Duration;

use herdr_proto::{SendInput, SendKeys, SendText};
pub use journal::OperationId;
pub(crate) use journal::{Journal, Record};
use machine::{Machine, Seen, Step};
pub use outcome::{Outcome, Pushed, Why};
use tokio::time::Instant;

use crate::control::{Found, PaneControl};
use crate::error::{Error, ErrorKind};
use crate::key::Key;
use crate::profile::Profile;
use crate::target::Target;
use crate::text::neutralise;

/// How to push.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PushOptions {
    /// The name of the ready profile. Absent means the one for the agent in the pane, or the
    /// shell's.
    pub profile: Option<String>,
    /// The operation. A repeat with the same id never types again: it finds out what became of
    /// the text, and presses Enter if the text is still in the box. Absent means a new
    /// operation.
    pub operation: Option<OperationId>,
}

impl PushOptions {
    /// Sets [`profile`](Self::profile).
    #[must_use]
    pub fn profile(mut self, name: impl Into<String>) -> Self {
        self.profile = Some(name.into());
        self
    }

    /// Sets [`operation`](Self::operation).
    #[must_use]
    pub fn operation(mut self, id: OperationId) -> Self {
        self.operation = Some(id);
        self
    }
}

impl PaneControl {
    /// Types a text into a program's input box and sends it, with a look at the screen before
    /// every step.
    ///
    /// Nothing is typed unless the box was seen empty. Enter is pressed only if the box was
    /// seen with the text and nothing else. A key that a person presses in the few milliseconds
    /// between that look and the Enter is not noticed.
    ///
    /// Control characters and paste marks in the text are removed. A text that is a command of
    /// the program (such as `/compact`, for a profile that knows it) is typed instead of
    /// pasted, and counts as delivered when it has left the box.
    ///
    /// This takes 0.5 s if all goes well, and less than 10 s for a short text in any case.
    /// Pushes of one [`PaneControl`] to the same pane wait for each other.
    ///
    /// # Errors
    ///
    /// Only when this call typed nothing: [`ErrorKind::PaneGone`],
    /// [`ErrorKind::NoServer`], [`ErrorKind::EmptyPrompt`],
    /// [`ErrorKind::SeveralLines`] for a program that does not bracket pastes,
    /// [`ErrorKind::NoProfile`], [`ErrorKind::OperationReused`]. Everything
    /// else is an [`Outcome`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the text where it is. A repeat of the same operation
    /// continues from there.
    pub async fn push(
        &self,
        target: &Target,
        text: &str,
        options: &PushOptions,
    ) -> Result<Pushed, Error> {
        let found = self.find(target).await?;
        let profile = self.profile(options.profile.as_deref(), &found.info)?;
        self.push_with(found, &profile, text, options.operation.clone()).await
    }

    pub(crate) async fn push_with(
        &self,
        found: Found,
        profile: &Arc<dyn Profile>,
        text: &str,
        operation: Option<OperationId>,
    ) -> Result<Pushed, Error> {
        let text = checked(text, profile.brackets() && !profile.is_command(text))?;
        let operation = operation.unwrap_or_else(OperationId::fresh);
        let _alone = self.alone(found.terminal()).await;
        let mut record = Record::new(found.terminal(), &text);
        let known = self.shared().journal.known(&operation, &record)?;
        let began = Instant::now();
        let machine = match &known {
            None => Machine::new(&**profile, &text, Duration::ZERO),
            Some(Record { pushed: Some(pushed), .. }) if pushed.outcome == Outcome::Delivered => {
                return Ok(pushed.clone());
            }
            Some(known) => {
                record.enters = known.enters;
                Machine::again(&**profile, &text, known.enters, Duration::ZERO)
            }
        };
        let agent = found.info.agent.clone();
        let push =
            Push { control: self, profile, text: &text, operation, record, began, found, agent };
        push.run(machine).await
    }
}

/// The text as it is typed. It may have several lines only if it is one paste. Outside a paste
/// a tab would be a key.
pub(crate) fn checked(text: &str, pasted: bool) -> Result<String, Error> {
    let mut text = neutralise(text);
    if !pasted {
        text = text.replace('\t', " ");
    }
    if text.trim().is_empty() {
        let detail = "the text is empty, or holds nothing that can be typed";
        return Err(Error::new(ErrorKind::EmptyPrompt, detail));
    }
    if text.contains('\n') && !pasted {
        let detail = "the text has several lines, and this program would take each by itself; \
                      push one line, or name a profile that brackets pastes";
        return Err(Error::new(ErrorKind::SeveralLines, detail));
    }
    Ok(text)
}

/// Executes the steps of a [`Machine`].
struct Push<'a> {
    control: &'a PaneControl,
    profile: &'a Arc<dyn Profile>,
    text: &'a str,
    operation: OperationId,
    record: Record,
    began: Instant,
    found: Found,
    /// The agent for which the text is meant, if there is one.
    agent: Option<String>,
}

impl Push<'_> {
    async fn run(mut self, mut machine: Machine<'_>) -> Result<Pushed, Error> {
        let mut step = machine.begin();
        let (outcome, why) = loop {
            step = match step {
                Step::End(outcome, why) => break (outcome, why),
                Step::Look(after) => {
                    tokio::time::sleep(after).await;
                    let seen = self.look(&machine).await?;
                    machine.saw(self.began.elapsed(), &seen)
                }
                Step::Type => match self.type_text(machine.is_command()).await {
                    Ok(()) => machine.was_typed(self.began.elapsed()),
                    Err(error)
                        if error.kind() == ErrorKind::PaneGone && self.has_moved().await? =>
                    {
                        machine.begin()
                    }
                    Err(error) => return Err(error),
                },
                Step::Enter => {
                    if self.enter(machine.enters()).await {
                        machine.was_entered(self.began.elapsed())
                    } else {
                        machine.was_not_entered(self.began.elapsed())
                    }
                }
            };
        };
        let pushed = Pushed {
            outcome,
            why,
            typed: machine.typed(),
            enters: machine.enters(),
            busy: machine.busy(),
            profile: self.profile.name().to_owned(),
            guarded: self.profile.guards(),
            operation: self.operation.clone(),
            pane_id: self.found.id(),
        };
        if pushed.typed {
            self.record.pushed = Some(pushed.clone());
            // An error is ignored: it is already recorded that the operation typed, which is
            // what a repeat needs.
            let _ = self.note();
        }
        Ok(pushed)
    }

    async fn look(&mut self, machine: &Machine<'_>) -> Result<Seen, Error> {
        let sought = self.control.find(&self.found.target).await;
        let scene = match sought {
            Ok(found) => {
                self.found = found;
                if self.agent.is_some() && self.found.info.agent != self.agent {
                    return Ok(Seen::AgentEnded);
                }
                // A row has at least 16 characters.
                let more = self.text.chars().count() / 16;
                self.control.scene(&self.found, &**self.profile, more).await
            }
            Err(error) => Err(error),
        };
        match scene {
            Ok(scene) => Ok(Seen::Scene(scene)),
            // If nothing was typed, the caller gets the error itself.
            Err(error) if !machine.typed() => Err(error),
            Err(error) if matches!(error.kind(), ErrorKind::PaneGone | ErrorKind::NoServer) => {
                Ok(Seen::Gone)
            }
            Err(_) => Ok(Seen::Unreadable),
        }
    }

    /// Types the text, once in the whole operation.
    async fn type_text(&self, as_keys: bool) -> Result<(), Error> {
        let journal = &self.control.shared().journal;
        if journal.begin(&self.operation, &self.record)?.is_some() {
            let detail = "another process began this operation at the same time";
            return Err(Error::new(ErrorKind::OperationReused, detail));
        }
        let (client, pane) = (self.control.client(), self.found.id());
        let sent = if as_keys {
            client.call(&SendText::new(pane, self.text)).await
        } else {
            client.call(&SendInput::new(pane, self.text)).await
        };
        match sent.map_err(Error::from) {
            Ok(_) => Ok(()),
            Err(error) if error.may_have_arrived() => Ok(()),
            Err(error) => {
                journal.note(&self.operation, None)?;
                Err(error)
            }
        }
    }

    /// Presses Enter, and returns whether it was or may have been sent. This is recorded first,
    /// so that a repeat after a crash does not take it for unsent.
    async fn enter(&mut self, before: u8) -> bool {
        self.record.enters = before.saturating_add(1);
        if self.note().is_err() {
            return false;
        }
        let keys = vec![Key::enter().as_str().to_owned()];
        let sent = self.control.client().call(&SendKeys::new(self.found.id(), keys)).await;
        let sent = sent.map_err(Error::from).err().is_none_or(|error| error.may_have_arrived());
        if !sent {
            self.record.enters = before;
            // An error is ignored: a recorded Enter that was not sent only makes a repeat more
            // careful.
            let _ = self.note();
        }
        sent
    }

    fn note(&self) -> Result<(), Error> {
        self.control.shared().journal.note(&self.operation, Some(&self.record))
    }

    /// Whether the pane has got another id.
    async fn has_moved(&mut self) -> Result<bool, Error> {
        let found = self.control.find(&self.found.target).await?;
        let moved = found.id() != self.found.id();
        self.found = found;
        Ok(moved)
    }
}

#[cfg(test)]
mod tests;
