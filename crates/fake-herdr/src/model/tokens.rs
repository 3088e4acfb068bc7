//! The tokens of a pane or a workspace.

use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    value: String,
    expires: Option<Duration>,
}

/// Tokens by key. Any source may overwrite any key.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tokens(BTreeMap<String, Token>);

impl Tokens {
    /// The number of tokens after a patch.
    pub(crate) fn count_after(&self, patch: &BTreeMap<String, Option<String>>) -> usize {
        let kept = self.0.keys().filter(|key| !patch.contains_key(*key));
        kept.count() + patch.values().flatten().count()
    }

    /// Sets and removes tokens; `true` if anything changed, even only an expiry.
    pub(crate) fn patch(
        &mut self,
        patch: &BTreeMap<String, Option<String>>,
        expires: Option<Duration>,
    ) -> bool {
        let mut changed = false;
        for (key, value) in patch {
            changed |= match value {
                Some(value) => {
                    let token = Token { value: value.clone(), expires };
                    self.0.insert(key.clone(), token.clone()) != Some(token)
                }
                None => self.0.remove(key).is_some(),
            };
        }
        changed
    }

    pub(crate) fn values(&self) -> BTreeMap<String, String> {
        self.0.iter().map(|(key, token)| (key.clone(), token.value.clone())).collect()
    }

    pub(crate) fn next_expiry(&self) -> Option<Duration> {
        self.0.values().filter_map(|token| token.expires).min()
    }

    /// Removes the tokens that have expired; `true` if there were any.
    pub(crate) fn expire(&mut self, now: Duration) -> bool {
        let before = self.0.len();
        self.0.retain(|_, token| token.expires.is_none_or(|at| now < at));
        self.0.len() != before
    }
}
