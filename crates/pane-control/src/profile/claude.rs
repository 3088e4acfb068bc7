use super::words::{
    is_choice, is_slash_command, number_before, says_busy, says_dialog, split_fold,
};
use super::{BoxState, Look, Profile, Scene};
use crate::key::Key;
use crate::screen::Row;
use crate::text;

/// Claude Code: the `❯` box between two rules, or the framed `>` box of older versions.
///
/// Pastes may be folded (`[Pasted text #1 +41 lines]`), suggestions are faint, and hints or a
/// menu stand below the box. A box in another mode (`!`, `#`) counts as dirty, because Enter
/// has another effect there.
#[derive(Debug, Clone, Copy, Default)]
pub struct Claude;

const FOLDS: [&str; 3] = ["[Pasted text #", "[...Truncated text #", "[Image #"];

impl Profile for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn look(&self, scene: &Scene) -> Look {
        let rows = scene.screen.rows();
        match find_box(rows) {
            Some((top, bottom)) => {
                look_at_box(&rows[..top], &rows[top + 1..bottom], &rows[bottom + 1..])
            }
            None => look_without_box(rows),
        }
    }

    fn holds(&self, look: &Look, text: &str) -> bool {
        let Some([before, fold, after]) = split_fold(&look.text, &FOLDS) else {
            return text::shows(&look.text, text);
        };
        let Some(rest) = text::rest_after(before, text) else {
            return false;
        };
        let lines = number_before(fold, " line");
        let fits = lines.is_none_or(|lines| {
            let in_text = rest.matches('\n').count();
            // With text around it, a fold stands for a part of the text.
            if before.is_empty() && after.trim().is_empty() {
                lines == in_text
            } else {
                lines <= in_text
            }
        });
        fits && !fold.starts_with("[Image") && text::shows_end(after, rest)
    }

    fn fold(&self, look: &Look) -> Option<String> {
        split_fold(&look.text, &FOLDS).map(|[_, fold, _]| fold.to_owned())
    }

    fn brackets(&self) -> bool {
        true
    }

    fn is_command(&self, text: &str) -> bool {
        is_slash_command(text)
    }

    fn interrupt(&self) -> Key {
        Key::escape()
    }
}

fn look_at_box(above: &[Row], body: &[Row], below: &[Row]) -> Look {
    let transcript: Vec<String> = above.iter().map(|row| row.text().to_owned()).collect();
    let around = || {
        let before = above.iter().rev().filter(|row| !row.text().is_empty()).take(6);
        before.chain(below).map(Row::text)
    };
    let mut typed: Vec<&str> = body.iter().map(|row| unframed(row.solid())).collect();
    let first = typed.first().copied().unwrap_or_default();
    let mode = first.chars().next().filter(|c| matches!(c, '!' | '#'));
    if let Some(first) = typed.first_mut() {
        *first = mode.map_or_else(|| first.trim_start_matches(['❯', '>']), |_| first).trim();
    }
    let text = typed.join("\n").trim().to_owned();
    let dialog = says_dialog(below.iter().map(Row::text))
        || (body.len() > 1 && is_choice(body[0].text(), '❯'));
    let state = match text.is_empty() {
        _ if dialog => BoxState::Dialog,
        true => BoxState::Empty,
        false => BoxState::Dirty,
    };
    // Completions stand in the place of the hints.
    let menu = below.iter().map(|row| row.text().trim_start_matches(['❯', ' '])).any(|row| {
        row.starts_with("+ ") || is_slash_command(row.split("  ").next().unwrap_or_default())
    });
    Look { state, busy: says_busy(around()), menu, text, transcript }
}

fn look_without_box(rows: &[Row]) -> Look {
    let bottom = || rows.iter().rev().take(20).map(Row::text);
    let busy = says_busy(bottom());
    let state = if says_dialog(bottom()) || bottom().any(|row| is_choice(row, '❯')) {
        BoxState::Dialog
    } else if busy {
        BoxState::Busy
    } else {
        BoxState::Unknown
    };
    let transcript = rows.iter().map(|row| row.text().to_owned()).collect();
    Look { state, busy, transcript, ..Look::default() }
}

/// The rules above and below the lowest box.
fn find_box(rows: &[Row]) -> Option<(usize, usize)> {
    let rules: Vec<usize> = (0..rows.len()).filter(|at| is_rule(rows[*at].text())).collect();
    rules.windows(2).rev().map(|pair| (pair[0], pair[1])).next().filter(|(top, bottom)| {
        rows[top + 1..*bottom]
            .first()
            .is_some_and(|row| unframed(row.text()).starts_with(['❯', '>', '!', '#']))
    })
}

/// A horizontal rule, which may contain a title or be the edge of a frame.
fn is_rule(row: &str) -> bool {
    let row = row.trim();
    let dashes = row.chars().filter(|c| matches!(c, '─' | '━')).count();
    row.starts_with(['─', '━', '╭', '╰']) && dashes >= 8 && 2 * dashes >= row.chars().count()
}

/// A row without the sides of a frame.
fn unframed(row: &str) -> &str {
    row.trim().trim_start_matches('│').trim_end_matches('│').trim()
}
