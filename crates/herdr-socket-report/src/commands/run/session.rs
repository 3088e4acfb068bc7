//! From the first line to the release.

use std::time::{Duration, Instant};

use herdr_reporter::DiagnosticKind::{
    ConnectFailed, Deferred, ForeignPane, NotPaneApi, ProtocolRejected, Timeout,
};
use herdr_reporter::sidecar::LeaseFile;
use herdr_reporter::{AgentEvent, Ended, Handle, Refused, Reporter};
use serde_json::Value;

use super::flushes::Flushes;
use super::voice::Voice;
use crate::commands::KEPT;
use crate::control::{Addresses, Admission, Control, Intake};
use crate::exit::Exit;
use crate::input::signals::Signals;
use crate::input::{End, LineSink, Stdin, leave_the_hosts_group};
use crate::place::Place;
use crate::reach::{Unreached, reach};
use crate::supervisor::Watched;

/// How long the end may take, delivery of the last state and release together:
/// half a second with the end of the process itself.
const END: Duration = Duration::from_millis(480);
/// How much of it the last state and the open flushes may take.
const LAST_STATE: Duration = Duration::from_millis(250);
/// What the reporter's last words may take after its end.
const GRACE: Duration = Duration::from_millis(100);

pub(crate) struct Session {
    pub(crate) reporter: Reporter,
    /// Which clients are heard, and the pane's lease; nothing outside a pane.
    pub(crate) lease: Option<(Admission, LeaseFile)>,
    pub(crate) place: Place,
    pub(crate) voice: Voice,
    /// Nothing is said about lines: nobody reports here.
    pub(crate) quiet: bool,
    pub(crate) strict: bool,
    /// Whether another user's socket will do.
    pub(crate) allow_foreign_socket: bool,
}

impl Session {
    /// Reads to the end and gives the pane back.
    pub(crate) fn run(self, host: Option<Watched>) -> Exit {
        let signals = match Signals::catch() {
            Ok(signals) => signals,
            Err(error) => {
                self.voice.say(&format!("signals cannot be heard: {error}"));
                return self.voice.finish(Exit::Usage);
            }
        };
        leave_the_hosts_group();
        let handle = self.reporter.handle();
        let active = handle.is_active();
        let follower = self.voice.follow(handle.diagnostics(), handle.receipts());
        let flushes = Flushes::new(handle.clone(), self.voice.clone());
        let mut control = self.lease.as_ref().map(|(admission, lease)| {
            let addresses = Addresses { pane: lease.control_socket(), own: None, begun: None };
            Control::start(addresses, &Intake::new(handle.clone()), admission.clone())
        });
        let mut stdin = Stdin::new(signals, host);
        let end = self.read(&mut stdin, &handle, &flushes);

        stdin.signals().end_at_once_soon();
        // While the lease is still ours, so that nobody finds a dead socket.
        if let Some(control) = &mut control {
            control.close();
        }
        let over = Instant::now() + END;
        if end == End::Input {
            // A host that writes its last state and exits wants it seen, and a
            // server that cannot be reached is worth its diagnostic.
            handle.flush(LAST_STATE);
        }
        flushes.settle(LAST_STATE.min(left(over)));
        flushes.end();
        let Self { reporter, lease, place, voice, strict, allow_foreign_socket, .. } = self;
        let ended = reporter.close(left(over));
        flushes.settle(GRACE);
        // A reporter that hangs must not hang the program, so the thread is not joined.
        let _ = follower.recv_timeout(GRACE);
        if let Some(control) = control {
            control.finish();
        }

        let outcome = match &place {
            // With `--strict` somebody wants to know that nothing shows.
            Place::Outside(_) | Place::Broken(_) => Exit::Unreachable,
            // Where no event made the reporter try, a broken socket would go
            // unnoticed.
            Place::Pane(endpoint)
                if active && end == End::Input && handle.counters().offered == 0 =>
            {
                match reach(endpoint, allow_foreign_socket, LAST_STATE) {
                    Ok(()) => Exit::Fine,
                    Err(Unreached { kind, detail, exit }) => {
                        voice.raise(kind, &detail);
                        exit
                    }
                }
            }
            Place::Pane(_) => {
                if let Some((_, lease)) = lease {
                    explain_silence(&lease, &handle, end, &voice);
                }
                explain_loss(ended, &voice);
                outcome(&handle, ended, &voice)
            }
        };
        voice.finish(if strict { outcome } else { Exit::Fine })
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

/// What a batch of lines is taken by.
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
            self.session.voice.bad_line(line, why);
        }
    }
}

fn left(over: Instant) -> Duration {
    over.saturating_duration_since(Instant::now())
}

/// Says why nothing was delivered where this ends before the reporter gave up
/// waiting: for another one to leave the pane, or for the server.
fn explain_silence(lease: &LeaseFile, handle: &Handle, end: End, voice: &Voice) {
    let counters = handle.counters();
    let unheard = counters.dropped > 0 && counters.delivered == 0;
    let told = [ConnectFailed, Timeout, NotPaneApi, ProtocolRejected, Deferred, ForeignPane];
    if !unheard || voice.raised(&told) {
        return;
    }
    let (kind, detail) = if matches!(lease.try_share(), Ok(None)) {
        (Deferred, KEPT)
    } else if end == End::Input {
        (Timeout, "nothing was delivered: the server did not answer before the end")
    } else {
        // A signal may come before anything was said.
        return;
    };
    voice.raise(kind, detail);
}

/// Says that the row may stay, where no diagnostic has said why.
fn explain_loss(ended: Ended, voice: &Voice) {
    let told = [ConnectFailed, Timeout, NotPaneApi, ProtocolRejected];
    if ended == Ended::NotReleased && !voice.raised(&told) {
        let detail =
            "the release was not answered in time; if the row stays, `release` gives it back";
        voice.raise(Timeout, detail);
    }
}

fn outcome(handle: &Handle, ended: Ended, voice: &Voice) -> Exit {
    let counters = handle.counters();
    // What is delivered beside a state that fails does not show.
    let shown = counters.applied > 0 || !voice.raised(&[ConnectFailed, ProtocolRejected]);
    let (offered, delivered) = (counters.offered > 0, counters.delivered > 0 && shown);
    let lost = ended == Ended::NotReleased;
    if lost || (!delivered && voice.raised(&[ConnectFailed, Timeout, NotPaneApi])) {
        Exit::Unreachable
    } else if !delivered && voice.raised(&[ProtocolRejected]) {
        Exit::Refused
    } else if offered && !delivered && voice.raised(&[Deferred, ForeignPane]) {
        // With a loaded reporter nothing is offered, and nothing is missed.
        Exit::Refused
    } else {
        Exit::Fine
    }
}
