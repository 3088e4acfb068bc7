//! How long programs take from their start to their end or to their first report.

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;
use herdr_proto::encode;
use herdr_socket_transport::env::HERDR_SOCKET_PATH;
use rustix::process::{Pid, Signal, kill_process};

use super::Options;
use super::delivery;
use super::peer;
use super::process::{Run, children_time, quiet, run, sidecar};
use super::samples::{Samples, ms, times};
use super::table::Table;

/// The times of one program, and the processor time that it used.
struct Row {
    name: &'static str,
    times: Samples,
    processor: Duration,
    runs: u32,
}

impl Row {
    fn of(name: &'static str) -> Self {
        Self { name, times: Samples::default(), processor: Duration::ZERO, runs: 0 }
    }

    /// Takes one more sample.
    fn sample(&mut self, take: impl FnOnce() -> anyhow::Result<Duration>) -> anyhow::Result<()> {
        let before = children_time();
        self.times.push(take().context(self.name)?);
        self.processor += children_time().saturating_sub(before);
        self.runs += 1;
        Ok(())
    }
}

pub(super) fn measure(options: &Options, table: &mut Table) -> anyhow::Result<()> {
    let (rounds, frozen) = if options.quick { (2, 1) } else { (200, 10) };
    let sidecar = sidecar()?;
    let folder = tempfile::tempdir()?;
    let request = folder.path().join("request");
    std::fs::write(&request, encode("b", &delivery::report(&options.other)?)?)?;
    let mut rows = Vec::new();
    table.section(
        "Programs",
        &["p50 ms", "p90", "p99", "over 50 ms", "p50 ÷ `true`", "processor ms"],
    );

    let mut exec = quiet(&sidecar, ["exec", "--agent", "bench", "--state", "idle", "true"]);
    let mut one_shot = quiet(&sidecar, ["state", "working", "--agent", "bench"]);
    let mut nothing = quiet(Path::new("true"), [""; 0]);
    let mut others = vec![
        ("`herdr pane report-agent`", herdr(options)),
        ("Python with one request", python(&request)?),
    ];
    others.retain_mut(|(_, command)| run(command).is_ok());
    let mut other_rows: Vec<Row> = others.iter().map(|(name, _)| Row::of(name)).collect();
    let [mut empty, mut alone, mut owned, mut starts, mut ends, mut execs] = [
        "`true`",
        "`state working`, no owner",
        "`state working`, through an owner",
        "`run`, from its start to the first state delivered",
        "`run`, from the end of its input to its exit",
        "`exec true`",
    ]
    .map(Row::of);
    for _ in 0..rounds {
        empty.sample(|| run(&mut nothing))?;
        alone.sample(|| run(&mut one_shot))?;
        for ((_, command), row) in others.iter_mut().zip(&mut other_rows) {
            row.sample(|| run(command))?;
        }
        let mut started = None;
        starts.sample(|| {
            let (run, took) = Run::start(&sidecar)?;
            started = Some(run);
            Ok(took)
        })?;
        owned.sample(|| run(&mut one_shot))?;
        ends.sample(|| started.take().context("it was started")?.end())?;
        execs.sample(|| run(&mut exec))?;
    }
    rows.extend([empty, alone]);
    rows.extend(other_rows);
    rows.extend([owned, execs, starts, ends]);
    rows.push(ends_on_frozen(&sidecar, frozen)?);
    let floor = rows.first().map(|row| row.times.median()).unwrap_or_default();
    for row in rows {
        let [p50, p90, p99] = [500, 900, 990].map(|at| row.times.at(at));
        let polled = format!("{:.1} %", row.times.polled());
        // The processor time of `run` is known only when it has ended.
        let processor = Some(row.processor / row.runs.max(1)).filter(|time| !time.is_zero());
        let processor = processor.map(ms).unwrap_or_default();
        table.row(row.name, &[ms(p50), ms(p90), ms(p99), polled, times(p50, floor), processor]);
    }
    table.note(&format!("{rounds} runs of each in turns, {frozen} on a frozen server."));
    Ok(())
}

/// Measures the end of `run` while SIGSTOP has stopped the server.
fn ends_on_frozen(sidecar: &Path, rounds: usize) -> anyhow::Result<Row> {
    let mut row = Row::of("the same on a frozen server");
    for _ in 0..rounds {
        let (run, _) = Run::start(sidecar)?;
        let frozen = Frozen::now()?;
        row.sample(|| run.end())?;
        drop(frozen);
    }
    Ok(row)
}

fn herdr(options: &Options) -> Command {
    let pane = options.other.as_str();
    let arguments = ["pane", "report-agent", pane, "--source", "custom:benchclient"];
    let more = ["--agent", "benchclient", "--state", "working"];
    quiet(&options.server, [&arguments[..], &more].concat())
}

fn python(request: &Path) -> anyhow::Result<Command> {
    let mut script = quiet(Path::new(peer::PYTHON_PROGRAM), ["-c", peer::PYTHON]);
    script.arg(std::env::var_os(HERDR_SOCKET_PATH).unwrap_or_default());
    script.stdin(File::open(request)?);
    Ok(script)
}

/// The server of the pane, which SIGCONT continues when this is dropped.
struct Frozen(Pid);

impl Frozen {
    fn now() -> anyhow::Result<Self> {
        let socket = std::env::var_os(HERDR_SOCKET_PATH).context("a pane's variables")?;
        let server = peer::server(Path::new(&socket))?;
        kill_process(server, Signal::STOP)?;
        Ok(Self(server))
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        let _ = kill_process(self.0, Signal::CONT);
    }
}
