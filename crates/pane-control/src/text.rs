//! Texts as they are typed, and as they appear on a screen.

/// The marks of a bracketed paste, in both spellings of the control sequence.
const PASTE_MARKS: [&str; 4] = ["\u{1b}[200~", "\u{1b}[201~", "\u{9b}200~", "\u{9b}201~"];

/// The text as it is typed: without paste marks and control characters, with `\n` as line ends,
/// and without line ends at its end.
pub(crate) fn neutralise(text: &str) -> String {
    let mut text = text.replace("\r\n", "\n").replace('\r', "\n");
    for mark in PASTE_MARKS {
        text = text.replace(mark, "");
    }
    text.retain(|c| !c.is_control() || matches!(c, '\n' | '\t'));
    text.truncate(text.trim_end_matches('\n').len());
    text
}

/// Whether the rows of a box show this text and nothing else.
///
/// A box wraps, so any spaces of the text may be missing between two rows. Within a row every
/// character counts.
pub(crate) fn shows(box_text: &str, text: &str) -> bool {
    rest_after(box_text, text).is_some_and(|rest| rest.trim().is_empty())
        && !box_text.trim().is_empty()
}

/// The rest of the text after the part that these rows show.
pub(crate) fn rest_after<'t>(rows: &str, text: &'t str) -> Option<&'t str> {
    let mut rest = text;
    for row in rows.lines().map(str::trim).filter(|row| !row.is_empty()) {
        rest = rest.trim_start();
        let mut shown = row.chars().peekable();
        while let Some(c) = shown.next() {
            let mut follows = rest.chars();
            let next = follows.next()?;
            if next == '\t' && c == ' ' {
                // A tab is drawn as spaces.
                while shown.next_if_eq(&' ').is_some() {}
            } else if next != c {
                return None;
            }
            rest = follows.as_str();
        }
    }
    Some(rest)
}

/// Whether the rows show the end of the text, beginning anywhere in it.
pub(crate) fn shows_end(rows: &str, text: &str) -> bool {
    let (rows, text) = (squash(rows), squash(text));
    text.ends_with(&rows)
}

/// The text without any spaces.
pub(crate) fn squash(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_that_is_typed_ends_a_paste_or_presses_a_key() {
        assert_eq!(neutralise("a\u{1b}[201~\rb\u{3}\u{7f}\n\n"), "a\nb");
        assert_eq!(neutralise("\u{1b}[20\u{1b}[201~1~rm"), "[201~rm");
        assert_eq!(neutralise("\tx\u{9b}201~y\r\n"), "\txy");
    }

    #[test]
    fn a_box_shows_a_text_only_if_every_character_is_its_own() {
        assert!(shows("fix the\ntests", "fix the tests"));
        assert!(shows("averylong\nword", "averylongword"));
        assert!(shows("if x:\n  y()", "if x:\n    y()"));
        assert!(shows("a    b", "a\tb"));
        for other in
            ["fix the testsx", "fix thetests", "fix the", "xfix the tests", "fix  the tests"]
        {
            assert!(!shows(other, "fix the tests"), "{other}");
        }
        assert!(!shows("", "") && !shows(" ", "x"));
    }

    proptest! {
        #[test]
        fn wrapping_never_hides_a_text_and_a_character_more_always_shows(
            text in "[a-c ]{0,30}[a-c]", width in 1_usize..12, at in 0_usize..30,
        ) {
            let wrapped = |text: &str| {
                let chars: Vec<char> = text.chars().collect();
                let rows = chars.chunks(width).map(|row| row.iter().collect::<String>());
                rows.collect::<Vec<_>>().join("\n")
            };
            prop_assert!(shows(&wrapped(&text), &text));
            let mut other = text.clone();
            other.insert(at.min(other.len()), 'z');
            prop_assert!(!shows(&wrapped(&other), &text));
        }

        #[test]
        fn neutral_texts_stay_as_they_are(text in "\\PC*") {
            let once = neutralise(&text);
            prop_assert_eq!(neutralise(&once), once);
        }
    }
}
