use herdr_proto::SendKeys;

use crate::control::{Found, PaneControl};
use crate::digest::Digest;
use crate::error::{Error, ErrorKind};
use crate::intent::Intent;
use crate::key::Key;
use crate::read::ReadOptions;
use crate::target::Target;

impl PaneControl {
    /// Presses keys, whatever the pane shows. All keys are checked before the first is pressed.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::PaneGone`] and the kinds of a server that does not answer.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future may leave all keys pressed or none.
    pub async fn keys(&self, target: &Target, keys: &[Key]) -> Result<(), Error> {
        let found = self.find(target).await?;
        self.press(&found, keys).await
    }

    /// Presses the key for an intent in the pane's program: `interrupt` is `esc` in an agent
    /// that `ctrl+c` would quit. `profile` names the program; `None` selects it by the agent in
    /// the pane.
    ///
    /// # Errors
    ///
    /// As [`keys`](Self::keys). An agent without a profile is treated like a shell.
    ///
    /// # Cancel safety
    ///
    /// As [`keys`](Self::keys).
    pub async fn intend(
        &self,
        target: &Target,
        intent: Intent,
        profile: Option<&str>,
    ) -> Result<(), Error> {
        let found = self.find(target).await?;
        let profile = match self.profile(profile, &found.info) {
            Err(_) if profile.is_none() => self.profile(Some("shell"), &found.info)?,
            other => other?,
        };
        self.press(&found, &[intent.key(&*profile)]).await
    }

    /// Answers a dialog: reads the screen again, and presses the keys only if its digest is the
    /// one in the caller's [`Reading`](crate::Reading).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ScreenChanged`] if it is another screen; nothing was
    /// pressed. Otherwise as [`keys`](Self::keys).
    ///
    /// # Cancel safety
    ///
    /// As [`keys`](Self::keys).
    pub async fn answer(&self, target: &Target, seen: Digest, keys: &[Key]) -> Result<(), Error> {
        let found = self.find(target).await?;
        let now = self.read(&found.target, ReadOptions::default()).await?;
        if now.digest != Some(seen) {
            let detail = "the screen is not the one that was seen; read it again before answering";
            return Err(Error::new(ErrorKind::ScreenChanged, detail));
        }
        self.press(&found, keys).await
    }

    async fn press(&self, found: &Found, keys: &[Key]) -> Result<(), Error> {
        if keys.is_empty() {
            return Err(Error::new(ErrorKind::InvalidInput, "name at least one key"));
        }
        let keys = keys.iter().map(|key| key.as_str().to_owned()).collect();
        self.client().call(&SendKeys::new(found.id(), keys)).await?;
        Ok(())
    }
}
