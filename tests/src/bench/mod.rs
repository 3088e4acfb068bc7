//! Measures what reporting costs. Each row of the table has a peer to compare it with, which
//! is measured in the same run, in turns with it.
//!
//! The benchmark starts its own server and runs in one of its panes as a host does: with the
//! pane's variables and as a child of its shell.

mod busy;
mod commands;
mod continuous;
mod delivery;
mod peer;
mod process;
mod samples;
mod table;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;

use crate::stage::{Share, Stage, sidecar, until};
use table::Table;

/// The time limit for the whole benchmark.
const PATIENCE: Duration = Duration::from_secs(1800);

/// The options of a benchmark in a pane.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whether to measure only a few times, to check that the benchmark works.
    pub quick: bool,
    /// Another pane, on which the clients report that are not reporters.
    pub other: String,
    /// The program of the server.
    pub server: PathBuf,
}

/// Measures on the program that `HERDR_BIN` names, or on `fake-herdr`, and returns the table.
///
/// # Errors
///
/// If a measurement in the pane fails or takes too long.
///
/// # Panics
///
/// If the server does not start.
pub fn run(quick: bool) -> anyhow::Result<String> {
    let server = Stage::program();
    let (stage, other) = (Stage::of(&server, Share::Shared), Stage::of(&server, Share::Shared));
    anyhow::ensure!(stage.has_shell(), "the benchmark needs a pane with a shell");
    let result = stage.folder().join("table");
    let own = std::env::current_exe().context("the path of this program")?;
    // Built here, because cargo may not work with the home folder of the pane.
    sidecar();
    let quick = if quick { " --quick" } else { "" };
    let line = format!(
        "{} --measure {} --other {} --server {}{quick}\n",
        own.display(),
        result.display(),
        other.pane(),
        server.display(),
    );
    stage.call("pane.send_text", &json!({ "pane_id": stage.pane(), "text": line }));
    let ended = until(PATIENCE, || fs::read_to_string(&result).ok());
    let text = ended.context("the benchmark takes too long")?;
    match text.strip_prefix(FAILED) {
        Some(why) => anyhow::bail!("in the pane: {why}"),
        None => Ok(text),
    }
}

/// Measures in this pane and writes the table, or the error, to a file.
///
/// # Errors
///
/// If the file cannot be written.
pub fn measure(options: &Options, result: &PathBuf) -> anyhow::Result<()> {
    let text = tables(options).unwrap_or_else(|why| format!("{FAILED}{why:?}"));
    let beside = result.with_extension("new");
    fs::write(&beside, text)?;
    fs::rename(&beside, result)?;
    Ok(())
}

/// The beginning of a file that has an error and not a table.
const FAILED: &str = "failed: ";

fn tables(options: &Options) -> anyhow::Result<String> {
    let mut table = Table::default();
    delivery::measure(options, &mut table)?;
    commands::measure(options, &mut table)?;
    continuous::measure(options, &mut table)?;
    Ok(table.into_text())
}
