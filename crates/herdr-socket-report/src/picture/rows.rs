//! The rows of an agent in Herdr's sidebar.

use super::{Agent, Line, Style};

/// The tokens of each row, by their names in Herdr's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rows(Vec<Vec<String>>);

/// The indent of the first row and of the others.
const INDENT: (usize, usize) = (1, 3);

impl<Token: ToString, Row: IntoIterator<Item = Token>> FromIterator<Row> for Rows {
    fn from_iter<T: IntoIterator<Item = Row>>(rows: T) -> Self {
        let tokens = |row: Row| row.into_iter().map(|token| token.to_string()).collect();
        Self(rows.into_iter().map(tokens).collect())
    }
}

impl Rows {
    /// The number of lines of an agent that has something for each row.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// An agent in a sidebar of this width. A row without anything to show is left out.
    pub(crate) fn of(&self, agent: &Agent, columns: usize, colour: bool) -> Vec<Line> {
        let mut lines = Vec::new();
        for row in &self.0 {
            let pieces: Vec<_> =
                row.iter().filter_map(|token| Piece::of(token, agent, colour)).collect();
            if !pieces.is_empty() {
                let indent = if lines.is_empty() { INDENT.0 } else { INDENT.1 };
                let room = columns.saturating_sub(indent);
                let line = Line::default().blanks(indent).then(joined(&pieces, room));
                lines.push(line.cut(columns));
            }
        }
        lines
    }
}

/// One token of a row with its text.
struct Piece {
    line: Line,
    is_icon: bool,
}

impl Piece {
    fn of(token: &str, agent: &Agent, colour: bool) -> Option<Self> {
        let (state, sign) = agent.sign(colour);
        if token == "state_icon" {
            return Some(Self { line: Line::of(state, sign), is_icon: true });
        }
        let style = match token {
            "state_text" => state,
            "workspace" => Style::Strong,
            _ => Style::Faint,
        };
        let text = agent.text(token).filter(|text| !text.is_empty())?;
        Some(Self { line: Line::of(style, text), is_icon: false })
    }
}

/// Joins the pieces to one line. Pieces that do not fit are each cut to a share of the room.
fn joined(pieces: &[Piece], room: usize) -> Line {
    let between = |before: &Piece| {
        let line = Line::default().blanks(1);
        if before.is_icon { line } else { line.with(Style::Faint, "·").blanks(1) }
    };
    let gaps: usize = pieces.iter().rev().skip(1).map(|before| between(before).width()).sum();
    let widths: Vec<_> = pieces.iter().map(|piece| piece.line.width()).collect();
    let shares = shares(&widths, room.saturating_sub(gaps));
    let mut line = Line::default();
    for (place, (piece, share)) in pieces.iter().zip(shares).enumerate() {
        if place > 0 {
            line = line.then(between(&pieces[place - 1]));
        }
        line = line.then(piece.line.cut(share));
    }
    line
}

/// Divides the columns: each goes to the piece that has the fewest and needs more.
fn shares(widths: &[usize], room: usize) -> Vec<usize> {
    let mut shares = vec![0; widths.len()];
    for _ in 0..room {
        let wanting = (0..widths.len()).filter(|&place| shares[place] < widths[place]);
        let Some(next) = wanting.min_by_key(|&place| shares[place]) else { break };
        shares[next] += 1;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::agent::tests::agent;

    fn drawn(rows: &[&[&str]], agent: &Agent, columns: usize) -> Vec<String> {
        let rows: Rows = rows.iter().map(|row| row.iter().copied()).collect();
        let lines = rows.of(agent, columns, false);
        assert!(lines.iter().all(|line| line.width() <= columns));
        lines.iter().map(|line| line.text(false)).collect()
    }

    #[test]
    fn rows_show_what_they_name_and_no_more() {
        let agent = agent(
            r#""agent": "bot", "agent_status": "blocked", "state_labels": {"blocked": "Run it?"},
               "title": "Fix it", "terminal_title": "⠋ vim", "tokens": {"ctx": "4k", "model": "m"}"#,
        );
        let rows: &[&[&str]] = &[
            &["state_icon", "workspace", "tab"],
            &["agent"],
            &["state_text"],
            &["pane"],
            &["$model", "$ctx"],
        ];
        let expected = [" × web · fix", "   bot", "   Run it?", "   Fix it", "   m · 4k"];
        assert_eq!(drawn(rows, &agent, 25), expected);
        let rows: &[&[&str]] = &[
            &["agent", "state_icon", "$branch", "nonsense"],
            &["$branch"],
            &["terminal_title", "terminal_title_stripped"],
        ];
        assert_eq!(drawn(rows, &agent, 25), [" bot · ×", "   ⠋ vim"]);
        let coloured: Rows = [["state_icon", "agent"]].into_iter().collect();
        let line = coloured.of(&agent, 25, true)[0].text(true);
        assert!(line.starts_with(" \u{1b}[31m●\u{1b}[0m "), "{line:?}");
    }

    #[test]
    fn what_does_not_fit_shares_the_row() {
        let agent = agent(
            r#""agent": "a-long-name-of-an-agent", "agent_status": "idle",
               "tokens": {"model": "large-2", "ctx": "19k/200k"}"#,
        );
        let rows: &[&[&str]] = &[&["agent", "$model"], &["$model", "$ctx"]];
        assert_eq!(drawn(rows, &agent, 25), [" a-long-name-o… · large-2", "   large-2 · 19k/200k"]);
        assert_eq!(drawn(rows, &agent, 14), [" a-lo… · larg…", "   lar… · 19k…"]);
        for columns in 0..40 {
            drawn(rows, &agent, columns);
        }
    }
}
