//! The note of what a killed reporter leaves on its pane.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};

use herdr_proto::{PaneInfo, PresentationText, SourceId, TokenKey};
use serde::{Deserialize, Serialize};

use crate::lease::stable_hash;

/// The longest note, in bytes: that of 32 tokens with keys of 32 bytes and a few texts each.
const NOTE_BYTES: u64 = 8_192;

/// The most texts that are noted of a token: the newest ones, because the server ignores a report
/// that is older than the last one it has applied.
const TEXTS: usize = 4;

/// The metadata that stays on the pane when the reporter's process is killed, until its ttl ends.
/// The owner of a lease keeps a note of it in the lease's file, so that the next reporter can
/// clear it. Texts are noted only as hashes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Leavings {
    /// The source whose title and labels are on the pane; `None` if there are none.
    pub(crate) presented_by: Option<SourceId>,
    /// Hashes of the texts that each token may show, the newest last.
    tokens: BTreeMap<TokenKey, Vec<u64>>,
}

impl Leavings {
    /// Adds a text that a token may show, as the newest one.
    pub(crate) fn add(&mut self, key: &TokenKey, text: &PresentationText) {
        let (texts, newest) = (self.tokens.entry(key.clone()).or_default(), hash(text.as_str()));
        texts.retain(|text| *text != newest);
        texts.push(newest);
        texts.drain(..texts.len().saturating_sub(TEXTS));
    }

    /// Takes the texts of a token from `noted`, in place of its own.
    pub(crate) fn keep(&mut self, key: &TokenKey, noted: &Self) {
        if let Some(texts) = noted.tokens.get(key) {
            self.tokens.insert(key.clone(), texts.clone());
        }
    }

    pub(crate) fn has_tokens(&self) -> bool {
        !self.tokens.is_empty()
    }

    /// The note after a one-shot that has cleared everything in it and has set the tokens of
    /// `set`. The other tokens stay noted, because the server may still apply a report of the
    /// killed reporter.
    #[must_use]
    pub fn after_one_shot(mut self, set: impl Fn(&TokenKey) -> bool) -> Self {
        self.presented_by = None;
        self.tokens.retain(|key, _| !set(key));
        self
    }

    /// The noted tokens that still show the noted text.
    pub(crate) fn tokens_on<'a>(
        &'a self,
        pane: &'a PaneInfo,
    ) -> impl Iterator<Item = &'a TokenKey> {
        let is_left = |key: &TokenKey, texts: &Vec<u64>| {
            pane.tokens.get(key.as_str()).is_some_and(|text| texts.contains(&hash(text)))
        };
        self.tokens.iter().filter(move |(key, texts)| is_left(key, texts)).map(|(key, _)| key)
    }

    /// The note of the last owner in the lease's file. A note that cannot be read counts as
    /// empty.
    pub fn noted_in(mut lease: &File) -> Self {
        let mut note = Vec::new();
        let read = lease.rewind().and_then(|()| lease.take(NOTE_BYTES).read_to_end(&mut note));
        match read {
            // Hooks come here: an error of the JSON reader would cost them 40 µs for its position.
            Ok(0) | Err(_) => Self::default(),
            Ok(_) => serde_json::from_slice(&note).unwrap_or_default(),
        }
    }

    /// Replaces the note in a lease's file. An empty note empties the file.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn note_in(&self, mut lease: &File) -> io::Result<()> {
        let note = if *self == Self::default() { Vec::new() } else { serde_json::to_vec(self)? };
        lease.set_len(0)?;
        lease.rewind()?;
        lease.write_all(&note)
    }
}

fn hash(text: &str) -> u64 {
    stable_hash(&[text.as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f24_a_note_is_read_as_it_was_written_and_holds_no_text() {
        let mut file = tempfile::tempfile().unwrap();
        assert_eq!(Leavings::noted_in(&file), Leavings::default());
        let (key, text) =
            (TokenKey::parse("branch").unwrap(), PresentationText::normalize("secret"));
        let source = SourceId::parse("custom:bot").ok();
        let mut left = Leavings { presented_by: source, ..Leavings::default() };
        left.add(&key, &text.unwrap());
        left.note_in(&file).unwrap();
        assert_eq!(Leavings::noted_in(&file), left);
        let mut note = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut note).unwrap();
        assert!(note.contains("custom:bot") && !note.contains("secret"), "{note}");

        let pane = |text| serde_json::json!({"pane_id": "w1:p1", "tokens": {"branch": text}});
        let pane = |text| serde_json::from_value::<PaneInfo>(pane(text)).unwrap();
        assert_eq!(left.tokens_on(&pane("secret")).count(), 1);
        assert_eq!(left.tokens_on(&pane("another's")).count(), 0);

        assert_eq!(left.clone().after_one_shot(|_| true), Leavings::default());
        Leavings::default().note_in(&file).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 0);
        file.write_all(b"nonsense").unwrap();
        assert_eq!(Leavings::noted_in(&file), Leavings::default());
    }
}
