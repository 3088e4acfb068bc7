//! Lines that are redrawn in a terminal.

use std::io::{self, Write};

use rustix::stdio::stdout;
use rustix::termios::{isatty, tcgetwinsize};

use super::Line;
use crate::input::signals::Signals;
use crate::output::is_colourful;

/// Lines that are redrawn in place on the terminal's alternate screen. That screen is never
/// reflowed, so nothing of an earlier picture is left when the terminal changes its size. The
/// last picture stays on the main screen.
pub(crate) struct Screen {
    drawn: Vec<Line>,
    room: (u16, u16),
    pub(crate) colour: bool,
}

/// The alternate screen, without a cursor and without line wrapping.
const ENTER: &str = "\x1b[?1049h\x1b[?7l\x1b[?25l";
const LEAVE: &str = "\x1b[0m\x1b[?25h\x1b[?7h\x1b[?1049l";

impl Screen {
    /// Takes the terminal over; `None` if stdout is not a terminal, the terminal is too simple,
    /// or it is smaller than `room` in columns and lines.
    pub(crate) fn take(signals: &Signals, room: (u16, u16)) -> Option<Self> {
        let (columns, rows) = size()?;
        let terminal = std::env::var("TERM").unwrap_or_default();
        if ["", "dumb"].contains(&&*terminal) || columns < room.0 || rows < room.1 {
            return None;
        }
        // Otherwise Ctrl-Z would leave the shell on the alternate screen.
        signals.catch_stop().ok()?;
        put(ENTER);
        Some(Self { drawn: Vec::new(), room, colour: is_colourful() })
    }

    /// The columns and lines that can be drawn on now.
    pub(crate) fn room(&self) -> (usize, usize) {
        let (columns, rows) = size().unwrap_or(self.room);
        // The last column stays free, because some terminals wrap when it is used.
        (usize::from(columns).saturating_sub(1), usize::from(rows))
    }

    /// Draws these lines in place of the previous ones.
    pub(crate) fn draw(&mut self, lines: Vec<Line>) {
        let shown = self.shown(&lines, self.room().1);
        put(&format!("\x1b[H{}\x1b[K\x1b[J", shown.join("\x1b[K\r\n")));
        self.drawn = lines;
    }

    /// After a Ctrl-Z, restores the terminal and stops.
    pub(crate) fn lend_if_stopped(&mut self, signals: &Signals) {
        if signals.stop_arrived() {
            put(LEAVE);
            Signals::stop();
            put(ENTER);
            let lines = std::mem::take(&mut self.drawn);
            self.draw(lines);
        }
    }

    fn shown(&self, lines: &[Line], rows: usize) -> Vec<String> {
        let (columns, _) = self.room();
        lines.iter().take(rows).map(|line| line.cut(columns).text(self.colour)).collect()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // One line is left for the shell.
        let mut lines = self.shown(&self.drawn, self.room().1.saturating_sub(1));
        lines.push(String::new());
        // The terminal may have echoed a `^C`.
        put(&format!("{LEAVE}\r\x1b[K{}", lines.join("\r\n")));
    }
}

fn size() -> Option<(u16, u16)> {
    if !isatty(stdout()) {
        return None;
    }
    tcgetwinsize(stdout()).ok().map(|size| (size.ws_col, size.ws_row))
}

/// An error is ignored: if the terminal is gone, a signal ends the program.
fn put(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
