//! What reporting costs, in one table: each row beside its peer, in turns with
//! it, in the same run.
//!
//! A pane of a server of its own is opened, and what is measured runs there, as
//! a host does: with the pane's variables and as a child of its shell.

mod busy;
mod commands;
mod delivery;
mod peer;
mod process;
mod samples;
mod standing;
mod table;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;

use crate::stage::{Share, Stage, sidecar, until};
use table::Table;

/// How long all of it may take.
const PATIENCE: Duration = Duration::from_secs(1800);

/// What is measured in the pane.
#[derive(Debug, Clone)]
pub struct Options {
    /// Only whether it works: a few of everything.
    pub quick: bool,
    /// Another pane, for the clients that are not a reporter.
    pub other: String,
    /// The server's program.
    pub server: PathBuf,
}

/// Measures on the program that `HERDR_BIN` names, or on `fake-herdr`, and gives
/// the table.
///
/// # Errors
///
/// What went wrong in the pane.
///
/// # Panics
///
/// If the server does not start.
pub fn run(quick: bool) -> anyhow::Result<String> {
    let server = Stage::program();
    let (stage, other) = (Stage::of(&server, Share::Shared), Stage::of(&server, Share::Shared));
    anyhow::ensure!(stage.has_shell(), "what is measured needs a pane with a shell");
    let result = stage.folder().join("table");
    let own = std::env::current_exe().context("the path of this program")?;
    // Built before, so that the pane's home need not be a builder's.
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
    let text = ended.context("it takes too long in the pane")?;
    match text.strip_prefix(FAILED) {
        Some(why) => anyhow::bail!("in the pane: {why}"),
        None => Ok(text),
    }
}

/// Measures in this pane, and leaves the table, or why there is none, at a path.
///
/// # Errors
///
/// If it cannot be written.
pub fn measure(options: &Options, result: &PathBuf) -> anyhow::Result<()> {
    let text = tables(options).unwrap_or_else(|why| format!("{FAILED}{why:?}"));
    let beside = result.with_extension("new");
    fs::write(&beside, text)?;
    fs::rename(&beside, result)?;
    Ok(())
}

/// The first word of a result that is not a table.
const FAILED: &str = "failed: ";

fn tables(options: &Options) -> anyhow::Result<String> {
    let mut table = Table::default();
    delivery::measure(options, &mut table)?;
    commands::measure(options, &mut table)?;
    standing::measure(options, &mut table)?;
    Ok(table.into_text())
}
