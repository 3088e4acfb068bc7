//! The demo as a picture that changes in place.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use reporter::{Receipt, Reporter};

use super::screen::Screen;
use super::script::steps;
use super::stage::Stage;
use super::view::{Line, Style, View};
use crate::input::signals::Signals;

/// One picture after the other.
const FRAME: Duration = Duration::from_millis(90);
/// How long the last picture stays.
const LAST: Duration = Duration::from_millis(900);
/// Columns of the sidebar's entry.
const ENTRY: usize = 52;
/// Columns of what the host says.
const SAID: usize = 40;
/// Lines of what was said and answered.
const LINES: usize = 6;

/// Plays the session on the screen, until it is over or a signal comes.
pub(crate) fn play(stage: &Stage, reporter: &Reporter, signals: &Signals, mut screen: Screen) {
    let receipts = reporter.receipts();
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
        screen.draw(&picture.lines());
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
        reporter::Outcome::Applied => Style::Idle,
        reporter::Outcome::Superseded | reporter::Outcome::Unverified => Style::Faint,
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
    fn lines(&self) -> Vec<Line> {
        let faint = |text: &str| Line::default().blanks(2).with(Style::Faint, text);
        let rule = "─".repeat(ENTRY + 2);
        let title = Line::default().blanks(2).with(Style::Strong, "Herdr's sidebar").blanks(2);
        let mut lines = vec![
            Line::default(),
            title.with(Style::Faint, &self.place),
            faint(&format!("╭{rule}╮")),
        ];
        for entry in self.view.entry(ENTRY, self.tick) {
            let gap = ENTRY.saturating_sub(entry.width()) + 1;
            lines.push(faint("│").blanks(1).then(entry).blanks(gap).with(Style::Faint, "│"));
        }
        lines.push(faint(&format!("╰{rule}╯")));
        lines.push(Line::default());
        let said = faint("what the host says");
        let gap = SAID - said.width();
        lines.push(said.blanks(gap).with(Style::Faint, "what became of it"));
        for place in 0..LINES {
            let said = self.said.0.get(place).cloned().unwrap_or_default().cut(SAID - 4);
            let gap = (SAID - 2).saturating_sub(said.width());
            let answered = self.answered.0.get(place).cloned().unwrap_or_default();
            lines.push(Line::default().blanks(2).then(said).blanks(gap).then(answered));
        }
        lines.push(Line::default());
        lines
    }
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
}
