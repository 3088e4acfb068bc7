//! A report straight to Herdr, where no reporter has the pane.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use herdr_proto::{AgentLabel, Ttl};
use herdr_reporter::machine::{Claim, OneShot};
use herdr_reporter::sidecar::{LeaseFile, Leavings, Process, Reported, report_once};
use herdr_reporter::{AgentEvent, Outcome, Part};
use herdr_socket_transport::Endpoint;

use crate::settings::Loaded;
use crate::wait::{blocking, wait_for};

/// The unit in which the kernel gives the start time of a process.
const TICK: Duration = Duration::from_millis(10);
/// The number of digits that a start time can have.
const NUMBER_BYTES: u64 = 20;

/// A report and its conditions.
pub(super) struct DirectReport<'a> {
    pub(super) pane: &'a Endpoint,
    pub(super) lease: &'a LeaseFile,
    /// The lease, which is shared with other one-shots.
    pub(super) shared: Option<&'a File>,
    pub(super) loaded: &'a Loaded,
    pub(super) ttl: Ttl,
    /// The start time of this process, see [`started`].
    pub(super) started: u64,
    pub(super) until: Instant,
}

impl DirectReport<'_> {
    /// Sends the report. `None` if the agent's name is not a label or nothing can be sent.
    pub(super) fn send(&self, events: Vec<AgentEvent>) -> Option<Reported> {
        let settings = &self.loaded.settings;
        let mut config = settings.config.clone();
        config.own_label = self.loaded.named;
        config.metadata_ttl = self.ttl;
        let agent = AgentLabel::normalize(&settings.agent)?;
        let source = settings.source(&agent);
        let mut claim = Claim::new(self.pane.pane().clone(), source, agent, config);
        let turn = Turn::take(self.lease, self.until);
        let set = tokens_set_by(&events);
        let left = self.shared.map(Leavings::noted_in).unwrap_or_default();
        let mut once = OneShot::new(events, self.started);
        once.left = left.clone();
        claim.once = Some(once);
        let superseded = || turn.as_ref().is_some_and(|turn| turn.is_after(self.started));
        let reported = blocking(report_once(self.pane, claim, self.until, superseded))?;
        let succeeded = |it: &herdr_reporter::Receipt| {
            matches!(it.of, Part::State | Part::Release) && it.outcome != Outcome::Failed
        };
        if let Some(turn) = turn.filter(|_| reported.receipts.iter().any(succeeded)) {
            turn.note(self.started);
        }
        if let Some(shared) = self.shared.filter(|_| reported.in_time) {
            // While the lease is shared, no reporter holds it, so only one-shots write to the
            // file.
            let _ = left.after_one_shot(|key| set.contains(key.as_str())).note_in(shared);
        }
        Some(reported)
    }
}

/// The keys of the tokens that these events set.
fn tokens_set_by(events: &[AgentEvent]) -> BTreeSet<String> {
    let keys = events.iter().filter_map(|event| match event {
        AgentEvent::TokensChanged { tokens, .. } => Some(tokens.keys().cloned()),
        _ => None,
    });
    keys.flatten().collect()
}

/// The lock of the one-shot whose turn it is. One-shots on a pane run one after the other, so
/// that each read-back shows the one-shot's own report. The file holds the latest start time of
/// a one-shot that has reported, so that the one that was started last wins.
struct Turn(File);

impl Turn {
    /// Waits for the turn until the deadline. If it does not come, the report is made anyway.
    fn take(lease: &LeaseFile, until: Instant) -> Option<Self> {
        use std::os::unix::fs::OpenOptionsExt;

        let path = lease.path().with_extension("turn");
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(path).ok()?;
        wait_for(until.saturating_duration_since(Instant::now()), || file.try_lock().ok());
        Some(Self(file))
    }

    /// Whether a one-shot that was started later has reported. A start time in the future was
    /// noted before the clock was set back, so it does not count.
    fn is_after(&self, started: u64) -> bool {
        self.last().is_some_and(|last| last > started && last <= micros_now())
    }

    fn last(&self) -> Option<u64> {
        let mut file = &self.0;
        file.rewind().ok()?;
        let mut text = String::new();
        file.take(NUMBER_BYTES).read_to_string(&mut text).ok()?;
        text.parse().ok()
    }

    fn note(&self, started: u64) {
        if !self.is_after(started) {
            let mut file = &self.0;
            let _ = file.rewind().and_then(|()| self.0.set_len(0));
            let _ = write!(file, "{started}");
        }
    }
}

/// The start time of this process in microseconds since 1970. The kernel's start time has a
/// resolution of one tick; within that tick the time of the call counts.
pub(super) fn started() -> u64 {
    let began = Process::of(std::process::id())
        .and_then(|process| Some(Duration::from_secs(process.started) / ticks_per_second()?));
    // Both clocks are read at once. Time that passes between them would make this process look
    // older, possibly older than one that ended before it started.
    let (since_boot, now) = (since_boot(), micros_now());
    let ran_for = since_boot.zip(began).and_then(|(now, began)| now.checked_sub(began));
    let Some(ran_for) = ran_for.and_then(|ran| u64::try_from(ran.as_micros()).ok()) else {
        return now;
    };
    let tick = u64::try_from(TICK.as_micros()).unwrap_or(u64::MAX);
    now.saturating_sub(ran_for) + ran_for.min(tick - 1)
}

#[cfg(target_os = "linux")]
fn since_boot() -> Option<Duration> {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Some(Duration::new(u64::try_from(now.tv_sec).ok()?, u32::try_from(now.tv_nsec).ok()?))
}

#[cfg(not(target_os = "linux"))]
fn since_boot() -> Option<Duration> {
    None
}

fn ticks_per_second() -> Option<u32> {
    u32::try_from(rustix::param::clock_ticks_per_second()).ok().filter(|ticks| *ticks > 0)
}

fn micros_now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f15_the_start_of_this_process_is_in_the_past_and_stays() {
        let (first, second) = (started(), started());
        assert!(first <= micros_now() && first.abs_diff(second) < 20_000);
        // A test may be long.
        assert!(micros_now() - first < 3_600_000_000);
    }

    #[test]
    fn f15_the_last_start_is_remembered_unless_it_is_still_to_come() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = herdr_reporter::Config::default();
        config.runtime_folder = Some(folder.path().to_owned());
        let pane = herdr_proto::PaneId::parse("w1:p1").unwrap();
        let lease = LeaseFile::of_pane(&config, &Endpoint::new("/nowhere", pane));
        let now = micros_now();
        let turn = Turn::take(&lease, Instant::now()).unwrap();
        assert_eq!((turn.last(), turn.is_after(0)), (None, false));
        turn.note(now - 1_000);
        turn.note(now - 2_000);
        assert!(turn.is_after(now - 1_500) && !turn.is_after(now - 1_000));
        turn.note(now + 3_600_000_000);
        assert!(!turn.is_after(now));
    }
}
