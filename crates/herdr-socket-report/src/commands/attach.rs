//! `attach`: starts a supervisor for a process that already runs.

use std::path::Path;
use std::time::Duration;

use herdr_proto::ReportState;
use herdr_reporter::Role;
use herdr_reporter::sidecar::LeaseFile;

use crate::commands::{KEPT, flags_before, settings};
use crate::control::{Call, Hello};
use crate::exit::{Exit, Stop, say_why, usage};
use crate::output::say;
use crate::place::{PaneFlags, Place};
use crate::program_status::Terminal;
use crate::reach::{Unreached, reach};
use crate::settings::Settings;
use crate::settings::flags::SettingFlags;
use crate::supervisor::{Watched, Word, launch};
use crate::words::{pid, processes, state, states};

/// Supervise a process that runs already, as exec does its command
///
/// It returns once the supervisor has the pane. A second supervisor for the same process is not
/// needed and not started.
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

/// How long a supervisor may take to get the pane. An earlier one that is ending takes up to
/// two seconds of it.
const PATIENCE: Duration = Duration::from_secs(5);

/// The time limit for asking whether a server is there.
const SERVER: Duration = Duration::from_secs(2);

pub(crate) fn run(args: Args) -> Exit {
    let strict = args.strict;
    match say_why(attach(args)) {
        exit if strict || exit == Exit::Usage => exit,
        _ => Exit::Fine,
    }
}

fn attach(args: Args) -> Result<Exit, Stop> {
    let loaded = settings(args.settings)?;
    let config = &loaded.settings.config;
    let watched = Watched::open(args.pid).map_err(|wrong| usage(format!("--pid: {wrong}")))?;
    let gone = || usage(format!("--pid {}: there is no such process", args.pid));
    let watched = watched.ok_or_else(gone)?;
    let place = args.pane.find().map_err(usage)?;
    let pane = match &place {
        Place::Pane(pane) if config.enabled && config.role == Role::Interactive => pane,
        Place::Broken(why) if config.enabled => {
            return Err(Stop(Exit::Unreachable, format!("misconfigured: {why}")));
        }
        Place::Outside(why) => {
            attach_outside(args.pid, &loaded.settings, &place, &watched)?;
            if !(config.enabled && args.strict) {
                return Ok(Exit::Fine);
            }
            return Err(Stop(Exit::Unreachable, format!("nothing is reported: {why}")));
        }
        _ => return Ok(Exit::Fine),
    };
    loaded.warnings.iter().for_each(|warning| say(warning));
    let lease = LeaseFile::of_pane(config, pane);
    if answers(&lease.supervisor_socket(args.pid.unsigned_abs())) {
        return Ok(Exit::Fine);
    }
    match supervise(&watched)? {
        // A supervisor waits for a server that is not there yet, so the user is told that it is
        // not.
        Word::Ready | Word::Late => match reach(pane, config.allow_foreign_socket, SERVER) {
            Ok(()) => Ok(Exit::Fine),
            Err(Unreached { kind, detail, exit }) => {
                Err(Stop(exit, format!("{}: {detail}", kind.as_str())))
            }
        },
        Word::Deferred => Err(Stop(Exit::Refused, format!("deferred: {KEPT}"))),
        Word::Foreign => Err(Stop(
            Exit::Refused,
            format!(
                "foreign_pane: process {} does not run in this pane; nothing is reported \
                 (--any-pane reports all the same)",
                args.pid
            ),
        )),
        Word::Gone => {
            let ended = "the supervisor has ended at once; the process may be gone";
            Err(Stop(Exit::Refused, ended.to_owned()))
        }
    }
}

/// Outside a pane, a supervisor reports to the terminal of the process if that is wanted.
fn attach_outside(
    pid: i32,
    settings: &Settings,
    place: &Place,
    watched: &Watched,
) -> Result<(), Stop> {
    let pid = pid.unsigned_abs();
    let socket = Terminal::lease(&settings.config).supervisor_socket(pid);
    if Terminal::of(settings, place, Some(pid)).is_some() && !answers(&socket) {
        supervise(watched)?;
    }
    Ok(())
}

/// Whether the process has a supervisor that answers. A connection alone does not show it,
/// because the socket of a supervisor that was just killed may still accept one.
fn answers(socket: &Path) -> bool {
    let call = Call::connect(socket, SERVER);
    call.and_then(|call| call.tell(&Hello::default(), &[], false)).is_ok()
}

fn supervise(watched: &Watched) -> Result<Word, Stop> {
    launch(watched, flags_before(0), PATIENCE)
        .map_err(|error| Stop(Exit::Unreachable, format!("no supervisor can be started: {error}")))
}
