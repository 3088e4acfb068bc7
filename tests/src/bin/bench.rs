//! Measures what reporting costs, in comparison with other programs.

use std::path::PathBuf;

use clap::Parser;
use e2e::bench::{self, Options};

/// Measures delivery, commands, many events and an idle reporter, and prints tables.
///
/// It starts its own server, which is `fake-herdr` or the program that `HERDR_BIN` names, and
/// measures in one of its panes. The measured programs have the build profile of this one.
#[derive(Parser)]
struct Arguments {
    /// Measure only a few times, to check that the benchmark works
    #[arg(long)]
    quick: bool,
    /// Measure in this pane, and write the tables to this file
    #[arg(long, hide = true, requires = "other", requires = "server")]
    measure: Option<PathBuf>,
    /// The pane on which the clients report that are not reporters
    #[arg(long, hide = true)]
    other: Option<String>,
    /// The program of the server
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
