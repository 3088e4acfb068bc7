//! Plays recorded traces and flows and says what went otherwise.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use e2e::replay;

/// Replays every trace and flow below some folders: on a fresh model each, in
/// virtual time, or on the server at a socket, on panes it makes there.
#[derive(Parser)]
struct Arguments {
    /// The socket of a running server, which should be otherwise idle.
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Folders (or single files) with traces and flows.
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,
}

#[expect(clippy::print_stdout, reason = "the report is this program's output")]
fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let summary = match &arguments.socket {
        Some(socket) => replay::on_socket(&arguments.dirs, socket)?,
        None => replay::on_model(&arguments.dirs)?,
    };
    for mismatch in &summary.mismatches {
        println!("{mismatch}");
    }
    println!("{summary}");
    Ok(if summary.mismatches.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
