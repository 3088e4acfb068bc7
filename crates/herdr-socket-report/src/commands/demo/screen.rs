//! A few lines of a terminal that are drawn again and again in place.

use std::fmt::Write as _;
use std::io::{self, Write};

use rustix::stdio::stdout;
use rustix::termios::{isatty, tcgetwinsize};

use super::view::{Line, Style};
use crate::input::signals::Signals;

/// The lines that are drawn in place. The cursor is hidden while it lives.
pub(crate) struct Screen {
    drawn: usize,
    room: (u16, u16),
    colour: bool,
}

const HIDE: &str = "\x1b[?25l";
const SHOW: &str = "\x1b[0m\x1b[?25h";

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
        // Without it Ctrl-Z would leave the shell without a cursor.
        signals.hear_stop().ok()?;
        let screen = Self { drawn: 0, room, colour };
        put(HIDE);
        Some(screen)
    }

    /// How many lines fit, with one left for the cursor.
    pub(crate) fn lines(&self) -> usize {
        let rows = size().map_or(self.room.1, |(_, rows)| rows);
        usize::from(rows).saturating_sub(1)
    }

    /// Draws these lines over those that were drawn before.
    pub(crate) fn draw(&mut self, lines: &[Line]) {
        let columns = size().map_or(self.room.0, |(columns, _)| columns);
        let columns = usize::from(columns);
        let mut text = String::new();
        if self.drawn > 0 {
            let _ = write!(text, "\x1b[{}A", self.drawn);
        }
        text.push('\r');
        for line in lines {
            // The last column stays free: some terminals wrap when it is used.
            for (style, piece) in line.cut(columns.saturating_sub(1)).pieces() {
                if self.colour && style != Style::Plain {
                    let _ = write!(text, "{}{piece}\x1b[0m", style.ansi());
                } else {
                    text.push_str(piece);
                }
            }
            text.push_str("\x1b[K\n");
        }
        text.push_str("\x1b[J");
        self.drawn = lines.len();
        put(&text);
    }

    /// After a Ctrl-Z, stops with the terminal as it was found.
    pub(crate) fn lend_if_stopped(&mut self, signals: &Signals) {
        if signals.stop_came() {
            put(SHOW);
            Signals::stop();
            // What the shell wrote meanwhile is not ours to draw over.
            self.drawn = 0;
            put(HIDE);
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // The terminal may have echoed a `^C`.
        put("\r\x1b[K");
        put(SHOW);
    }
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
