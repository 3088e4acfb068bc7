//! `attach`: a guard for a process that runs already.

use std::time::Duration;

use herdr_proto::ReportState;
use reporter::{LeaseFile, Role};

use super::settings;
use crate::exit::Exit;
use crate::guard::{Launch, Watched, Word, is_guarded, launch};
use crate::output::say;
use crate::place::{PaneFlags, Place};
use crate::settings::flags::SettingFlags;
use crate::words::state;

/// Guard a process that runs already, as exec guards its command
///
/// It returns once the guard has the pane. A second guard for the same process
/// is not needed and not started.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The process
    #[arg(long, value_name = "PID")]
    pid: i32,
    /// Say this state at once: idle, working or blocked
    #[arg(long, value_name = "STATE", value_parser = state)]
    state: Option<ReportState>,
    /// Exit with 4 if another reporter has the pane
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    pane: PaneFlags,
    #[command(flatten)]
    settings: SettingFlags,
}

/// How long a guard may take to get the pane. An earlier one that just ends
/// takes up to two seconds of it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Starts the guard.
pub(crate) fn run(args: Args) -> Exit {
    let loaded = match settings(args.settings) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let config = &loaded.settings.config;
    let watched = Watched::open(args.pid);
    let place = args.pane.find(|name| std::env::var_os(name));
    let (watched, place) = match (watched, place) {
        (Ok(Some(watched)), Ok(place)) => (watched, place),
        (Ok(None), Ok(_)) => {
            say(&format!("--pid {}: there is no such process", args.pid));
            return Exit::Usage;
        }
        (Err(wrong), _) | (_, Err(wrong)) => {
            say(&format!("--pid: {wrong}"));
            return Exit::Usage;
        }
    };
    let pane = match place {
        Place::Pane(pane) if config.enabled && config.role == Role::Interactive => pane,
        Place::Broken(why) if config.enabled => {
            say(&format!("misconfigured: {why}"));
            return if args.strict { Exit::Unreachable } else { Exit::Fine };
        }
        _ => return Exit::Fine,
    };
    loaded.warnings.iter().for_each(|warning| say(warning));
    let lease = LeaseFile::of_pane(config, &pane);
    if is_guarded(&lease, args.pid) {
        return Exit::Fine;
    }
    let (flags, patience) = (super::flags_before(0), PATIENCE);
    match launch(Launch { watched: &watched, flags, command: None, patience }) {
        Ok(Word::Ready | Word::Late) => Exit::Fine,
        // Two that came at the same time.
        Ok(Word::Deferred) if is_guarded(&lease, args.pid) => Exit::Fine,
        Ok(Word::Deferred) => {
            say("deferred: another reporter has the pane; it keeps it");
            if args.strict { Exit::Refused } else { Exit::Fine }
        }
        Ok(Word::Gone) => {
            say("the guard has ended at once; the process may be gone");
            if args.strict { Exit::Refused } else { Exit::Fine }
        }
        Err(error) => {
            say(&format!("no guard can be started: {error}"));
            if args.strict { Exit::Unreachable } else { Exit::Fine }
        }
    }
}
