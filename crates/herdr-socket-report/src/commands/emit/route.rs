//! Who gets a report: the supervisor that the environment names, the reporter of the pane, or
//! Herdr itself.

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use herdr_reporter::sidecar::{LeaseFile, supervised_by};
use herdr_socket_transport::Endpoint;

use crate::control::{Call, HERDR_REPORT_SOCKET, Hello, is_timeout};
use crate::exit::{Exit, Stop, usage};
use crate::place::{PaneFlags, Place};
use crate::settings::flags::SettingFlags;
use crate::wait::wait_for;

/// How long to wait for a supervisor that is not there yet, if its address does not name the
/// process it watches.
const START: Duration = Duration::from_millis(500);

/// A pane and its lease.
pub(crate) type Target<'a> = (&'a Endpoint, LeaseFile);

pub(super) enum Route<'a> {
    /// The supervisor that the environment names, or the pane's reporter.
    Owner(Call),
    /// Herdr itself, while the lease is shared.
    Direct(&'a Target<'a>, Option<File>),
}

/// The outcome outside Herdr. It is told only to a caller that asked for the outcome and to a
/// person at a terminal.
pub(super) fn not_in_herdr(wants_outcome: bool) -> Stop {
    let told = wants_outcome || io::stderr().is_terminal();
    let why = if told { "nothing is reported: this is not a pane of Herdr" } else { "" };
    Stop(Exit::Unreachable, why.to_owned())
}

/// The outcome of a hook that outlives its agent. Hooks often do, so only a caller that asked
/// for the outcome is told.
pub(super) fn late(why: String, wants_outcome: bool) -> Stop {
    Stop(Exit::Refused, if wants_outcome { why } else { String::new() })
}

/// The address of the supervisor that the environment names, if it counts. It does not if the
/// flags name a pane, or if it belongs to another pane, as it does in the pane of a Herdr that
/// was started inside another one.
pub(crate) fn named_supervisor(flags: &PaneFlags, pane: Option<&Target<'_>>) -> Option<PathBuf> {
    let named = std::env::var_os(HERDR_REPORT_SOCKET).map(PathBuf::from)?;
    let of_another = pane.is_some_and(|(_, lease)| lease.is_of_this_pane(&named) == Some(false));
    (!flags.any() && !of_another).then_some(named)
}

pub(crate) fn hello(pane: Option<&Target<'_>>, settings: &SettingFlags) -> Hello {
    Hello {
        socket: pane.map(|(pane, _)| pane.socket().to_owned()),
        pane: pane.map(|(pane, _)| pane.pane().clone()),
        agent: settings.text("agent"),
        source: settings.text("source"),
        seeks: None,
    }
}

pub(super) fn time_left(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now())
}

pub(super) fn find_route<'a>(
    named: Option<&Path>,
    place: &Result<Place, String>,
    pane: Option<&'a Target<'a>>,
    until: Instant,
    wants_outcome: bool,
) -> Result<Route<'a>, Stop> {
    if let Some(path) = named {
        return supervisor_at(path, until, wants_outcome).map(Route::Owner);
    }
    let Some(target) = pane else {
        return Err(match place {
            Ok(Place::Broken(why)) => Stop(Exit::Unreachable, format!("misconfigured: {why}")),
            Err(wrong) => usage(wrong.as_str()),
            Ok(_) => not_in_herdr(wants_outcome),
        });
    };
    let (_, lease) = target;
    // `attach` cannot put an address into the environment of its process, so its supervisor is
    // found by the ancestors of this process. It may not have the pane yet.
    let above = lease.supervisor_above(std::process::id());
    if let Some(call) = above.and_then(|path| Call::connect(&path, time_left(until)).ok()) {
        return Ok(Route::Owner(call));
    }
    let socket = lease.control_socket();
    let route = wait_for(time_left(until), || {
        if let Ok(call) = Call::connect(&socket, time_left(until)) {
            return Some(Route::Owner(call));
        }
        match lease.try_share() {
            Ok(None) => None,
            Ok(shared) => Some(Route::Direct(target, shared)),
            // A report needs no lease where the folder for leases cannot be written.
            Err(_) => Some(Route::Direct(target, None)),
        }
    });
    route.ok_or_else(|| {
        let why = "deferred: a reporter has the pane and takes no events from others";
        Stop(Exit::Refused, why.to_owned())
    })
}

/// Calls the supervisor that the environment names and waits for one that is starting. If the
/// supervisor has ended, the report is late and goes nowhere else.
fn supervisor_at(path: &Path, until: Instant, wants_outcome: bool) -> Result<Call, Stop> {
    let of = supervised_by(path);
    let limit = if of.is_some() { time_left(until) } else { time_left(until).min(START) };
    let found =
        wait_for(limit, || match (Call::connect(path, time_left(until)), supervised_by(path)) {
            (Ok(call), _) => Some(Ok(call)),
            (Err(_), Some((process, false))) => {
                let why = format!("late: process {process}, which the report is about, has ended");
                Some(Err(late(why, wants_outcome)))
            }
            (Err(error), _) if error.kind() == io::ErrorKind::PermissionDenied => {
                let why = format!("the supervisor cannot be reached: {error}");
                Some(Err(Stop(Exit::Unreachable, why)))
            }
            (Err(error), _) if is_timeout(&error) => {
                let why = "the supervisor does not answer; `doctor` says which process it is";
                Some(Err(Stop(Exit::Unreachable, why.to_owned())))
            }
            (Err(_), _) => None,
        });
    found.unwrap_or_else(|| {
        let gone = "late: the supervisor that HERDR_REPORT_SOCKET names is not there";
        Err(late(gone.to_owned(), wants_outcome))
    })
}
