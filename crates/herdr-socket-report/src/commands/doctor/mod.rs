//! `doctor`: what would keep a report from showing, in plain words.

#[cfg(unix)]
mod check;
#[cfg(unix)]
mod environment;
#[cfg(unix)]
mod examine;
#[cfg(unix)]
mod holder;
#[cfg(unix)]
mod others;
#[cfg(unix)]
mod server;
#[cfg(unix)]
mod trial;

#[cfg(unix)]
pub(crate) use examine::run;

use crate::place::PaneFlags;
use crate::settings::flags::SettingFlags;

/// Find out what would keep a report from showing
///
/// It looks at the settings, the variables, the socket, the server, the pane
/// and everybody else who reports to it. If nobody has the pane, it also
/// reports once, reads the pane back, and takes the report back at once; a pane
/// that somebody has is left alone. It takes less than ten seconds, also when
/// the server hangs.
///
/// Exit codes: 0 a report would show, 3 outside Herdr or no server, 4 refused,
/// 5 a report would be delivered and not show.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print one JSON object: checks and verdict
    #[arg(long)]
    json: bool,
    /// Try a report also on a pane that somebody has; its row is lost until
    /// they report again
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    pane: PaneFlags,
    #[command(flatten)]
    settings: SettingFlags,
}

/// There is no socket to look at.
#[cfg(not(unix))]
pub(crate) fn run(args: Args) -> crate::exit::Exit {
    drop(args);
    crate::output::say("panes are reached on Linux and macOS only");
    crate::exit::Exit::Unreachable
}
