//! Pushing a text into a program's input box.

mod ledger;
mod machine;
mod outcome;

use std::sync::Arc;
use std::time::Duration;

use herdr_proto::{SendInput, SendKeys, SendText};
pub use ledger::OperationId;
pub(crate) use ledger::{Ledger, Record};
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
    /// The ready profile by its name. Absent means the one for the agent in the
    /// pane, and the shell's where there is none.
    pub profile: Option<String>,
    /// The operation. A repeat under the same id never types again: it looks
    /// what became of the text, and presses Enter if it still stands in the
    /// box. Absent means a new one.
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
    /// Types a text into a program's input box and sends it, looking before
    /// every step.
    ///
    /// Nothing is typed unless the box was seen empty, and no Enter is pressed
    /// unless the box was seen with the text and nothing else. What a person
    /// types between that look and the key, some milliseconds, is not seen.
    ///
    /// Control characters and paste marks in the text are left out. A text that
    /// is a command of the program (`/compact`, for a profile that knows them) is
    /// typed instead of pasted, and delivered when it has left the box.
    ///
    /// It takes 0.5 s when all is well, and under 10 s for a short text in any
    /// case. Pushes of one [`PaneControl`] to one pane wait for each other.
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
    /// Dropping the future leaves the text where it stands. A repeat of the
    /// same operation goes on from there.
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
        let known = self.shared().ledger.known(&operation, &record)?;
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

/// The text as it is typed. Several lines only if they are one paste; outside a
/// paste a tab would be a key.
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

/// Does what a [`Machine`] says.
struct Push<'a> {
    control: &'a PaneControl,
    profile: &'a Arc<dyn Profile>,
    text: &'a str,
    operation: OperationId,
    record: Record,
    began: Instant,
    found: Found,
    /// The agent that the text is for, if there is one.
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
            // That it typed is noted already, and that is what a repeat needs.
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
                // A row has 16 characters at least.
                let more = self.text.chars().count() / 16;
                self.control.scene(&self.found, &**self.profile, more).await
            }
            Err(error) => Err(error),
        };
        match scene {
            Ok(scene) => Ok(Seen::Scene(scene)),
            // Before anything was typed a caller wants the reason itself.
            Err(error) if !machine.typed() => Err(error),
            Err(error) if matches!(error.kind(), ErrorKind::PaneGone | ErrorKind::NoServer) => {
                Ok(Seen::Gone)
            }
            Err(_) => Ok(Seen::Unreadable),
        }
    }

    /// Types, once for the whole operation.
    async fn type_text(&self, as_keys: bool) -> Result<(), Error> {
        let ledger = &self.control.shared().ledger;
        if ledger.begin(&self.operation, &self.record)?.is_some() {
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
                ledger.note(&self.operation, None)?;
                Err(error)
            }
        }
    }

    /// Presses Enter after so many; whether it was sent, or may have been. It
    /// is noted first: a repeat after a crash must not take it for none.
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
            // One Enter too many on record only makes a repeat more careful.
            let _ = self.note();
        }
        sent
    }

    fn note(&self) -> Result<(), Error> {
        self.control.shared().ledger.note(&self.operation, Some(&self.record))
    }

    /// Whether the pane has another id than the one that was just used.
    async fn has_moved(&mut self) -> Result<bool, Error> {
        let found = self.control.find(&self.found.target).await?;
        let moved = found.id() != self.found.id();
        self.found = found;
        Ok(moved)
    }
}

#[cfg(test)]
mod tests;
