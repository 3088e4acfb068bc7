//! The supervisor: a process that reports for another process and outlives it by a moment.
//!
//! `exec` becomes its command and `attach` returns at once, so neither can clear the pane when
//! the watched process ends, least of all by SIGKILL. The supervisor can. It has no parent that
//! waits for it and a process group of its own. It keeps no inherited pipe open, and no
//! terminal except one that it writes reports to (failures B13 to B16). It accepts reports only
//! from processes that belong to the watched one, and gives the pane to another reporter while
//! the watched process is not in the foreground.

mod launch;
mod run;
mod terminal_only;
mod watched;

use std::ffi::OsString;

use clap::Parser as _;
use herdr_proto::ReportState;

pub(crate) use launch::{Word, launch, ourselves, supervise};
pub(crate) use run::run;
pub(crate) use watched::Watched;

use crate::place::PaneFlags;
use crate::settings::flags::SettingFlags;

/// The hidden command that makes this program a supervisor.
const COMMAND: &str = "supervisor";

/// Watch over another process (started by exec and attach)
#[derive(Debug, clap::Parser)]
pub(crate) struct Args {
    /// The process to watch over
    #[arg(long, value_name = "PID")]
    of: i32,
    /// When that process started, where there is nothing better to know it by
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Say this state until an event knows better
    #[arg(long, value_name = "STATE", value_parser = crate::words::state)]
    state: Option<ReportState>,
    #[command(flatten)]
    _launchers: Launchers,
    #[command(flatten)]
    pane: PaneFlags,
    #[command(flatten)]
    settings: SettingFlags,
    /// The command, for its name
    command: Option<OsString>,
}

/// Reads the arguments of a supervisor, if this process was started as one.
pub(crate) fn arguments(words: impl IntoIterator<Item = OsString>) -> Option<Args> {
    let mut words = words.into_iter().skip(1).peekable();
    words.next_if(|word| word == COMMAND)?;
    Args::try_parse_from(std::iter::once(COMMAND.into()).chain(words)).ok()
}

/// Flags of `exec` and `attach` that reach the supervisor with the others. It ignores them.
#[derive(Debug, clap::Args)]
struct Launchers {
    /// How exec makes CMD's environment
    #[arg(long = "scrub")]
    _scrub: bool,
    /// How attach ends
    #[arg(long = "strict")]
    _strict: bool,
    /// Which process attach was given
    #[arg(long = "pid", value_name = "PID")]
    _pid: Option<i32>,
}
