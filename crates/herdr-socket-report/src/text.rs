//! Text for messages: lists of alternatives, quoted values, similar words.

use herdr_proto::strip_controls;
use unicode_width::UnicodeWidthStr;

/// How much of a value a message repeats, in characters.
const SHOWN: usize = 60;

pub(crate) fn alternatives(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// A value in quotes, without control characters and shortened to fit a message.
pub(crate) fn shown(text: &str) -> String {
    let clean = strip_controls(text);
    match clean.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("\"{}…\"", &clean[..end]),
        None => format!("\"{clean}\""),
    }
}

/// Breaks a text into lines of at most `columns` columns, between words where possible.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let width = word.width();
        if used > 0 && used + 1 + width > columns {
            lines.push(String::new());
            used = 0;
        }
        let Some(line) = lines.last_mut() else { continue };
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += width;
    }
    lines
}

/// The known word that is most similar to `word`.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase().replace('-', "_");
    known
        .into_iter()
        .map(|known| (strsim::jaro_winkler(&word, &known.to_lowercase()), known))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found_and_nothing_is_forced() {
        let known = ["any_pane", "agent", "verify", "settle_ms"];
        assert_eq!(nearest("any-pane", known), Some("any_pane"));
        assert_eq!(nearest("veryfy", known), Some("verify"));
        assert_eq!(nearest("settle", known), Some("settle_ms"));
        assert_eq!(nearest("colour", known), None);
    }

    #[test]
    fn lines_break_between_words_and_nothing_is_lost() {
        let text = "a line of /a/very/long/path and words";
        assert_eq!(wrapped(text, usize::MAX), [text]);
        assert_eq!(wrapped(text, 10), ["a line of", "/a/very/long/path", "and words"]);
        for columns in 0..50 {
            assert_eq!(wrapped(text, columns).join(" "), text);
        }
        assert_eq!(wrapped("世界 世界", 5), ["世界", "世界"]);
    }

    #[test]
    fn alternatives_read_like_a_sentence() {
        assert_eq!(alternatives(&["a"]), "a");
        assert_eq!(alternatives(&["a", "b"]), "a or b");
        assert_eq!(alternatives(&["a", "b", "c"]), "a, b or c");
    }
}
