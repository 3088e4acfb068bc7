//! The cost of many events, and of a reporter that is idle.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use herdr_socket_transport::env::HERDR_SOCKET_PATH;

use super::Options;
use super::peer::{PYTHON_PROGRAM, Peer};
use super::process::{Run, children_time, memory, quiet, run, sidecar, waits};
use super::samples::ms;
use super::table::Table;

/// The least that a Python program would do with each line.
const PARSE: &str = "import json, sys\nfor line in sys.stdin: json.loads(line)";
/// How long a reporter needs after its start until it is idle.
const SETTLES: Duration = Duration::from_secs(2);

pub(super) fn measure(options: &Options, table: &mut Table) -> anyhow::Result<()> {
    floods(options.quick, table)?;
    rest(options.quick, table)
}

fn floods(quick: bool, table: &mut Table) -> anyhow::Result<()> {
    let (events, rounds) = if quick { (10_000_u32, 1) } else { (1_000_000, 3) };
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("events");
    let mut lines = BufWriter::new(File::create(&path)?);
    for number in 0..events {
        writeln!(lines, r#"{{"event":"tokens_changed","tokens":{{"step":"{number:07}"}}}}"#)?;
    }
    lines.flush()?;
    let mut rows = [
        ("`run`", quiet(&sidecar()?, ["run", "--agent", "bench"])),
        ("Python's `json.loads` of each line", quiet(Path::new(PYTHON_PROGRAM), ["-c", PARSE])),
    ]
    .map(|(name, command)| (name, command, Duration::ZERO, Duration::ZERO));
    for _ in 0..rounds {
        for (name, command, took, processor) in &mut rows {
            let before = children_time();
            command.stdin(File::open(&path)?);
            // Python may be missing.
            *took += run(command).context(*name).unwrap_or_default();
            *processor += children_time().saturating_sub(before);
        }
    }
    table.section(&format!("{events} events"), &["processor ms", "start to exit ms"]);
    for (name, _, took, processor) in rows.iter().filter(|(_, _, took, _)| !took.is_zero()) {
        table.row(name, &[ms(*processor / rounds), ms(*took / rounds)]);
    }
    Ok(())
}

fn rest(quick: bool, table: &mut Table) -> anyhow::Result<()> {
    let time = Duration::from_secs(if quick { 1 } else { 60 });
    let sidecar = sidecar()?;
    let (run, _) = Run::start_idle(&sidecar)?;
    let socket = std::env::var_os(HERDR_SOCKET_PATH).context("a pane's variables")?;
    let scripts = Peer::scripts(Path::new(&socket));
    thread::sleep(SETTLES);
    let (before, began) = (waits(run.child()), Instant::now());
    thread::sleep(time);
    let minutes = began.elapsed().as_secs_f64() / 60.0;
    let woken = u32::try_from(waits(run.child()) - before)?;
    table.section(
        "At rest",
        &["wake-ups a minute", "resident KiB", "of its own KiB", "size of the program KiB"],
    );
    let size = std::fs::metadata(&sidecar)?.len() / 1024;
    let (resident, own) = memory(run.child());
    table.row(
        "`run`, idle",
        &[
            format!("{:.1}", f64::from(woken) / minutes),
            resident.to_string(),
            own.to_string(),
            size.to_string(),
        ],
    );
    for script in &scripts {
        if let Some(child) = script.child() {
            let (resident, own) = memory(child);
            let (resident, own) = (resident.to_string(), own.to_string());
            table.row(&format!("{}, a client alone", script.name()), &["", &resident, &own, ""]);
        }
    }
    table.note(&format!("Over {} s.", time.as_secs()));
    run.end()?;
    Ok(())
}
