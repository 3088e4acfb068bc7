//! Words around the input boxes of agents that tell their state.

/// Words in or below a dialog.
const DIALOG: [&str; 14] = [
    "enter to confirm",
    "enter to select",
    "enter to submit",
    "enter to continue",
    "esc to cancel",
    "esc to exit",
    "arrow keys to navigate",
    "arrows to navigate",
    "↑/↓ to navigate",
    "↑↓ to navigate",
    "allow command?",
    "do you want to",
    "would you like to",
    "[y/n]",
];

/// What an agent shows while it works.
const BUSY: [&str; 2] = ["esc to interrupt", "ctrl+c to interrupt"];

pub(super) fn says_dialog<'a>(rows: impl IntoIterator<Item = &'a str>) -> bool {
    any(rows, &DIALOG)
}

pub(super) fn says_busy<'a>(rows: impl IntoIterator<Item = &'a str>) -> bool {
    any(rows, &BUSY)
}

fn any<'a>(rows: impl IntoIterator<Item = &'a str>, words: &[&str]) -> bool {
    rows.into_iter().any(|row| {
        let row = row.to_lowercase();
        words.iter().any(|word| row.contains(word))
    })
}

/// Whether a row is a marked choice: `❯ 1. Yes`.
pub(super) fn is_choice(row: &str, marker: char) -> bool {
    let Some(rest) = row.trim_start_matches(['│', ' ']).strip_prefix(marker) else {
        return false;
    };
    let number: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
    !number.is_empty() && rest.trim_start()[number.len()..].starts_with(['.', ')'])
}

/// Whether a text is a slash command: a slash, and a word without another slash.
pub(super) fn is_slash_command(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('/') else {
        return false;
    };
    let word = rest.split([' ', '\n']).next().unwrap_or_default();
    !text.contains('\n')
        && word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':'))
}

/// Splits a text at the short form of a paste: the text before it, the short form, the text
/// after it.
pub(super) fn split_fold<'a>(text: &'a str, beginnings: &[&str]) -> Option<[&'a str; 3]> {
    let start = beginnings.iter().filter_map(|beginning| text.find(beginning)).min()?;
    let end = start + text[start..].find(']')? + 1;
    Some([&text[..start], &text[start..end], &text[end..]])
}

/// The number directly before this word in a short form.
pub(super) fn number_before(fold: &str, word: &str) -> Option<usize> {
    let before = fold[..fold.find(word)?].trim_end();
    let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_commands_and_short_forms() {
        assert!(is_choice("│ ❯ 1. Yes", '❯') && is_choice("❯ 12) No", '❯'));
        assert!(!is_choice("❯ 1st of all", '❯') && !is_choice("  1. Yes", '❯'));
        for command in ["/clear", "/compact keep the plan", "/mcp__x:y-z"] {
            assert!(is_slash_command(command), "{command}");
        }
        for text in ["/usr/bin/x fails", "clear", "/", "/a\nb", "/1"] {
            assert!(!is_slash_command(text), "{text}");
        }
        let text = "see [Pasted text #2 +41 lines] please";
        let [before, fold, after] = split_fold(text, &["[Pasted text #"]).unwrap();
        assert_eq!((before, fold, after), ("see ", "[Pasted text #2 +41 lines]", " please"));
        assert_eq!(number_before(fold, " line"), Some(41));
        assert_eq!(number_before("[Pasted Content 2668 chars]", " char"), Some(2668));
    }
}
