use super::words::{
    is_choice, is_slash_command, number_before, says_busy, says_dialog, split_fold,
};
use super::{BoxState, Look, Profile, Scene};
use crate::key::Key;
use crate::screen::Row;
use crate::text;

/// Codex: the `›` box without a frame at the bottom, with hints below a blank row. Long pastes
/// are folded (`[Pasted Content 2668 chars]`), and suggestions are faint.
#[derive(Debug, Clone, Copy, Default)]
pub struct Codex;

const FOLDS: [&str; 1] = ["[Pasted Content "];

/// Words that occur only in the row of hints.
const HINTS: [&str; 7] =
    ["context left", "? for shortcuts", "to send", "⏎ send", "to quit", "to queue", "tokens used"];

impl Profile for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn look(&self, scene: &Scene) -> Look {
        let rows = scene.screen.rows();
        let bottom = || rows.iter().rev().take(20).map(Row::text);
        let busy = says_busy(bottom());
        let Some(start) = rows.iter().rposition(|row| row.text().starts_with('›')) else {
            let state = if says_dialog(bottom()) {
                BoxState::Dialog
            } else if busy {
                BoxState::Busy
            } else {
                BoxState::Unknown
            };
            let transcript = rows.iter().map(|row| row.text().to_owned()).collect();
            return Look { state, busy, transcript, ..Look::default() };
        };
        let (body, below) = without_hints(&rows[start..]);
        let text = body.iter().map(|row| row.solid().trim_start_matches('›').trim());
        let text = text.collect::<Vec<_>>().join("\n").trim().to_owned();
        let dialog = is_choice(rows[start].text(), '›') || says_dialog(below.iter().map(Row::text));
        let state = match text.is_empty() {
            _ if dialog => BoxState::Dialog,
            true => BoxState::Empty,
            false => BoxState::Dirty,
        };
        let menu = below
            .iter()
            .map(|row| row.text().trim())
            .any(|row| is_slash_command(row.split("  ").next().unwrap_or_default()));
        let transcript = rows[..start].iter().map(|row| row.text().to_owned()).collect();
        Look { state, busy, menu, text, transcript }
    }

    fn holds(&self, look: &Look, text: &str) -> bool {
        let Some([before, fold, after]) = split_fold(&look.text, &FOLDS) else {
            return text::shows(&look.text, text);
        };
        let whole = before.is_empty() && after.trim().is_empty();
        whole && number_before(fold, " char") == Some(text.chars().count())
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

/// Splits the rows of the box from hints or a list below them.
fn without_hints(rows: &[Row]) -> (&[Row], &[Row]) {
    let Some(blank) = rows.iter().rposition(|row| row.text().is_empty()) else {
        return (rows, &[]);
    };
    let below = &rows[blank + 1..];
    let hint = |row: &Row| {
        let text = row.text().to_lowercase();
        row.solid().is_empty()
            || HINTS.iter().any(|word| text.contains(word))
            || text.contains(" · ")
            || says_dialog([text.as_str()])
            || is_slash_command(text.trim().split("  ").next().unwrap_or_default())
    };
    if below.iter().any(hint) { (&rows[..blank], below) } else { (rows, &[]) }
}
