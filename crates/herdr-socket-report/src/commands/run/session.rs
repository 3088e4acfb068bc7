//! From the first line to the release.

use std::time::{Duration, Instant};

use herdr_proto::Ping;
use reporter::DiagnosticKind::{
    ConnectFailed, Misconfigured, NotPaneApi, ProtocolRejected, Timeout,
};
use reporter::{Ended, Handle, Reporter};
use socket_transport::{Client, Endpoint, ErrorKind, Options};

use super::flushes::Flushes;
use super::voice::Voice;
use crate::exit::Exit;
use crate::input::signals::Signals;
use crate::input::{End, Host, Item, Stdin, leave_the_hosts_group};
use crate::place::Place;

/// How long the end may take, delivery of the last state and release together.
const END: Duration = Duration::from_millis(500);
/// How much of it the last state and the open flushes may take.
const LAST_STATE: Duration = Duration::from_millis(250);

/// What the reporter's last words may take after its end.
const GRACE: Duration = Duration::from_millis(100);

/// One run.
pub(crate) struct Session {
    pub(crate) reporter: Reporter,
    pub(crate) place: Place,
    pub(crate) voice: Voice,
    /// Nothing is said about lines: nobody reports here.
    pub(crate) quiet: bool,
    pub(crate) strict: bool,
}

impl Session {
    /// Reads to the end and gives the pane back.
    pub(crate) fn run(self, host: Option<Host>) -> Exit {
        let signals = match Signals::hear() {
            Ok(signals) => signals,
            Err(error) => {
                self.voice.say(&format!("signals cannot be heard: {error}"));
                return self.voice.finish(Exit::Usage);
            }
        };
        leave_the_hosts_group();
        let handle = self.reporter.handle();
        let followers = self.voice.follow(handle.diagnostics(), handle.receipts());
        let flushes = Flushes::new(handle.clone(), self.voice.clone());
        let mut stdin = Stdin::new(signals, host);
        let active = handle.is_active();
        let end = loop {
            let (items, end) = stdin.next();
            self.take(items, &handle, &flushes);
            if let Some(end) = end {
                break end;
            }
        };
        tracing::debug!(?end, "no more events");
        stdin.signals().lose_patience_soon();
        let over = Instant::now() + END;
        if end == End::Input {
            // A host that writes its last state and exits wants it seen, and a
            // server that cannot be reached is worth its diagnostic.
            handle.flush(LAST_STATE);
        }
        flushes.settle(LAST_STATE.min(left(over)));
        flushes.end();
        let Self { reporter, place, voice, strict, .. } = self;
        let ended = reporter.close(left(over));
        flushes.settle(GRACE);
        // A reporter that hangs must not hang the program, so this is no join.
        let _ = followers.recv_timeout(GRACE);
        let mut outcome = outcome(&handle, ended, &place, &voice);
        if let Place::Pane(endpoint) = &place
            && active
            && end == End::Input
            && handle.counters().offered == 0
        {
            outcome = ask(endpoint, &voice);
        }
        voice.finish(if strict { outcome } else { Exit::Fine })
    }

    /// Records a batch. What comes before a flush is recorded before it.
    fn take(&self, items: Vec<Item>, handle: &Handle, flushes: &Flushes) {
        let mut events = Vec::with_capacity(items.len());
        for item in items {
            match item {
                Item::Event { line, event } => events.push((line, event)),
                Item::Flush { id, timeout } => {
                    self.record(std::mem::take(&mut events), handle);
                    flushes.begin(id, timeout);
                }
                Item::Bad { line, why } if !self.quiet => self.voice.bad_line(line, &why),
                Item::Bad { .. } => {}
            }
        }
        self.record(events, handle);
    }

    fn record(&self, events: Vec<(u64, reporter::AgentEvent)>, handle: &Handle) {
        if events.is_empty() {
            return;
        }
        let (lines, events): (Vec<_>, Vec<_>) = events.into_iter().unzip();
        for (place, refused) in handle.record_all(events) {
            if let Some(line) = lines.get(place).filter(|_| !self.quiet) {
                self.voice.bad_line(*line, &refused.to_string());
            }
        }
    }
}

fn left(over: Instant) -> Duration {
    over.saturating_duration_since(Instant::now())
}

/// Whether anything reached the server, for `--strict`.
fn outcome(handle: &Handle, ended: Ended, place: &Place, voice: &Voice) -> Exit {
    match place {
        Place::Outside(_) => return Exit::Fine,
        Place::Broken(_) => return Exit::Unreachable,
        Place::Pane(_) => {}
    }
    let delivered = handle.counters().delivered > 0;
    let lost = ended == Ended::NotReleased;
    if lost || (!delivered && voice.raised(&[ConnectFailed, Timeout, NotPaneApi, Misconfigured])) {
        Exit::Unreachable
    } else if !delivered && voice.raised(&[ProtocolRejected]) {
        Exit::Refused
    } else {
        Exit::Fine
    }
}

/// Where no event made the reporter try, a broken socket would go unnoticed.
fn ask(endpoint: &Endpoint, voice: &Voice) -> Exit {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return Exit::Fine };
    let client = Client::new(endpoint.socket(), Options::default().deadline(LAST_STATE));
    match runtime.block_on(client.call(&Ping::default())) {
        Ok(_) => Exit::Fine,
        Err(error) if error.kind() == ErrorKind::Rejected => {
            voice.diagnose(ProtocolRejected.as_str(), &error.to_string());
            Exit::Refused
        }
        Err(error) => {
            voice.diagnose(ConnectFailed.as_str(), &error.to_string());
            Exit::Unreachable
        }
    }
}
