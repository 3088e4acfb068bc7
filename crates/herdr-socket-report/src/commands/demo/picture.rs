//! The demo as a picture that changes in place.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use herdr_reporter::{Receipt, Reporter};

use super::screen::Screen;
use super::script::steps;
use super::stage::Stage;
use super::view::{Line, Style, View};
use crate::input::signals::Signals;

/// One picture after the other.
const FRAME: Duration = Duration::from_millis(90);
/// How long the last picture stays.
const LAST: Duration = Duration::from_millis(900);
/// Most columns of the sidebar's entry …
const ENTRY_MAX: usize = 52;
/// … and those of the margin and the frame around it.
const FRAMED: usize = 6;
/// Lines of the sidebar with its heading.
const SIDEBAR: usize = 6;
/// Columns of what the host says.
const SAID: usize = 40;
/// Columns from which on what was answered is shown beside what was said.
const BESIDE: usize = 59;
/// Most lines of what was said and answered.
const LINES: usize = 6;

/// Plays the session on the screen, until it is over or a signal comes.
pub(crate) fn play(stage: &Stage, reporter: &Reporter, signals: &Signals, mut screen: Screen) {
    let mut receipts = reporter.receipts();
    let mut picture = Picture { place: stage.place(), ..Picture::default() };
    let mut steps = steps().into_iter().peekable();
    let mut due = Instant::now();
    let mut over = None;
    loop {
        let now = Instant::now();
        while let Some(step) = steps.next_if(|step| now >= due + step.after) {
            due += step.after;
            picture.said.add(Line::default().with(Style::Plain, &step.told));
            let _ = reporter.record(step.event);
        }
        while let Some(receipt) = receipts.try_recv() {
            picture.answered.add(told(&receipt));
        }
        if let Ok(view) = stage.look() {
            picture.view = view;
        }
        screen.draw(picture.lines(screen.room()));
        if steps.peek().is_none() && now >= *over.get_or_insert(now + LAST) {
            return;
        }
        picture.tick += 1;
        if signals.came_within(FRAME) {
            return;
        }
        screen.lend_if_stopped(signals);
    }
}

fn told(receipt: &Receipt) -> Line {
    let style = match receipt.outcome {
        herdr_reporter::Outcome::Applied => Style::Idle,
        herdr_reporter::Outcome::Superseded | herdr_reporter::Outcome::Unverified => Style::Faint,
        _ => Style::Blocked,
    };
    let text = format!("{} {}", receipt.of.as_str(), receipt.outcome.as_str());
    let seq = receipt.seq.map(|seq| format!("seq {}", seq.get())).unwrap_or_default();
    Line::default().with(style, &text).blanks(2).with(Style::Faint, &seq)
}

#[derive(Default)]
struct Picture {
    place: String,
    view: View,
    said: Last,
    answered: Last,
    tick: usize,
}

impl Picture {
    /// As much of it as fits; the sidebar comes first.
    fn lines(&self, (columns, rows): (usize, usize)) -> Vec<Line> {
        let spare = rows.saturating_sub(SIDEBAR);
        let told = spare.saturating_sub(1).min(LINES);
        // Blank lines come last: before the picture, within it, after it.
        let blanks = spare.saturating_sub(told + 1);
        let blank = |nth: usize| (blanks > nth).then(Line::default);
        let mut lines: Vec<_> = blank(1).into_iter().collect();
        lines.extend(self.sidebar(columns));
        lines.extend(blank(0));
        if told > 0 {
            lines.extend(self.told(told, columns >= BESIDE));
        }
        lines.extend(blank(2));
        lines
    }

    fn sidebar(&self, columns: usize) -> Vec<Line> {
        let width = columns.saturating_sub(FRAMED).min(ENTRY_MAX);
        let rule = "─".repeat(width + 2);
        let title = Line::default().blanks(2).with(Style::Strong, "Herdr's sidebar").blanks(2);
        let mut lines = vec![title.with(Style::Faint, &self.place), faint(&format!("╭{rule}╮"))];
        for entry in self.view.entry(width, self.tick) {
            let entry = entry.cut(width);
            let gap = width.saturating_sub(entry.width()) + 1;
            lines.push(faint("│").blanks(1).then(entry).blanks(gap).with(Style::Faint, "│"));
        }
        lines.push(faint(&format!("╰{rule}╯")));
        lines
    }

    /// What the host said, and `beside` it what became of it: a heading and so
    /// many lines.
    fn told(&self, count: usize, beside: bool) -> Vec<Line> {
        let heading = faint("what the host says");
        let gap = SAID - heading.width();
        let answers = Line::default().blanks(gap).with(Style::Faint, "what became of it");
        let mut lines = vec![if beside { heading.then(answers) } else { heading }];
        let (said, answered) = (self.said.newest(count), self.answered.newest(count));
        for place in 0..count {
            let said = said.get(place).cloned().unwrap_or_default().cut(SAID - 4);
            let gap = (SAID - 2).saturating_sub(said.width());
            let line = Line::default().blanks(2).then(said);
            let answer = answered.get(place).cloned().filter(|_| beside);
            lines.push(match answer {
                Some(answer) => line.blanks(gap).then(answer),
                None => line,
            });
        }
        lines
    }
}

fn faint(text: &str) -> Line {
    Line::default().blanks(2).with(Style::Faint, text)
}

/// The last few lines of something.
#[derive(Default)]
struct Last(VecDeque<Line>);

impl Last {
    fn add(&mut self, line: Line) {
        if self.0.len() == LINES {
            self.0.pop_front();
        }
        self.0.push_back(line);
    }

    /// The newest so many, oldest first.
    fn newest(&self, count: usize) -> Vec<Line> {
        self.0.iter().skip(self.0.len().saturating_sub(count)).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture() -> Picture {
        let pane = r#"{"pane_id": "w1:p1", "agent": "A name that is far too long for it",
            "agent_status": "working", "title": "T", "tokens": {"ctx": "4k"}}"#;
        let view = View::of(&serde_json::from_str(pane).unwrap());
        let mut picture = Picture { place: "pane w1:p1".to_owned(), view, ..Picture::default() };
        for number in 0..9 {
            picture.said.add(Line::default().with(Style::Plain, &format!("said {number}")));
            picture.answered.add(Line::default().with(Style::Plain, "state applied"));
        }
        picture
    }

    #[test]
    fn it_fits_every_terminal_and_the_newest_is_there() {
        for columns in [29, 40, 58, 59, 80, 200] {
            for rows in SIDEBAR..40 {
                let lines = picture().lines((columns, rows));
                assert!(lines.len() <= rows, "{columns} {rows}");
                let texts: Vec<_> = lines.iter().map(Line::plain).collect();
                assert_eq!(texts.iter().any(|text| text.contains("said 8")), rows >= SIDEBAR + 2);
                let frame = texts.iter().filter(|text| text.starts_with("  │"));
                let widths: Vec<_> = frame.map(|text| text.chars().count()).collect();
                let width = columns.min(ENTRY_MAX + FRAMED);
                assert_eq!(widths, [width; 3], "{columns} {rows}: {texts:#?}");
                let beside = texts.iter().any(|text| text.contains("applied"));
                assert_eq!(beside, rows >= SIDEBAR + 2 && columns >= BESIDE, "{columns} {rows}");
            }
        }
        assert_eq!(picture().lines((80, 30)).len(), 16);
    }
}
