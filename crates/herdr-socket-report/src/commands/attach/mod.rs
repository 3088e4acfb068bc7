//! `attach`: a supervisor for a process that runs already.

mod begin;

use herdr_proto::ReportState;

pub(crate) use begin::run;

use crate::place::PaneFlags;
use crate::settings::flags::SettingFlags;
use crate::words::{pid, processes, state, states};

/// Supervise a process that runs already, as exec does its command
///
/// It returns once the supervisor has the pane. A second supervisor for the same
/// process is not needed and not started.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The process
    #[arg(long, value_name = "PID", value_parser = pid, allow_negative_numbers = true, add = processes())]
    pid: i32,
    /// Say this state at once: idle, working or blocked
    #[arg(long, value_name = "STATE", value_parser = state, add = states())]
    state: Option<ReportState>,
    /// Exit with 4 if another reporter has the pane or the process runs
    /// elsewhere, with 3 if there is no server; the supervisor waits for one all
    /// the same
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    pane: PaneFlags,
    #[command(flatten)]
    settings: SettingFlags,
}
