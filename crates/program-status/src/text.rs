use std::fmt;

use unicode_segmentation::UnicodeSegmentation;

const ELLIPSIS: &str = "…";

/// One visible line of text. `Debug` shows only its length, so that titles and messages do not
/// reach a log.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Line(String);

impl Line {
    /// Cleans a text like the texts of Herdr's panes, and cuts it to `max` bytes. `None` if
    /// nothing visible remains.
    pub(crate) fn clean(text: &str, max: usize) -> Option<Self> {
        let clean = herdr_proto::strip_controls(text);
        (!clean.is_empty()).then(|| Self(cut(clean, max)))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} bytes>", self.0.len())
    }
}

/// Cuts the text between grapheme clusters so that it fits into `max` bytes together with `…`.
fn cut(text: String, max: usize) -> String {
    if text.len() <= max {
        return text;
    }
    let room = max - ELLIPSIS.len();
    let fits = |end: &usize| *end <= room;
    let clusters = text.grapheme_indices(true).map(|(start, cluster)| start + cluster.len());
    let end = clusters.take_while(fits).last().unwrap_or_default();
    let kept = match text[..end].trim_end() {
        // A single cluster is too long, so the cut goes through it.
        "" => &text[..(0..=room).rfind(|end| text.is_char_boundary(*end)).unwrap_or_default()],
        kept => kept,
    };
    kept.to_owned() + ELLIPSIS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(text: &str, max: usize) -> String {
        Line::clean(text, max).map_or_else(String::new, |line| line.0)
    }

    #[test]
    fn a_text_becomes_one_visible_line() {
        for (raw, line) in [
            ("\u{1b}[31mred\u{1b}[0m\nline 2\ttab", "red line 2 tab"),
            ("safe\u{202e}txt.exe", "safetxt.exe"),
            (" \u{1b}]0;title\u{7}\r\n", ""),
            ("安全", "安全"),
        ] {
            assert_eq!(clean(raw, 100), line, "{raw:?}");
        }
    }

    #[test]
    fn a_long_text_is_cut_between_clusters() {
        let family = "👩\u{200d}👩\u{200d}👧";
        assert_eq!(clean("abcdef", 6), "abcdef");
        assert_eq!(clean("abcdefg", 6), "abc…");
        assert_eq!(clean("ab cdefg", 6), "ab…");
        assert_eq!(clean(&family.repeat(3), 2 * family.len() + 3), family.repeat(2) + "…");
        assert_eq!(clean(&family.repeat(3), 2 * family.len() + 2), family.to_owned() + "…");
        assert_eq!(clean(&format!("a{}", "\u{301}".repeat(9)), 8), "a\u{301}\u{301}…");
    }
}
