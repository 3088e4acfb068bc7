//! `exec`: starts a supervisor, then becomes the command.

mod begin;
mod init;

use std::ffi::OsString;

use herdr_proto::ReportState;

pub(crate) use begin::run;

use crate::place::PaneFlags;
use crate::settings::flags::SettingFlags;
use crate::words::{command, state, states};

/// Become CMD, with a supervisor that keeps its pane true
///
/// Process, process group, signals, job control and exit code are CMD's own:
/// nothing stands between it and the terminal. A supervisor beside it owns the
/// pane, takes what CMD's hooks and scripts say (emit, state, title, …), shows a
/// stopped CMD as suspended while nobody else reports, and clears the pane when
/// CMD ends, however it ends. As the first process of a container it stays as
/// CMD's parent. Outside Herdr it only becomes CMD.
///
/// A CMD that Herdr knows by name, such as claude, keeps the state that Herdr
/// sees itself, unless --agent names it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pane: PaneFlags,
    /// Say this state at once: idle, working or blocked; without it nothing is
    /// claimed before somebody knows
    #[arg(long, value_name = "STATE", value_parser = state, add = states())]
    state: Option<ReportState>,
    /// Hide the pane from CMD's own integrations: HERDR_* is taken out of its
    /// environment, but for `HERDR_REPORT_SOCKET`
    #[arg(long)]
    scrub: bool,
    #[command(flatten)]
    settings: SettingFlags,
    /// The command and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        value_name = "CMD",
        add = command()
    )]
    command: Vec<OsString>,
}
