//! The agents as a picture that is redrawn.

use std::time::Instant;

use super::lines::age;
use super::table::Row;
use crate::picture::{Line, Style};
use crate::text::wrapped;

/// The greatest width of a name, and of a state's text, in columns.
const TEXT_MAX: usize = 30;

/// The columns and lines to draw on, and whether there are colours.
pub(super) type Paper = ((usize, usize), bool);

pub(super) fn lines(
    rows: &[Row],
    place: &str,
    waiting: Option<&str>,
    ((columns, room), colour): Paper,
    now: Instant,
) -> Vec<Line> {
    let counted = match rows.len() {
        // Without a server the agents are not known.
        0 if waiting.is_some() => "no server".to_owned(),
        0 => "no agents".to_owned(),
        1 => "1 agent".to_owned(),
        many => format!("{many} agents"),
    };
    let mut lines = vec![Line::of(Style::Strong, &counted).blanks(2).with(Style::Faint, place)];
    if let Some(why) = waiting {
        let text = format!("waiting for the server: {why}");
        lines.extend(wrapped(&text, columns).iter().map(|line| Line::of(Style::Red, line)));
    }
    let width = |text: fn(&Row) -> &str| {
        let widths = rows.iter().map(|row| Line::of(Style::Plain, text(row)).width());
        widths.max().unwrap_or(0).min(TEXT_MAX)
    };
    let columns = (width(|row| &row.agent.name), width(|row| row.agent.state_text()));
    for (place, row) in rows.iter().enumerate() {
        let entry = entry(row, columns, colour, now);
        let last = place + 1 == rows.len();
        // One line is kept to say how many agents do not fit.
        if lines.len() + entry.len() + usize::from(!last) > room {
            let left = format!("+{} more", rows.len() - place);
            lines.push(Line::default().blanks(2).with(Style::Faint, &left));
            break;
        }
        lines.extend(entry);
    }
    lines.truncate(room);
    lines
}

/// One or two lines: the agent with the age of its state, and what it works on, if known.
fn entry(row: &Row, (name, state): (usize, usize), colour: bool, now: Instant) -> Vec<Line> {
    let agent = &row.agent;
    let (style, sign) = agent.sign(colour);
    let first = Line::of(style, sign)
        .blanks(1)
        .then(Line::of(Style::Strong, &agent.name).fit(name))
        .blanks(2)
        .then(Line::of(style, agent.state_text()).fit(state))
        .blanks(2)
        .then(Line::of(Style::Plain, &age(row, now)).fit(7))
        .blanks(2)
        .with(Style::Faint, &agent.workspace);
    let title = agent.title.as_deref().map(|title| Line::of(Style::Plain, title).blanks(2));
    let second = title.unwrap_or_default().with(Style::Faint, &agent.tokens());
    let mut lines = vec![first];
    if second.width() > 0 {
        lines.push(Line::default().blanks(2).then(second));
    }
    lines
}
