//! Runs random hosts in the panes of one server, and checks what the panes show.

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use e2e::soak;

/// Runs random hosts (run, exec, attach, hooks, nested, suspended) in real panes, kills them,
/// hands the server off and freezes it, and compares each pane with the last report of its
/// host. A pane that shows something else for more than three seconds is a mismatch, unless
/// the server had trouble.
///
/// The server is the fake, or the program that `HERDR_BIN` names.
#[derive(Parser)]
struct Arguments {
    /// How long new hosts are started
    #[arg(long, default_value_t = 120)]
    seconds: u64,
    /// The number of panes; each has its own host
    #[arg(long, default_value_t = 8)]
    panes: usize,
    /// The seed of all random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print what every host does
    #[arg(long)]
    verbose: bool,
}

#[expect(clippy::print_stdout, reason = "the report is this program's output")]
fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let report = soak::run(&soak::Options {
        time: Duration::from_secs(arguments.seconds),
        panes: arguments.panes,
        seed: arguments.seed,
        verbose: arguments.verbose,
    });
    for mismatch in &report.mismatches {
        println!("{mismatch}");
    }
    println!("{report}");
    if report.mismatches.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
