//! `completions`: a script for a shell.

use std::io;

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::cli::Cli;
use crate::exit::Exit;
use crate::output::print;

/// Print a completion script for a shell
///
/// For bash: herdr-socket-report completions bash >
/// ~/.local/share/bash-completion/completions/herdr-socket-report
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

/// Prints the script.
pub(crate) fn run(args: &Args) -> Exit {
    let mut script = Vec::new();
    generate(args.shell, &mut Cli::command(), "herdr-socket-report", &mut script);
    print(&script, io::stdout())
}
