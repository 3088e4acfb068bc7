//! Replays recordings and prints the steps that went differently.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use e2e::replay;

/// Replays every recording below some folders, each on a fresh model in virtual time, or on
/// the server at a socket in a workspace that is created for it.
#[derive(Parser)]
struct Arguments {
    /// The socket of a running server that has nothing else to do
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Folders or single files with recordings
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
