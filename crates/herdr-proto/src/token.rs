use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::InvalidValue;
use crate::ids::{text_newtype, word_problem};
use crate::limits;
use crate::text::PresentationText;

/// The key of a token: `[A-Za-z0-9_-]{1,32}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TokenKey(String);

impl TokenKey {
    /// Takes a key.
    ///
    /// # Errors
    ///
    /// If the server would refuse it, which refuses the whole report.
    pub fn parse(key: impl Into<String>) -> Result<Self, InvalidValue> {
        let key = key.into();
        let allows = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        match word_problem(&key, allows, limits::TOKEN_KEY_MAX) {
            None => Ok(Self(key)),
            Some(problem) => Err(InvalidValue::new(
                "token key",
                problem,
                format!("1 to {} of A-Z a-z 0-9 _ -", limits::TOKEN_KEY_MAX),
            )),
        }
    }
}

text_newtype!(TokenKey);

/// A change of one token. A token that is not named in a report stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a token is set or cleared")]
pub enum TokenEdit {
    /// Sets the token to this text.
    Set(PresentationText),
    /// Clears the token.
    Clear,
}

/// Changes of a pane's tokens. They always merge: a token that is not named stays, whichever
/// source set it (protocol §5.6 D5).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TokenPatch(BTreeMap<TokenKey, Option<PresentationText>>);

impl TokenPatch {
    /// A patch that changes nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets or clears a key. A later edit of the same key replaces an earlier one.
    pub fn edit(&mut self, key: TokenKey, edit: TokenEdit) {
        let value = match edit {
            TokenEdit::Set(text) => Some(text),
            TokenEdit::Clear => None,
        };
        self.0.insert(key, value);
    }

    /// Removes a key from the patch, so that its token stays as it is.
    pub fn leave(&mut self, key: &TokenKey) {
        self.0.remove(key);
    }

    /// The keys with their new texts; `None` clears.
    pub fn iter(&self) -> impl Iterator<Item = (&TokenKey, Option<&PresentationText>)> {
        self.0.iter().map(|(key, text)| (key, text.as_ref()))
    }

    /// How many keys it names. The server accepts [`limits::TOKENS_PER_REPORT`] in one report.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
