//! The commands, one file or folder each.

pub(crate) mod agents;
pub(crate) mod attach;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod emit;
pub(crate) mod exec;
pub(crate) mod hook;
pub(crate) mod init;
pub(crate) mod man;
pub(crate) mod pane;
pub(crate) mod run;
pub(crate) mod sidebar;
pub(crate) mod tee;
pub(crate) mod watch;

use crate::exit::{Stop, usage};
use crate::output::say;
use crate::settings::flags::SettingFlags;
use crate::settings::{Loaded, Sources, load, load_what_fits};

/// Why nothing is reported while another process holds the lease.
const KEPT: &str = "another process reports for this pane and keeps it; doctor says which";

/// Reads the settings and prints what is wrong with them.
fn settings(flags: SettingFlags) -> Result<Loaded, Stop> {
    settings_of(flags, None)
}

/// As [`settings`], with a default for the agent's name.
pub(crate) fn settings_of(flags: SettingFlags, agent: Option<String>) -> Result<Loaded, Stop> {
    load(Sources { agent, ..Sources::of_process(flags) }).map_err(wrong)
}

/// Prints what is wrong with the settings, one line each.
fn wrong(problems: Vec<String>) -> Stop {
    for problem in problems {
        say(&problem);
    }
    usage("")
}

/// Reads the settings for a command that must start in any case. Wrong settings are left out,
/// and the second value says so.
pub(crate) fn settings_that_fit(
    flags: SettingFlags,
    agent: Option<String>,
) -> (Loaded, Option<String>) {
    let (loaded, problems) = load_what_fits(Sources { agent, ..Sources::of_process(flags) });
    let warning = match &problems[..] {
        [] => None,
        [only] => Some(format!("{only} (left out)")),
        [first, more @ ..] => Some(format!(
            "{first} (left out, with {} more; see `herdr-socket-report config show`)",
            more.len()
        )),
    };
    (loaded, warning)
}

/// The flags of this command as they were given: all arguments after the command's name without
/// the last `words`, and without a `--` before those.
fn flags_before(words: usize) -> Vec<std::ffi::OsString> {
    let mut flags: Vec<_> = std::env::args_os().skip(2).collect();
    flags.truncate(flags.len().saturating_sub(words));
    if flags.last().is_some_and(|last| last == "--") {
        flags.pop();
    }
    flags
}
