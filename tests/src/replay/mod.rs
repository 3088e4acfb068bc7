//! Plays recorded traces and flows and compares step for step.
//!
//! A trace is what a Herdr 0.8.2 answered and showed on a fresh pane; a flow is
//! the same with event streams. The formats are described beside the files in
//! `protocol-fixtures`. Replies are compared by id, code and type, panes by the
//! fields that reports can change, streams by the order of their events.

mod compare;
mod run;
mod script;
mod socket;
mod target;
mod virtual_time;

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

pub use run::play;
pub use script::{Script, find, read};
pub use socket::SocketTarget;
pub use target::Target;
pub use virtual_time::VirtualTarget;

/// What a replay came to.
#[derive(Debug, Default)]
pub struct Summary {
    /// Traces and flows played.
    pub traces: usize,
    /// Their steps, every line after the head.
    pub steps: usize,
    /// What was not as recorded.
    pub mismatches: Vec<Mismatch>,
}

impl Summary {
    /// Adds the outcome of another part.
    pub fn add(&mut self, other: Self) {
        self.traces += other.traces;
        self.steps += other.steps;
        self.mismatches.extend(other.mismatches);
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { traces, steps, mismatches } = self;
        write!(f, "{traces} traces, {steps} steps, {} mismatches", mismatches.len())
    }
}

/// One step that did not go as recorded.
#[derive(Debug)]
pub struct Mismatch {
    /// The file.
    pub file: PathBuf,
    /// Its line, from 1.
    pub line: usize,
    /// What was recorded.
    pub expected: String,
    /// What came.
    pub got: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, expected, got } = self;
        write!(f, "{}:{line}: expected {expected}\n    got {got}", file.display())
    }
}

/// Plays every trace and flow below these folders on a fresh model each.
///
/// # Errors
///
/// If a folder cannot be read or a file is no trace and no flow.
pub fn on_model(dirs: &[PathBuf]) -> anyhow::Result<Summary> {
    each(dirs, |script| play(script, &mut VirtualTarget::new()))
}

/// Plays them all on the server at `socket`, one after the other, each on a
/// workspace made for it and removed afterwards.
///
/// # Errors
///
/// As [`on_model`], and if the server cannot be reached.
pub fn on_socket(dirs: &[PathBuf], socket: &Path) -> anyhow::Result<Summary> {
    each(dirs, |script| play(script, &mut SocketTarget::new(socket)))
}

fn each(
    dirs: &[PathBuf],
    mut player: impl FnMut(&Script) -> anyhow::Result<Summary>,
) -> anyhow::Result<Summary> {
    let mut summary = Summary::default();
    for file in find(dirs)? {
        let outcome = read(&file)?.map(|script| player(&script)).transpose();
        if let Some(part) = outcome.with_context(|| format!("while playing {}", file.display()))? {
            summary.add(part);
        }
    }
    anyhow::ensure!(summary.traces > 0, "there is no trace and no flow below {dirs:?}");
    Ok(summary)
}
