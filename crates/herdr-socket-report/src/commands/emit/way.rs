//! Who takes a report: the supervisor that the environment names, the pane's
//! owner, or Herdr itself.

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

/// How long a supervisor that is starting is waited for where its address tells
/// nothing of it.
const START: Duration = Duration::from_millis(500);

/// A pane and its lease.
pub(crate) type Target<'a> = (&'a Endpoint, LeaseFile);

pub(super) enum Way<'a> {
    /// The supervisor that the environment names, or the pane's reporter.
    Owner(Call),
    /// Herdr itself, while the lease is shared.
    Straight(&'a Target<'a>, Option<File>),
}

/// Outside Herdr there is nothing to do, and nothing wrong with it, unless
/// somebody waits for what is not going to happen.
pub(super) fn nobody(asked: bool) -> Stop {
    let told = asked || io::stderr().is_terminal();
    let why = if told { "nothing is reported: this is not a pane of Herdr" } else { "" };
    Stop(Exit::Unreachable, why.to_owned())
}

/// Every hook that outlives its agent is late; nobody can help it, and only who
/// asked is told.
pub(super) fn late(why: String, asked: bool) -> Stop {
    Stop(Exit::Refused, if asked { why } else { String::new() })
}

/// The supervisor that the environment names, also a scrubbed one. One of another
/// pane is an outer server's, and who names a pane himself means that.
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

pub(super) fn left(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now())
}

pub(super) fn way<'a>(
    named: Option<&Path>,
    place: &Result<Place, String>,
    pane: Option<&'a Target<'a>>,
    until: Instant,
    asked: bool,
) -> Result<Way<'a>, Stop> {
    if let Some(path) = named {
        return supervisor_at(path, until, asked).map(Way::Owner);
    }
    let Some(target) = pane else {
        return Err(match place {
            Ok(Place::Broken(why)) => Stop(Exit::Unreachable, format!("misconfigured: {why}")),
            Err(wrong) => usage(wrong.as_str()),
            Ok(_) => nobody(asked),
        });
    };
    let (_, lease) = target;
    // `attach` cannot tell its process an address, and may not have the pane yet.
    let above = lease.supervisor_above(std::process::id());
    if let Some(call) = above.and_then(|path| Call::to(&path, left(until)).ok()) {
        return Ok(Way::Owner(call));
    }
    let socket = lease.control_socket();
    let way = wait_for(left(until), || {
        if let Ok(call) = Call::to(&socket, left(until)) {
            return Some(Way::Owner(call));
        }
        match lease.try_share() {
            Ok(None) => None,
            Ok(shared) => Some(Way::Straight(target, shared)),
            // A folder that cannot be written to keeps nobody from reporting.
            Err(_) => Some(Way::Straight(target, None)),
        }
    });
    way.ok_or_else(|| {
        let why = "deferred: a reporter has the pane and takes no events from others";
        Stop(Exit::Refused, why.to_owned())
    })
}

/// Calls the supervisor that the environment names. One that starts is waited
/// for; whoever has ended hears nothing any more, and nobody else does.
fn supervisor_at(path: &Path, until: Instant, asked: bool) -> Result<Call, Stop> {
    let of = supervised_by(path);
    let limit = if of.is_some() { left(until) } else { left(until).min(START) };
    let found = wait_for(limit, || match (Call::to(path, left(until)), supervised_by(path)) {
        (Ok(call), _) => Some(Ok(call)),
        (Err(_), Some((process, false))) => {
            let why = format!("late: process {process}, which the report is about, has ended");
            Some(Err(late(why, asked)))
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
        Err(late(gone.to_owned(), asked))
    })
}
