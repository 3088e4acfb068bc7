//! The log on stderr: warnings, and what `HERDR_REPORT_LOG` asks for.

use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::output::Lines;

/// The variable that says what is logged, for example `debug` or
/// `herdr_socket_transport=trace`.
const VARIABLE: &str = "HERDR_REPORT_LOG";

/// Sends the log to these lines.
pub(crate) fn start(lines: Lines) -> Result<(), String> {
    let filter = match std::env::var(VARIABLE) {
        Ok(directives) if !directives.is_empty() => directives
            .parse()
            .map_err(|error| format!("{VARIABLE} is not a filter such as `debug`: {error}"))?,
        // The reporter's warnings are printed as diagnostics anyway.
        _ => Targets::new().with_default(Level::WARN).with_target("herdr_reporter", Level::ERROR),
    };
    let log = fmt::layer().with_ansi(false).with_writer(move || lines.clone());
    // A subscriber that is already set stays.
    let _ = tracing_subscriber::registry().with(log).with(filter).try_init();
    Ok(())
}
