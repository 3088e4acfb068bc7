//! Starting the supervisor.

use std::os::unix::net::UnixStream;
use std::time::Duration;

use herdr_reporter::Role;
use herdr_reporter::sidecar::LeaseFile;

use super::Args;
use crate::commands::{KEPT, flags_before, settings};
use crate::exit::Exit;
use crate::output::say;
use crate::place::Place;
use crate::program_status::Terminal;
use crate::reach::{Unreached, reach};
use crate::supervisor::{Launch, Watched, Word, launch};

/// How long a supervisor may take to get the pane. An earlier one that just ends
/// takes up to two seconds of it.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long the server may take to say that it is there.
const SERVER: Duration = Duration::from_secs(2);

/// Starts the supervisor.
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
        (Err(wrong), _) => {
            say(&format!("--pid: {wrong}"));
            return Exit::Usage;
        }
        (_, Err(wrong)) => {
            say(&wrong);
            return Exit::Usage;
        }
    };
    let pane = match &place {
        Place::Pane(pane) if config.enabled && config.role == Role::Interactive => {
            Some(pane.clone())
        }
        Place::Outside(_) => None,
        Place::Broken(why) if config.enabled => {
            say(&format!("misconfigured: {why}"));
            return if args.strict { Exit::Unreachable } else { Exit::Fine };
        }
        _ => return Exit::Fine,
    };
    let lease = match &pane {
        Some(pane) => {
            loaded.warnings.iter().for_each(|warning| say(warning));
            Some(LeaseFile::of_pane(config, pane))
        }
        None => Terminal::of(&loaded.settings, &place, u32::try_from(args.pid).ok())
            .and_then(|_| Terminal::lease(config)),
    };
    let Some(lease) = lease else { return Exit::Fine };
    let socket = lease.supervisor_socket(args.pid.unsigned_abs());
    if UnixStream::connect(&socket).is_ok() {
        return Exit::Fine;
    }
    let (flags, patience) = (flags_before(0), PATIENCE);
    match launch(Launch { watched: &watched, flags, command: None, patience }) {
        // The supervisor waits for a server that is not there; a person may not
        // know that it is not.
        Ok(Word::Ready | Word::Late) => {
            let Some(pane) = pane else { return Exit::Fine };
            let reached = reach(&pane, config.allow_foreign_socket, SERVER);
            reached.map_or_else(
                |Unreached { kind, detail, exit }| {
                    say(&format!("{}: {detail}", kind.as_str()));
                    if args.strict { exit } else { Exit::Fine }
                },
                |()| Exit::Fine,
            )
        }
        Ok(Word::Deferred) => {
            say(&format!("deferred: {KEPT}"));
            if args.strict { Exit::Refused } else { Exit::Fine }
        }
        Ok(Word::Foreign) => {
            say(&format!(
                "foreign_pane: process {} does not run in this pane; nothing is reported \
                 (--any-pane reports all the same)",
                args.pid
            ));
            if args.strict { Exit::Refused } else { Exit::Fine }
        }
        Ok(Word::Gone | Word::Deaf) => {
            say("the supervisor has ended at once; the process may be gone");
            if args.strict { Exit::Refused } else { Exit::Fine }
        }
        Err(error) => {
            say(&format!("no supervisor can be started: {error}"));
            if args.strict { Exit::Unreachable } else { Exit::Fine }
        }
    }
}
