//! The log: warnings, and what `HERDR_REPORT_LOG` asks for, on stderr.

use tracing_subscriber::EnvFilter;

use crate::output::Lines;

/// The variable that says what to log, for example `debug` or
/// `herdr_socket_transport=trace`.
const VARIABLE: &str = "HERDR_REPORT_LOG";

/// Warnings; but what the reporter warns of is told as a diagnostic anyway.
const DEFAULT: &str = "warn,herdr_reporter=error";

/// Sends the log to these lines.
pub(crate) fn start(lines: Lines) -> Result<(), String> {
    let filter = match std::env::var(VARIABLE) {
        Ok(directives) if !directives.is_empty() => EnvFilter::try_new(&directives)
            .map_err(|error| format!("{VARIABLE} is not a filter such as `debug`: {error}"))?,
        _ => EnvFilter::new(DEFAULT),
    };
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false);
    // Somebody who has a log already keeps it.
    let _ = log.with_writer(move || lines.clone()).try_init();
    Ok(())
}
