//! Starting programs in the pane, and measuring their time and memory.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

/// A tick of the processor time in `/proc`. It is the same on every architecture of Linux.
const TICK: Duration = Duration::from_millis(10);

/// The sidecar in the folder of this program.
pub(super) fn sidecar() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("the path of this program")?;
    Ok(own.with_file_name("herdr-socket-report"))
}

/// A command without stdin, stdout and stderr.
pub(super) fn quiet<A: AsRef<OsStr>>(
    program: &Path,
    arguments: impl IntoIterator<Item = A>,
) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Runs a program, and returns the time from its start to its end.
pub(super) fn run(command: &mut Command) -> anyhow::Result<Duration> {
    let began = Instant::now();
    let status = command.status().with_context(|| format!("{command:?}"))?;
    let took = began.elapsed();
    ensure!(status.success(), "{command:?}: {status}");
    Ok(took)
}

/// A `run` in this pane, which reads its events from here.
#[derive(Debug)]
pub(super) struct Run {
    child: Child,
    input: Option<ChildStdin>,
}

impl Run {
    /// Starts `run` as working. Returns the time until that was delivered.
    pub(super) fn start(sidecar: &Path) -> anyhow::Result<(Self, Duration)> {
        Self::start_as(sidecar, "working")
    }

    pub(super) fn start_idle(sidecar: &Path) -> anyhow::Result<(Self, Duration)> {
        Self::start_as(sidecar, "idle")
    }

    fn start_as(sidecar: &Path, state: &str) -> anyhow::Result<(Self, Duration)> {
        // Reading back is not a part of the delivery.
        let mut command =
            quiet(sidecar, ["run", "--agent", "bench", "--receipts", "--verify=false"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let began = Instant::now();
        let mut child = command.spawn()?;
        let mut input = child.stdin.take();
        let output = child.stdout.take();
        if let Some(input) = &mut input {
            writeln!(input, "{{\"event\":\"state_set\",\"state\":\"{state}\"}}")?;
        }
        let lines = output.into_iter().flat_map(|output| BufReader::new(output).lines());
        let receipt = lines.map_while(Result::ok).find(|line| line.contains("\"of\":\"state\""));
        ensure!(receipt.is_some(), "`run` ended without a receipt");
        Ok((Self { child, input }, began.elapsed()))
    }

    pub(super) fn child(&self) -> &Child {
        &self.child
    }

    /// Ends the input, and returns the time until `run` has ended.
    pub(super) fn end(mut self) -> anyhow::Result<Duration> {
        let began = Instant::now();
        self.input = None;
        self.child.wait()?;
        Ok(began.elapsed())
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}

/// The processor time of all children that have ended.
pub(super) fn children_time() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The program's name in front may contain blanks and parentheses.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_whitespace().skip(13).take(2);
    TICK * ticks.filter_map(|ticks| ticks.parse::<u32>().ok()).sum()
}

/// How often the threads of a process have started to wait.
pub(super) fn waits(child: &Child) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{}/task", child.id())).into_iter().flatten().flatten();
    tasks.filter_map(|task| field(&task.path(), "voluntary_ctxt_switches")).sum()
}

/// The resident memory of a process and its anonymous part, in KiB.
pub(super) fn memory(child: &Child) -> (u64, u64) {
    let process = PathBuf::from(format!("/proc/{}", child.id()));
    let field = |name| field(&process, name).unwrap_or_default();
    (field("VmRSS"), field("RssAnon"))
}

fn field(process: &Path, name: &str) -> Option<u64> {
    let status = fs::read_to_string(process.join("status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
}
