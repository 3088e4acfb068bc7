//! The demo as a picture that changes in place.

use crate::picture::{Agent, Line, Style};

/// Columns of Herdr's sidebar, and the rows that it shows of an agent here.
const SIDEBAR: (usize, usize) = (25, 5);
/// Columns of the sidebar with its frame and what is around it.
const FRAMED: usize = SIDEBAR.0 + 8;
/// Lines of the sidebar with its frame and its heading.
const LINES: usize = SIDEBAR.1 + 3;
/// Smallest terminal that holds the picture: columns, lines.
pub(super) const ROOM: (u16, u16) = (30, 8);
/// Columns from which on what the host says is shown beside the sidebar.
const BESIDE: usize = 60;

pub(super) struct Picture {
    place: String,
    /// What the pane shows, if it shows an agent.
    pub(super) agent: Option<Agent>,
    /// What the host said, oldest first.
    pub(super) said: Vec<String>,
}

impl Picture {
    /// A picture of a pane that shows nothing yet.
    pub(super) fn of(place: String) -> Self {
        Self { place, agent: None, said: Vec::new() }
    }

    /// As much of it as fits; the sidebar comes first.
    pub(super) fn lines(&self, (columns, rows): (usize, usize), colour: bool) -> Vec<Line> {
        let sidebar = self.sidebar(colour);
        if columns >= BESIDE {
            let mut said = self.said(LINES - 1).into_iter();
            let beside = |line: Line| line.fit(FRAMED).then(said.next().unwrap_or_default());
            return sidebar.into_iter().map(beside).collect();
        }
        let room = rows.saturating_sub(LINES + 2).min(LINES - 1);
        let mut lines = sidebar;
        if room > 0 {
            lines.push(Line::default());
            lines.extend(self.said(room));
        }
        lines
    }

    fn sidebar(&self, colour: bool) -> Vec<Line> {
        let (columns, rows) = SIDEBAR;
        let rule = "─".repeat(columns);
        let faint = |text: &str| Line::default().blanks(1).with(Style::Faint, text);
        let nobody = || vec![Line::of(Style::Faint, "- no agent in this pane")];
        let mut shown = self.agent.as_ref().map_or_else(nobody, |agent| agent.rows(colour));
        shown.resize(rows, Line::default());
        let mut lines = vec![faint(&self.place), faint(&format!("╭{rule}╮"))];
        let framed = |row: &Line| faint("│").then(row.fit(columns)).with(Style::Faint, "│");
        lines.extend(shown.iter().map(framed));
        lines.push(faint(&format!("╰{rule}╯")));
        lines
    }

    /// The newest of what the host said, below a heading.
    fn said(&self, count: usize) -> Vec<Line> {
        let newest = self.said.iter().skip(self.said.len().saturating_sub(count));
        let newest = newest.map(|said| Line::default().blanks(2).with(Style::Plain, said));
        std::iter::once(Line::of(Style::Faint, " the host says")).chain(newest).collect()
    }
}
