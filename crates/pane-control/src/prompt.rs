use std::time::Duration;

use herdr_proto::{AgentInfo, AgentPrompt, AgentStatus, PaneId, canonical_label};
use serde::Serialize;
use tokio::time::Instant;

use crate::control::{Found, PaneControl};
use crate::error::{Error, ErrorKind};
use crate::profile::{BoxState, Look, Profile, Unguarded};
use crate::push::{OperationId, PushOptions, Pushed, Record, checked};
use crate::target::Target;
use crate::transcript;
use crate::wait::WaitOptions;

/// The default of [`PromptOptions::deadline`].
const EFFECT: Duration = Duration::from_secs(8);
/// The interval between two looks.
const LOOK: Duration = Duration::from_millis(200);

/// How to prompt.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PromptOptions {
    /// Whether to push to an agent that `agent.prompt` does not support. Default false, which
    /// refuses.
    pub allow_push: bool,
    /// The options for a push. `agent.prompt` uses the profile and the operation, too, and
    /// refuses a repeated operation.
    pub push: PushOptions,
    /// How long the text may take to have an effect; default 8 s.
    pub deadline: Duration,
    /// What to wait for after the prompt; absent means not to wait.
    pub wait: Option<WaitOptions>,
}

impl Default for PromptOptions {
    fn default() -> Self {
        let push = PushOptions::default();
        Self { allow_push: false, push, deadline: EFFECT, wait: None }
    }
}

impl PromptOptions {
    /// Allows a push with these options where `agent.prompt` is not supported.
    #[must_use]
    pub fn allow_push(mut self, options: PushOptions) -> Self {
        (self.allow_push, self.push) = (true, options);
        self
    }

    /// Sets [`deadline`](Self::deadline).
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets [`wait`](Self::wait). Its [`after`](WaitOptions::after) is set to
    /// the status before the prompt.
    #[must_use]
    pub fn wait(mut self, wait: WaitOptions) -> Self {
        self.wait = Some(wait);
        self
    }
}

/// How a prompt was delivered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Way {
    /// With `agent.prompt`; the agent's status changed.
    StatusChanged,
    /// With `agent.prompt`; the text went from the box to the transcript.
    BoxEmptied,
    /// With a push.
    Pushed(Pushed),
    /// Not delivered: there is another text in the input box. Nothing was typed.
    Held,
}

/// What became of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Prompted {
    /// How it was delivered.
    pub way: Way,
    /// The pane, by its present id.
    pub pane_id: PaneId,
    /// The status that was waited for; absent without a wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<AgentStatus>,
}

impl PaneControl {
    /// Prompts an agent.
    ///
    /// An agent that Herdr knows is prompted with `agent.prompt`, after its input box was seen
    /// empty (if there is a profile for it). The server answers before it presses Enter. So the
    /// prompt succeeds when the agent's status changes, or when the text goes from the box to
    /// the transcript. Another agent is pushed to if that is allowed, and refused otherwise.
    ///
    /// # Errors
    ///
    /// Nothing was typed: [`ErrorKind::NoAgent`], [`ErrorKind::CustomAgent`],
    /// [`ErrorKind::AgentBlocked`], [`ErrorKind::AgentNotReady`],
    /// [`ErrorKind::EmptyPrompt`], [`ErrorKind::OperationReused`] for an
    /// operation that has typed before, and the others that are
    /// [`safe_to_retry`](Error::safe_to_retry). The text was typed, or may have
    /// been: [`ErrorKind::PromptStalled`], [`ErrorKind::PromptFailed`],
    /// [`ErrorKind::AgentNotRunning`], [`ErrorKind::Timeout`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future may leave the text typed. The server then presses Enter by itself.
    pub async fn prompt(
        &self,
        target: &Target,
        text: &str,
        options: &PromptOptions,
    ) -> Result<Prompted, Error> {
        let found = self.find(target).await?;
        let no_agent = || Error::new(ErrorKind::NoAgent, "the pane has no agent");
        let before = self.agent(&found.id()).await?.ok_or_else(no_agent)?;
        let known = before.agent.as_deref().is_some_and(|label| canonical_label(label).is_some());
        let way = match (known, options.allow_push) {
            (true, _) => self.prompt_known(&found, &before, text, options).await?,
            (false, true) => {
                let name = options.push.profile.as_deref();
                let profile = self.profile(name, &found.info)?;
                let operation = options.push.operation.clone();
                Way::Pushed(self.push_with(found.clone(), &profile, text, operation).await?)
            }
            (false, false) => {
                let detail = "Herdr does not know this agent and never prompts it; allow a push, \
                              or push";
                return Err(Error::new(ErrorKind::CustomAgent, detail));
            }
        };
        let went_in = match &way {
            Way::Pushed(pushed) => pushed.outcome == crate::push::Outcome::Delivered,
            Way::Held => false,
            Way::StatusChanged | Way::BoxEmptied => true,
        };
        let mut status = None;
        if let Some(wait) = options.wait.as_ref().filter(|_| went_in) {
            let wait = wait.clone().after(before.state_change_seq);
            status = Some(self.wait(&found.target, &wait).await?.agent_status);
        }
        Ok(Prompted { way, pane_id: found.id(), status })
    }

    async fn prompt_known(
        &self,
        found: &Found,
        before: &AgentInfo,
        text: &str,
        options: &PromptOptions,
    ) -> Result<Way, Error> {
        let _alone = self.alone(found.terminal()).await;
        // For an agent without a profile, the server's status decides.
        let name = options.push.profile.as_deref();
        let profile = match self.profile(name, &found.info) {
            Err(_) if name.is_none() => std::sync::Arc::new(Unguarded),
            other => other?,
        };
        // Without a profile, only the server knows whether the program brackets pastes.
        let text = checked(text, profile.brackets() || !profile.guards())?;
        let more = text.chars().count() / 16;
        let mut seen = None;
        if profile.guards() {
            let look = profile.look(&self.scene(found, &*profile, more).await?);
            match look.state {
                BoxState::Empty => {}
                BoxState::Dialog => {
                    let detail = "a dialog takes the keys; answer it first";
                    return Err(Error::new(ErrorKind::AgentBlocked, detail));
                }
                BoxState::Dirty => return Ok(Way::Held),
                _ => {
                    let detail = "the agent's screen shows no input box";
                    return Err(Error::new(ErrorKind::AgentNotReady, detail));
                }
            }
            seen = Some(look);
        }
        self.begin_prompt(found, &text, options.push.operation.as_ref())?;
        let reply = self.client().call(&AgentPrompt::new(&found.id(), text.as_str())).await;
        let reply = match (reply.map_err(Error::from), &options.push.operation) {
            (Err(error), Some(id)) if error.safe_to_retry() => {
                self.shared().journal.note(id, None)?;
                return Err(error);
            }
            (reply, _) => reply?,
        };
        // A change between the look and the prompt is not an effect of the prompt.
        let seq = before.state_change_seq.max(reply.agent.state_change_seq);
        let effect = self.effect(found, &*profile, &text, (seq, seen.as_ref()));
        match tokio::time::timeout(options.deadline, effect).await {
            Ok(way) => way,
            Err(_) => Err(Error::new(
                ErrorKind::PromptStalled,
                "the text was typed; the status did not change, and the box did not empty",
            )),
        }
    }

    /// Records that an operation prompts. An operation does so only once.
    fn begin_prompt(
        &self,
        found: &Found,
        text: &str,
        operation: Option<&OperationId>,
    ) -> Result<(), Error> {
        let Some(id) = operation else { return Ok(()) };
        let mut record = Record::new(found.terminal(), text);
        // The server presses Enter.
        record.enters = 1;
        if self.shared().journal.begin(id, &record)?.is_some() {
            let detail = "this operation has typed its text before; look what became of it";
            return Err(Error::new(ErrorKind::OperationReused, detail));
        }
        Ok(())
    }

    /// Waits until the prompt has an effect.
    async fn effect(
        &self,
        found: &Found,
        profile: &dyn Profile,
        text: &str,
        (seq, before): (u64, Option<&Look>),
    ) -> Result<Way, Error> {
        let mut target = found.target.clone();
        let began = Instant::now();
        let mut fold = None;
        loop {
            tokio::time::sleep(LOOK).await;
            let found = self.find(&target).await.map_err(after_typing)?;
            match self.agent(&found.id()).await.map_err(after_typing)? {
                Some(agent) if agent.state_change_seq > seq => return Ok(Way::StatusChanged),
                None if began.elapsed() > Duration::from_secs(1) => {
                    return Err(Error::new(ErrorKind::AgentNotRunning, "the agent went away"));
                }
                _ => {}
            }
            if let Some(before) = before {
                let scene = self.scene(&found, profile, text.chars().count() / 16).await;
                let look = profile.look(&scene.map_err(after_typing)?);
                fold = profile.fold(&look).or(fold);
                let after = (&before.transcript, &look.transcript);
                if look.state == BoxState::Empty
                    && transcript::gained(after.0, after.1, text, fold.as_deref())
                {
                    return Ok(Way::BoxEmptied);
                }
            }
            target = found.target;
        }
    }
}

/// What an error means after the text was typed.
fn after_typing(error: Error) -> Error {
    match error.kind() {
        ErrorKind::PaneGone => Error::new(ErrorKind::AgentNotRunning, "the pane closed"),
        ErrorKind::NoServer => Error::new(ErrorKind::Timeout, "the server went away"),
        _ => error,
    }
}
