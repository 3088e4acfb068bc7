//! The main part of `run`, from the first line to the release.

use std::time::{Duration, Instant};

use herdr_reporter::DiagnosticKind::{
    ConnectFailed, Deferred, ForeignPane, NotPaneApi, ProtocolRejected, Timeout,
};
use herdr_reporter::sidecar::LeaseFile;
use herdr_reporter::{AgentEvent, Ended, Handle, Refused, Reporter};
use serde_json::Value;

use super::flushes::Flushes;
use super::output::Output;
use crate::commands::KEPT;
use crate::control::{Addresses, Admission, Control, Intake};
use crate::exit::Exit;
use crate::input::signals::Signals;
use crate::input::{End, LineSink, Stdin, leave_the_hosts_group};
use crate::place::Place;
use crate::reach::{Unreached, reach};
use crate::supervisor::Watched;

/// The time limit for delivering the last state and the release. With the end of the process
/// itself it is half a second.
const END: Duration = Duration::from_millis(480);
/// The part of it for the last state and the open flushes.
const LAST_STATE: Duration = Duration::from_millis(250);
/// The time limit for the last diagnostics after the reporter has ended.
const GRACE: Duration = Duration::from_millis(100);

pub(crate) struct Session {
    pub(crate) reporter: Reporter,
    /// The rules for clients, and the lease of the pane; `None` outside a pane.
    pub(crate) lease: Option<(Admission, LeaseFile)>,
    pub(crate) place: Place,
    pub(crate) output: Output,
    /// Whether wrong lines are left out without a message, because nothing is reported.
    pub(crate) quiet: bool,
    pub(crate) strict: bool,
    /// Whether a socket of another user is accepted.
    pub(crate) allow_foreign_socket: bool,
}

impl Session {
    /// Reads the input to its end and releases the pane.
    pub(crate) fn run(self, host: Option<Watched>) -> Exit {
        let signals = match Signals::catch() {
            Ok(signals) => signals,
            Err(error) => {
                self.output.say(&format!("signals cannot be heard: {error}"));
                return self.output.finish(Exit::Usage);
            }
        };
        leave_the_hosts_group();
        let handle = self.reporter.handle();
        let active = handle.is_active();
        let follower = self.output.follow(handle.diagnostics(), handle.receipts());
        let flushes = Flushes::new(handle.clone(), self.output.clone());
        let mut control = self.lease.as_ref().map(|(admission, lease)| {
            let addresses = Addresses { pane: lease.control_socket(), own: None, begun: None };
            Control::start(addresses, &Intake::new(handle.clone()), admission.clone())
        });
        let mut stdin = Stdin::new(signals, host);
        let end = self.read(&mut stdin, &handle, &flushes);

        stdin.signals().end_at_once_soon();
        // The sockets are closed while the lease is still held, so that no client finds a dead
        // socket.
        if let Some(control) = &mut control {
            control.close();
        }
        let over = Instant::now() + END;
        if end == End::Input {
            // A host that writes its last state and exits wants that state shown, and a server
            // that does not answer has to be reported.
            handle.flush(LAST_STATE);
        }
        flushes.settle(LAST_STATE.min(left(over)));
        flushes.end();
        let Self { reporter, lease, place, output, strict, allow_foreign_socket, .. } = self;
        let ended = reporter.close(left(over));
        flushes.settle(GRACE);
        // The thread is not joined, because a reporter that hangs must not hang the program.
        let _ = follower.recv_timeout(GRACE);
        if let Some(control) = control {
            control.finish();
        }

        let outcome = match &place {
            // With `--strict` the caller wants to know that nothing is shown.
            Place::Outside(_) | Place::Broken(_) => Exit::Unreachable,
            // If no event made the reporter connect, a broken socket would not be noticed.
            Place::Pane(endpoint)
                if active && end == End::Input && handle.counters().offered == 0 =>
            {
                match reach(endpoint, allow_foreign_socket, LAST_STATE) {
                    Ok(()) => Exit::Fine,
                    Err(Unreached { kind, detail, exit }) => {
                        output.raise(kind, &detail);
                        exit
                    }
                }
            }
            Place::Pane(_) => {
                if let Some((_, lease)) = lease {
                    explain_silence(&lease, &handle, end, &output);
                }
                explain_loss(ended, &output);
                outcome(&handle, ended, &output)
            }
        };
        output.finish(if strict { outcome } else { Exit::Fine })
    }

    fn read(&self, stdin: &mut Stdin, handle: &Handle, flushes: &Flushes) -> End {
        loop {
            let (items, end) = stdin.next();
            Batch { session: self, handle, flushes }.take_lines(items);
            if let Some(end) = end {
                tracing::debug!(?end, "no more events");
                return end;
            }
        }
    }
}

/// Takes a batch of lines.
struct Batch<'a> {
    session: &'a Session,
    handle: &'a Handle,
    flushes: &'a Flushes,
}

impl LineSink for Batch<'_> {
    fn record(&self, events: Vec<AgentEvent>) -> Vec<(usize, Refused)> {
        self.handle.record_all(events)
    }

    fn flush(&self, id: Value, timeout: Duration) {
        self.flushes.begin(id, timeout);
    }

    fn bad_line(&self, line: u64, why: &str) {
        if !self.session.quiet {
            self.session.output.bad_line(line, why);
        }
    }
}

fn left(over: Instant) -> Duration {
    over.saturating_duration_since(Instant::now())
}

/// Explains why nothing was delivered, if the input ends while the reporter still waits for
/// another owner of the pane or for the server.
fn explain_silence(lease: &LeaseFile, handle: &Handle, end: End, output: &Output) {
    let counters = handle.counters();
    let unheard = counters.dropped > 0 && counters.delivered == 0;
    let told = [ConnectFailed, Timeout, NotPaneApi, ProtocolRejected, Deferred, ForeignPane];
    if !unheard || output.raised(&told) {
        return;
    }
    let (kind, detail) = if matches!(lease.try_share(), Ok(None)) {
        (Deferred, KEPT)
    } else if end == End::Input {
        (Timeout, "nothing was delivered: the server did not answer before the end")
    } else {
        // A signal may arrive before there was anything to report.
        return;
    };
    output.raise(kind, detail);
}

/// Says that the row may stay, if no diagnostic has said why.
fn explain_loss(ended: Ended, output: &Output) {
    let told = [ConnectFailed, Timeout, NotPaneApi, ProtocolRejected];
    if ended == Ended::NotReleased && !output.raised(&told) {
        let detail =
            "the release was not answered in time; if the row stays, `release` gives it back";
        output.raise(Timeout, detail);
    }
}

fn outcome(handle: &Handle, ended: Ended, output: &Output) -> Exit {
    let counters = handle.counters();
    // If the state fails, title and tokens that were delivered do not show.
    let shown = counters.applied > 0 || !output.raised(&[ConnectFailed, ProtocolRejected]);
    let (offered, delivered) = (counters.offered > 0, counters.delivered > 0 && shown);
    let lost = ended == Ended::NotReleased;
    if lost || (!delivered && output.raised(&[ConnectFailed, Timeout, NotPaneApi])) {
        Exit::Unreachable
    } else if !delivered && output.raised(&[ProtocolRejected]) {
        Exit::Refused
    } else if offered && !delivered && output.raised(&[Deferred, ForeignPane]) {
        // A reporter that defers to a loaded one sends nothing, which is what was asked for.
        Exit::Refused
    } else {
        Exit::Fine
    }
}
