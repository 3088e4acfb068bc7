//! Random hosts in the panes of one server, and a checker that counts lies.

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use e2e::soak;

/// Runs random hosts (run, exec, attach, hooks, nested, suspended) in real
/// panes, kills them, hands the server off and freezes it, and compares each
/// pane with what its host last said. A lie is a pane that shows something else
/// for more than three seconds while the server is well.
///
/// The server is the fake, or the program that `HERDR_BIN` names.
#[derive(Parser)]
struct Arguments {
    /// How long hosts come and go
    #[arg(long, default_value_t = 120)]
    seconds: u64,
    /// How many panes there are, each with a host of its own
    #[arg(long, default_value_t = 8)]
    panes: usize,
    /// What the hosts, their words and their ends are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Say what every host does
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
    for lie in &report.lies {
        println!("{lie}");
    }
    println!("{report}");
    if report.lies.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
