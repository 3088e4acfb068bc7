//! What a transcript gained between two looks.

use crate::text::{rest_after, squash};

/// How many rows at the end of a transcript a program may redraw: a spinner, hints, blank rows
/// before the box.
const REDRAWN: usize = 8;

/// A longer text (without spaces) is recognised by its end, because a program may cut it, or it
/// may be taller than the screen.
const LONG: usize = 200;

/// How far into a row a text may begin, after a prompt.
const PROMPT: usize = 200;

/// Whether the transcript gained the text, or the short form that stood for it in the box.
pub(crate) fn gained(before: &[String], after: &[String], text: &str, fold: Option<&str>) -> bool {
    match new_rows(before, after) {
        // A text in redrawn rows may be the same as in the new ones.
        Some((redrawn, new)) => count(new, text, fold) > count(redrawn, text, fold),
        // Nothing of the old transcript is left for a comparison.
        None => count(after, text, fold) > count(before, text, fold),
    }
}

/// Whether the text stands anywhere in the rows.
pub(crate) fn holds(rows: &[String], text: &str) -> bool {
    count(rows, text, None) > 0
}

/// How often the rows show this text as a message: from a prompt or the beginning of a row to
/// the end of a row. A longer text that contains it does not count.
fn count(rows: &[String], text: &str, fold: Option<&str>) -> usize {
    let rows: Vec<&str> = rows.iter().map(|row| unframed(row)).collect();
    let exact = |text: &str| (0..rows.len()).filter(|at| stands(&rows[*at..], text)).count();
    let whole: Vec<char> = squash(text).chars().collect();
    let said = if whole.len() > LONG {
        let tail: String = whole[whole.len() - LONG / 2..].iter().collect();
        let mut shown = String::new();
        let ends = rows.iter().filter(|row| {
            shown.push_str(&squash(row));
            !row.is_empty() && shown.ends_with(&tail)
        });
        ends.count()
    } else {
        exact(text)
    };
    said + fold.map_or(0, exact)
}

/// Whether the text begins in the first of these rows and ends at the end of a row.
fn stands(rows: &[&str], text: &str) -> bool {
    let Some((first, others)) = rows.split_first() else {
        return false;
    };
    let begins = first.char_indices().map(|(at, _)| at).take(PROMPT);
    begins.filter(|at| is_prompt(&first[..*at])).any(|at| {
        let rows = std::iter::once(&first[at..]).chain(others.iter().copied());
        let mut rest = text;
        for row in rows {
            match rest_after(row, rest) {
                Some(after) if after.trim().is_empty() => return true,
                Some(after) => rest = after,
                None => return false,
            }
        }
        false
    })
}

/// Whether a message may follow after this.
fn is_prompt(before: &str) -> bool {
    !before.contains(char::is_alphanumeric)
        || before.trim_end().ends_with(['$', '#', '%', '>', '❯', '›', '➜', '»'])
}

/// A row without spaces and the sides of a frame.
fn unframed(row: &str) -> &str {
    row.trim().trim_matches(['│', '┃', '▌', '▎']).trim()
}

/// The rows that are new below the old ones, and the old rows in their place. A screen scrolls
/// up, so the remaining old rows are at the top of the new ones.
fn new_rows<'a>(before: &'a [String], after: &'a [String]) -> Option<(&'a [String], &'a [String])> {
    let old = before;
    let before: Vec<&str> = before.iter().map(|row| row.trim()).collect();
    let after_rows: Vec<&str> = after.iter().map(|row| row.trim()).collect();
    if before.iter().all(|row| row.is_empty()) {
        return Some((&[], after));
    }
    (0..=REDRAWN.min(before.len())).find_map(|redrawn| {
        let kept = &before[..before.len() - redrawn];
        (0..kept.len())
            .map(|scrolled| &kept[scrolled..])
            .take_while(|kept| kept.iter().any(|row| !row.is_empty()))
            .find(|kept| after_rows.starts_with(kept))
            .map(|kept| (&old[old.len() - redrawn..], &after[kept.len()..]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_text_that_was_there_before_counts_only_when_it_came_again() {
        let before = rows("> go on\ndone\n> go on\ndone");
        assert!(!gained(&before, &before, "go on", None));
        assert!(gained(&before, &rows("> go on\ndone\n> go on\ndone\n> go on"), "go on", None));
        // It scrolled by one row, and the spinner below is another one.
        assert!(gained(&before, &rows("done\n> go on\ndone\n> go on\n* Thinking"), "go on", None));
        let spinning = rows("a\nb\n* Thinking 1s");
        assert!(!gained(&spinning, &rows("a\nb\n* Thinking 2s"), "go on", None));
        assert!(gained(&spinning, &rows("a\nb\n> go\n   on\n* Thinking 2s"), "go on", None));
    }

    #[test]
    fn a_text_within_another_is_not_what_was_said() {
        for other in ["> go on please", "> please go on", "> go once"] {
            assert!(!gained(&rows("hi"), &rows(&format!("hi\n{other}")), "go on", None), "{other}");
        }
        for said in ["> go on", "│ ❯ go    on │", "me@host:~/src$ go on", "say> go\n  on"] {
            let said = said.replace("    ", " ");
            assert!(gained(&rows("hi"), &rows(&format!("hi\n{said}")), "go on", None), "{said}");
        }
    }

    #[test]
    fn an_old_text_that_changed_its_place_is_not_a_new_one() {
        let before = rows("welcome\n> hi\n* done\n> go on\n* done");
        assert!(!gained(&before, &rows("welcome\n> go on\n* done"), "go on", None));
    }

    #[test]
    fn an_empty_transcript_and_a_cleared_one() {
        assert!(gained(&[], &rows("> hello"), "hello", None));
        assert!(gained(&rows("old\nolder"), &rows("> hello"), "hello", None));
        assert!(!gained(&rows("> hello"), &[], "hello", None));
    }

    #[test]
    fn a_long_text_is_known_by_its_ends_or_its_short_form() {
        let long = "word ".repeat(4000);
        let tail = vec!["word ".repeat(60)];
        assert!(gained(&rows("hi"), &[rows("hi"), tail].concat(), &long, None));
        let folded = rows("hi\n> [Pasted text #1 +9 lines]");
        assert!(gained(&rows("hi"), &folded, &long, Some("[Pasted text #1 +9 lines]")));
        assert!(!gained(&folded, &folded, &long, Some("[Pasted text #1 +9 lines]")));
    }
}
