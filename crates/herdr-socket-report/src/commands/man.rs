//! `man`: prints the manual pages.

use std::io;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::output::{print, say};
use crate::text::shown;

/// Print a manual page, in roff
///
/// Read one with `herdr-socket-report man run | man -l -`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The command it is about, for example `config show`; the whole program
    /// without one
    command: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Exit {
    let mut program = Cli::command();
    program.build();
    let mut command = &program;
    for name in &args.command {
        let Some(found) = command.find_subcommand(name) else {
            say(&format!("there is no command {}", shown(&args.command.join(" "))));
            return Exit::Usage;
        };
        command = found;
    }
    let source = concat!("herdr-socket-report ", env!("CARGO_PKG_VERSION"));
    let mut page = Vec::new();
    // The header has no room for more if a command's name is long. The date is a blank, because
    // an empty one would let the other fields move to its place.
    let manual = Man::new(command.clone()).source(source).manual("Herdr").date(" ");
    match manual.render(&mut page) {
        Ok(()) => print(&page, io::stdout()),
        Err(error) => {
            say(&format!("the manual page cannot be made: {error}"));
            Exit::Usage
        }
    }
}
