//! What reporting costs, beside what others cost.

use std::path::PathBuf;

use clap::Parser;
use e2e::bench::{self, Options};

/// Measures delivery, programs, a flood of events and a reporter at rest in a
/// pane of a server of its own, and prints the table.
///
/// The server is `fake-herdr`, or the program that `HERDR_BIN` names. What is
/// measured is what was built with the same profile as this program.
#[derive(Parser)]
struct Arguments {
    /// Only whether it works: a few of everything
    #[arg(long)]
    quick: bool,
    /// Measure in this pane, and leave the table at this path
    #[arg(long, hide = true, requires = "other", requires = "server")]
    measure: Option<PathBuf>,
    /// The pane of the plain clients
    #[arg(long, hide = true)]
    other: Option<String>,
    /// The server's program
    #[arg(long, hide = true)]
    server: Option<PathBuf>,
}

#[expect(clippy::print_stdout, reason = "the table is this program's output")]
fn main() -> anyhow::Result<()> {
    let Arguments { quick, measure, other, server } = Arguments::parse();
    if let (Some(result), Some(other), Some(server)) = (measure, other, server) {
        bench::measure(&Options { quick, other, server }, &result)
    } else {
        println!("{}", bench::run(quick)?);
        Ok(())
    }
}
