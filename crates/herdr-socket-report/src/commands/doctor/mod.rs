//! `doctor`: what would keep a report from showing, in plain words.

mod check;
mod environment;
mod examine;
mod holder;
mod others;
mod server;
mod trial;

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
