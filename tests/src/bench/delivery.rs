//! How long one report takes, from connecting to the reply.

use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::ensure;
use herdr_proto::{AgentLabel, PaneId, ReportAgent, ReportState, Seq, SourceId, encode};
use herdr_reporter::{Config, Flushed, Reporter};

use super::Options;
use super::busy::Busy;
use super::peer::Peer;
use super::samples::{Samples, ms, share, times};
use super::table::Table;

/// Longer than the reporter's pace of state changes, so that no change waits for the last one.
const PAUSE: Duration = Duration::from_millis(60);
/// Longer than any delivery takes.
const AMPLE: Duration = Duration::from_secs(20);
/// How many requests each client makes for one change of the reporter.
const REQUESTS_PER_CHANGE: usize = 4;

/// Measures the reporter and the clients in turns.
pub(super) fn measure(options: &Options, table: &mut Table) -> anyhow::Result<()> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let rounds = if options.quick { 5 } else { 400 };
    let place = herdr_socket_transport::Endpoint::from_env(|name| std::env::var_os(name));
    let herdr_socket_transport::Discovery::Found(place) = place else {
        anyhow::bail!("this is not a pane");
    };
    let socket = place.socket();
    let mut peers = vec![
        Peer::Plain(socket.to_owned()),
        Peer::exchange(socket, false)?,
        Peer::exchange(socket, true)?,
    ];
    peers.extend(Peer::scripts(socket));
    let mut report = report(&options.other)?;
    let mut host = Host::start();
    for (title, loops) in [
        ("Delivery on a machine that is free".to_owned(), 0),
        (format!("Delivery with {} busy loops on {cores} cores", 2 * cores), 2 * cores),
    ] {
        let busy = Busy::loops(loops);
        let mut samples = vec![Samples::default(); peers.len()];
        let mut host_samples = Samples::default();
        let copies = |peers: &[Peer]| peers.iter().find_map(Peer::copies).unwrap_or_default();
        let copies_before = copies(&peers);
        for _ in 0..rounds {
            host_samples.push(host.change()?);
            for _ in 0..REQUESTS_PER_CHANGE {
                for (peer, samples) in peers.iter_mut().zip(&mut samples) {
                    report.seq = Some(number());
                    samples.push(peer.deliver(&encode("b", &report)?)?);
                }
            }
        }
        drop(busy);
        table.section(
            &title,
            &["p50 ms", "p90", "p99", "p99.9", "over 50 ms", "p50 ÷ plain", "p99 ÷ plain"],
        );
        let plain = samples.first().cloned().unwrap_or_default();
        let named = peers.iter().map(Peer::name).zip(&samples);
        for (name, samples) in named.chain([("the reporter, from a call", &host_samples)]) {
            table.row(name, &row(samples, &plain));
        }
        let sent = usize::try_from(copies(&peers) - copies_before)?;
        let percent = share(sent, rounds * REQUESTS_PER_CHANGE) * 100.0;
        table.note(&format!(
            "{} requests of each client, {rounds} of the reporter; {percent:.1} copies for 100 \
             requests with hedges.",
            rounds * REQUESTS_PER_CHANGE
        ));
    }
    Ok(())
}

fn row(samples: &Samples, plain: &Samples) -> [String; 7] {
    let [p50, p90, p99, p999] = [500, 900, 990, 999].map(|at| samples.at(at));
    [
        ms(p50),
        ms(p90),
        ms(p99),
        ms(p999),
        format!("{:.1} %", samples.polled()),
        times(p50, plain.median()),
        times(p99, plain.at(990)),
    ]
}

/// The request of the clients. No reporter watches its pane.
pub(super) fn report(pane: &str) -> anyhow::Result<ReportAgent> {
    Ok(ReportAgent::new(
        PaneId::parse(pane)?,
        SourceId::parse("custom:benchclient")?,
        AgentLabel::parse("benchclient")?,
        ReportState::Working,
    ))
}

/// A sequence number from the clock, as other clients use it.
fn number() -> Seq {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Seq::new(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}

/// A host in the pane that embeds the library.
struct Host {
    reporter: Reporter,
    changed: Instant,
    works: bool,
}

impl Host {
    fn start() -> Self {
        let mut config = Config::default();
        // Reading back is not a part of the delivery.
        config.verify = false;
        let reporter = Reporter::builder("benchhost").config(config).start();
        Self { reporter, changed: Instant::now(), works: false }
    }

    /// Changes the state, and returns the time from the call to the server's answer.
    fn change(&mut self) -> anyhow::Result<Duration> {
        thread::sleep(PAUSE.saturating_sub(self.changed.elapsed()));
        self.works = !self.works;
        let state = if self.works { ReportState::Working } else { ReportState::Blocked };
        let began = Instant::now();
        self.reporter.set_state(state);
        let flushed = self.reporter.flush(AMPLE);
        let took = began.elapsed();
        self.changed = Instant::now();
        ensure!(flushed == Flushed::Delivered, "the reporter: {flushed:?}");
        Ok(took)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // The next measurement should not overlap with pending reports.
        self.reporter.flush(AMPLE);
    }
}
