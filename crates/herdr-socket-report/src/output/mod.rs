//! Everything that this process writes to stdout and stderr.

mod lines;
mod record;

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write};

use herdr_proto::strip_controls;

pub(crate) use lines::{Lines, Outlet};
pub(crate) use record::{Record, json_line};

use crate::exit::Exit;

/// The beginning of every line on stderr, which a host often shares with its own messages.
pub(crate) const NAME: &str = "herdr-socket-report: ";

/// Prints one message on stderr. An stderr that is closed is not an error.
pub(crate) fn say(what: &str) {
    let _ = writeln!(io::stderr().lock(), "{NAME}{}", strip_controls(what));
}

/// Prints what is wrong with a command line, in several lines.
pub(crate) fn complain(text: &str) {
    let mut out = String::new();
    for line in text.trim_end().lines() {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let line = match line.strip_prefix("error: ") {
            Some(wrong) if out.is_empty() => format!("{NAME}{}", strip_controls(wrong)),
            _ => strip_controls(line),
        };
        let _ = writeln!(out, "{:indent$}{line}", "");
    }
    let _ = io::stderr().lock().write_all(out.as_bytes());
}

/// The width of stdout in columns, if it is a terminal.
#[cfg(unix)]
pub(crate) fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Whether stdout is a terminal that shows colours, and `NO_COLOR` is not set.
pub(crate) fn is_colourful() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    io::stdout().is_terminal()
        && !set("NO_COLOR")
        && std::env::var_os("TERM") != Some("dumb".into())
}

/// Prints a text. A reader that is gone is not an error.
pub(crate) fn print(text: &[u8], mut out: impl Write) -> Exit {
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            say(&format!("cannot write: {error}"));
            Exit::Usage
        }
        _ => Exit::Fine,
    }
}
