//! Names in error messages: how a foreign name is shown, and which known name was probably meant.

use herdr_proto::strip_controls;

/// The most characters of a foreign name that a message repeats.
const NAME_SHOWN: usize = 40;
/// From this similarity on, a word counts as a misspelled other word.
const SIMILAR: f64 = 0.85;

/// A foreign name without control characters, cut to [`NAME_SHOWN`].
pub(super) fn shown(name: &str) -> String {
    strip_controls(name).chars().take(NAME_SHOWN).collect()
}

/// The known word that is most similar to `word`, if one is similar enough. Hosts in other
/// languages write `toolId` or `tool-id` for `tool_id`.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = folded(word);
    known
        .into_iter()
        .map(|known| (strsim::jaro_winkler(&word, &folded(known)), known))
        .filter(|(similarity, _)| *similarity >= SIMILAR)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, known)| known)
}

/// The word in lower case and without separators. Only the first [`NAME_SHOWN`] characters are
/// compared.
fn folded(word: &str) -> String {
    let letters = word.chars().take(NAME_SHOWN).filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}
