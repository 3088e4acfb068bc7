//! The demo as a picture that changes in place.

use crate::picture::{Agent, Line, Rows, Style};

/// The width of Herdr's sidebar in columns.
const SIDEBAR: usize = 25;
/// The width of the sidebar with its frame and margin.
const FRAMED: usize = SIDEBAR + 8;
/// The smallest terminal that the picture fits: columns, lines.
pub(super) const ROOM: (u16, u16) = (30, 8);
/// The least width at which the host's events are shown beside the sidebar.
const BESIDE: usize = 60;

pub(super) struct Picture {
    place: String,
    rows: Rows,
    /// What the pane shows, if it shows an agent.
    pub(super) agent: Option<Agent>,
    /// The host's events, oldest first.
    pub(super) events: Vec<String>,
}

impl Picture {
    /// A picture of a pane that shows nothing yet, in a sidebar with these rows.
    pub(super) fn of(place: String, rows: Rows) -> Self {
        Self { place, rows, agent: None, events: Vec::new() }
    }

    /// As much of the picture as fits, the sidebar first.
    pub(super) fn lines(&self, (columns, rows): (usize, usize), colour: bool) -> Vec<Line> {
        let sidebar = self.sidebar(colour);
        let height = sidebar.len();
        if columns >= BESIDE {
            let mut events = self.host_events(height - 1).into_iter();
            let beside = |line: Line| line.fit(FRAMED).then(events.next().unwrap_or_default());
            return sidebar.into_iter().map(beside).collect();
        }
        let room = rows.saturating_sub(height + 2).min(height - 1);
        let mut lines = sidebar;
        if room > 0 {
            lines.push(Line::default());
            lines.extend(self.host_events(room));
        }
        lines
    }

    fn sidebar(&self, colour: bool) -> Vec<Line> {
        let rule = "─".repeat(SIDEBAR);
        let faint = |text: &str| Line::default().blanks(1).with(Style::Faint, text);
        let nobody = || vec![Line::default().blanks(1).with(Style::Faint, "no agent in this pane")];
        let rows = |agent: &Agent| self.rows.of(agent, SIDEBAR, colour);
        let mut shown = self.agent.as_ref().map_or_else(nobody, rows);
        shown.resize(self.rows.len().max(1), Line::default());
        let mut lines = vec![faint(&self.place), faint(&format!("╭{rule}╮"))];
        let framed = |row: &Line| faint("│").then(row.fit(SIDEBAR)).with(Style::Faint, "│");
        lines.extend(shown.iter().map(framed));
        lines.push(faint(&format!("╰{rule}╯")));
        lines
    }

    /// The newest of the host's events, below a heading.
    fn host_events(&self, count: usize) -> Vec<Line> {
        let newest = self.events.iter().skip(self.events.len().saturating_sub(count));
        let newest = newest.map(|event| Line::default().blanks(2).with(Style::Plain, event));
        std::iter::once(Line::of(Style::Faint, " the host says")).chain(newest).collect()
    }
}
