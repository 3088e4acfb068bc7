//! The agents as a picture that is drawn again and again.

use std::time::Instant;

use super::table::Row;
use super::told::age;
use crate::commands::demo::view::{Line, Style, cut, look};
use crate::text::wrapped;

/// Most columns of a name, and of a state's text.
const TEXT_MAX: usize = 30;

/// The picture, for so many columns and of at most so many lines; `tick` turns
/// what works.
pub(crate) fn lines(
    rows: &[Row],
    place: &str,
    waiting: Option<&str>,
    ((columns, room), tick, now): ((usize, usize), usize, Instant),
) -> Vec<Line> {
    let counted = match rows.len() {
        // Nobody knows.
        0 if waiting.is_some() => "no server".to_owned(),
        0 => "no agents".to_owned(),
        1 => "1 agent".to_owned(),
        many => format!("{many} agents"),
    };
    let head = Line::default().with(Style::Strong, &counted).blanks(2).with(Style::Faint, place);
    let mut lines = vec![head];
    if let Some(why) = waiting {
        let text = format!("waiting for the server: {why}");
        let broken = wrapped(&text, columns);
        lines.extend(broken.iter().map(|line| Line::default().with(Style::Blocked, line)));
    }
    let width = |text: fn(&Row) -> &str| {
        let widest = rows.iter().map(|row| Line::default().with(Style::Plain, text(row)).width());
        widest.max().unwrap_or(0).min(TEXT_MAX)
    };
    let columns = (width(|row| &row.agent.name), width(state));
    let entries: Vec<_> = rows.iter().map(|row| entry(row, columns, tick, now)).collect();
    for (place, entry) in entries.iter().enumerate() {
        let last = place + 1 == entries.len();
        // A line is kept for the words about those that do not fit.
        if lines.len() + entry.len() + usize::from(!last) > room {
            let left = format!("+{} more", entries.len() - place);
            lines.push(Line::default().blanks(2).with(Style::Faint, &left));
            break;
        }
        lines.extend_from_slice(entry);
    }
    lines.truncate(room);
    lines
}

fn state(row: &Row) -> &str {
    row.agent.label.as_deref().unwrap_or(&row.agent.state)
}

/// One or two lines: who and since when; and on what, if anybody said so.
fn entry(row: &Row, columns: (usize, usize), tick: usize, now: Instant) -> Vec<Line> {
    let agent = &row.agent;
    let (style, glyph) = look(&agent.status, tick);
    let padded = |style: Style, text: &str, columns: usize| {
        let text = Line::default().with(style, &cut(text, columns));
        let gap = columns.saturating_sub(text.width());
        text.blanks(gap)
    };
    let first = Line::default()
        .with(style, glyph)
        .blanks(1)
        .then(padded(Style::Strong, &agent.name, columns.0))
        .blanks(2)
        .then(padded(style, state(row), columns.1))
        .blanks(2)
        .then(padded(Style::Plain, &age(row, now), 7))
        .blanks(2)
        .with(Style::Faint, &agent.workspace);
    let tokens = agent.tokens(" · ");
    if agent.title.is_none() && tokens.is_empty() {
        return vec![first];
    }
    let mut second = Line::default().blanks(2);
    if let Some(title) = &agent.title {
        second = second.with(Style::Plain, title).blanks(2);
    }
    vec![first, second.with(Style::Faint, &tokens)]
}

#[cfg(test)]
mod tests {
    use herdr_proto::Snapshot;

    use super::*;
    use crate::commands::watch::table::Table;

    fn table(agents: usize) -> Table {
        let agents: Vec<_> = (0..agents)
            .map(|number| {
                format!(
                    r#"{{"pane_id": "w1:p{number}", "agent": "bot{number}", "title": "T{number}",
                        "agent_status": "working", "tokens": {{"ctx": "4k"}}}}"#
                )
            })
            .collect();
        let text = format!(r#"{{"agents": [{}]}}"#, agents.join(","));
        let snapshot: Snapshot = serde_json::from_str(&text).unwrap();
        let mut table = Table::default();
        table.take(&snapshot, Instant::now());
        table
    }

    fn drawn(agents: usize, waiting: Option<&str>, room: usize) -> Vec<String> {
        let now = Instant::now();
        let table = table(agents);
        let lines = lines(table.rows(), "at /s", waiting, ((80, room), 0, now));
        lines.iter().map(Line::plain).collect()
    }

    #[test]
    fn an_agent_has_its_state_time_title_and_tokens() {
        let lines = drawn(1, None, 10);
        assert_eq!(lines, ["1 agent  at /s", "◐ bot0  working  >0s", "  T0  ctx 4k"]);
    }

    #[test]
    fn a_server_that_is_away_is_not_one_without_agents() {
        assert_eq!(drawn(0, None, 9), ["no agents  at /s"]);
        assert_eq!(drawn(0, Some("none"), 9), ["no server  at /s", "waiting for the server: none"]);
        let narrow = lines(&[], "", Some("it is gone"), ((24, 9), 0, Instant::now()));
        let narrow: Vec<_> = narrow.iter().map(Line::plain).collect();
        assert_eq!(narrow[1..], ["waiting for the server:", "it is gone"]);
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        for room in 1..30 {
            let lines = drawn(9, None, room);
            assert!(lines.len() <= room, "{room}");
            let shown = lines.iter().filter(|line| line.starts_with('◐')).count();
            let more = format!("  +{} more", 9 - shown);
            assert_eq!(lines.contains(&more), shown < 9 && room > 1, "{room}: {lines:#?}");
        }
    }
}
