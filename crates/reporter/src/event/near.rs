//! Words that somebody most likely meant.

use herdr_proto::strip_controls;

/// Longest foreign name that a message repeats, in characters.
const NAME_SHOWN: usize = 40;
/// From this likeness on a word is taken for another one, written wrong.
const LIKE: f64 = 0.85;

/// A name of somebody else's, cleaned and cut.
pub(super) fn shown(name: &str) -> String {
    strip_controls(name).chars().take(NAME_SHOWN).collect()
}

/// The known word that is most like `word`, if one is. Hosts of other languages write `toolId` and
/// `tool-id` for `tool_id`.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = folded(word);
    known
        .into_iter()
        .map(|known| (strsim::jaro_winkler(&word, &folded(known)), known))
        .filter(|(likeness, _)| *likeness >= LIKE)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, known)| known)
}

/// Without what only the manner of writing makes of a word. What is not shown of a long one is not
/// compared either.
fn folded(word: &str) -> String {
    let letters = word.chars().take(NAME_SHOWN).filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}
