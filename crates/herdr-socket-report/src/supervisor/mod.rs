//! The supervisor: the reporter of a process that outlives it by a moment.
//!
//! `exec` becomes its command and `attach` goes away, so neither can clear the
//! pane when the process ends, least of all by SIGKILL. A supervisor can: a
//! process of its own that nobody waits for, in a process group of its own, with
//! no pipe of anybody's and no terminal but one that it tells, which holds on to
//! the supervised process and to nothing else (failures B13 to B16). It hears
//! only what belongs to that process, and lets the pane go to a reporter in front
//! of it.

mod keep;
mod launch;
mod outside;
mod watched;

use std::ffi::OsString;

use clap::Parser as _;
use herdr_proto::ReportState;

pub(crate) use keep::keep;
pub(crate) use launch::{Word, launch, ourselves, supervise};
pub(crate) use watched::Watched;

use crate::place::PaneFlags;
use crate::settings::flags::SettingFlags;

/// The command that a supervisor is. It is not part of the command line that
/// people have.
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

/// What a supervisor is to do, if this process is to be one.
pub(crate) fn asked_for(words: impl IntoIterator<Item = OsString>) -> Option<Args> {
    let mut words = words.into_iter().skip(1).peekable();
    words.next_if(|word| word == COMMAND)?;
    Args::try_parse_from(std::iter::once(COMMAND.into()).chain(words)).ok()
}

/// Flags that a launcher was given for itself, and that come along with the
/// others.
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
