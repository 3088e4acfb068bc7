//! The log: warnings, and what `HERDR_REPORT_LOG` asks for, on stderr.

use std::io;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::output::Lines;

/// The variable that says what to log, for example `debug` or
/// `herdr_socket_transport=trace`.
const VARIABLE: &str = "HERDR_REPORT_LOG";

/// Warnings; but what the reporter warns of is told as a diagnostic anyway.
const DEFAULT: &str = "warn,herdr_reporter=error";

/// Sends the log to these lines.
///
/// # Errors
///
/// A sentence about a variable that is no filter.
pub(crate) fn start(lines: Lines) -> Result<(), String> {
    let filter = match std::env::var(VARIABLE) {
        Ok(directives) if !directives.is_empty() => EnvFilter::try_new(&directives)
            .map_err(|error| format!("{VARIABLE} is not a filter such as `debug`: {error}"))?,
        _ => EnvFilter::new(DEFAULT),
    };
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false);
    // Somebody who has a log already keeps it.
    let _ = log.with_writer(ToLines(lines)).try_init();
    Ok(())
}

struct ToLines(Lines);

impl<'a> MakeWriter<'a> for ToLines {
    type Writer = OneLine<'a>;

    fn make_writer(&'a self) -> OneLine<'a> {
        OneLine { lines: &self.0, text: Vec::new() }
    }
}

/// Collects what one event writes and puts it as one line.
struct OneLine<'a> {
    lines: &'a Lines,
    text: Vec<u8>,
}

impl io::Write for OneLine<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for OneLine<'_> {
    fn drop(&mut self) {
        let text = String::from_utf8_lossy(&self.text);
        if !text.trim().is_empty() {
            self.lines.put(&herdr_proto::strip_controls(&text));
        }
    }
}
