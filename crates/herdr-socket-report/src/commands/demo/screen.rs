//! Lines that are drawn again and again in a terminal.

use std::fmt::Write as _;
use std::io::{self, Write};

use rustix::stdio::stdout;
use rustix::termios::{isatty, tcgetwinsize};

use super::view::{Line, Style};
use crate::input::signals::Signals;

/// The lines that are drawn in place, on the terminal's other screen: that one
/// is never reflowed, so nothing of an earlier picture outlives a change of the
/// terminal's size. The last picture stays on the usual screen when this ends.
pub(crate) struct Screen {
    drawn: Vec<Line>,
    room: (u16, u16),
    colour: bool,
}

/// The other screen, without a cursor, where long lines are cut.
const ENTER: &str = "\x1b[?1049h\x1b[?7l\x1b[?25l";
const LEAVE: &str = "\x1b[0m\x1b[?25h\x1b[?7h\x1b[?1049l";

impl Screen {
    /// Takes the terminal; `None` if stdout is none, or too simple a one to draw
    /// on, or one with less than this `room` of columns and lines.
    pub(crate) fn take(
        signals: &Signals,
        room: (u16, u16),
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Option<Self> {
        let (columns, rows) = size()?;
        let simple = lookup("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        if simple || columns < room.0 || rows < room.1 {
            return None;
        }
        let colour = lookup("NO_COLOR").is_none_or(|value| value.is_empty());
        // Without it Ctrl-Z would leave the shell on the other screen.
        signals.hear_stop().ok()?;
        put(ENTER);
        Some(Self { drawn: Vec::new(), room, colour })
    }

    /// How many columns and lines there are to draw on now.
    pub(crate) fn room(&self) -> (usize, usize) {
        let (columns, rows) = size().unwrap_or(self.room);
        // The last column stays free: some terminals wrap when it is used.
        (usize::from(columns).saturating_sub(1), usize::from(rows))
    }

    /// Draws these lines in place of those that were drawn before.
    pub(crate) fn draw(&mut self, lines: Vec<Line>) {
        let (columns, rows) = self.room();
        let shown: Vec<_> =
            lines.iter().take(rows).map(|line| styled(line, columns, self.colour)).collect();
        put(&format!("\x1b[H{}\x1b[K\x1b[J", shown.join("\x1b[K\r\n")));
        self.drawn = lines;
    }

    /// After a Ctrl-Z, stops with the terminal as it was found.
    pub(crate) fn lend_if_stopped(&mut self, signals: &Signals) {
        if signals.stop_came() {
            put(LEAVE);
            Signals::stop();
            put(ENTER);
            let lines = std::mem::take(&mut self.drawn);
            self.draw(lines);
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let (columns, rows) = self.room();
        // With one left for the shell.
        let lines = self.drawn.iter().take(rows.saturating_sub(1));
        let lines = lines.map(|line| styled(line, columns, self.colour) + "\r\n");
        // The terminal may have echoed a `^C`.
        put(&format!("{LEAVE}\r\x1b[K{}", lines.collect::<String>()));
    }
}

/// A line, cut, with its colours.
fn styled(line: &Line, columns: usize, colour: bool) -> String {
    let mut text = String::new();
    for (style, piece) in line.cut(columns).pieces() {
        if colour && style != Style::Plain {
            let _ = write!(text, "{}{piece}\x1b[0m", style.ansi());
        } else {
            text.push_str(piece);
        }
    }
    text
}

fn size() -> Option<(u16, u16)> {
    if !isatty(stdout()) {
        return None;
    }
    tcgetwinsize(stdout()).ok().map(|size| (size.ws_col, size.ws_row))
}

/// A terminal that is gone is no reason to stop: the end comes by signal.
fn put(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
