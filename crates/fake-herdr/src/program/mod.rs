//! The program's command line.

mod control;
mod line;
mod paths;
mod serve;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use fake_herdr::{Fault, Profile};

/// A fake Herdr to test integrations against.
#[derive(Debug, Parser)]
#[command(name = "fake-herdr", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve on a socket until `server.stop` or a signal; prints `ready PATH`
    Serve(Serve),
    /// Start as `herdr server` does, from the same variables
    Server,
}

#[derive(Debug, Args)]
struct Serve {
    /// Where to listen
    #[arg(long, value_name = "PATH")]
    socket: PathBuf,
    /// How many panes the first tab has, up to 200
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u8).range(..=200))]
    panes: u8,
    /// The protocol number, which chooses the newest known server that has it
    #[arg(long, value_name = "P", default_value_t = 20)]
    protocol: u64,
    /// The server to behave as: 0.8.2, 0.9.0, 0.9.3 or tuios
    #[arg(long, value_name = "NAME", conflicts_with = "protocol")]
    profile: Option<Profile>,
    /// Misbehave from the start, such as half-line, late:500 or
    /// refuse:METHOD:CODE; may be given more than once
    #[arg(long, value_name = "F")]
    fault: Vec<Fault>,
    /// Run $SHELL in every pane, or this program
    #[cfg(feature = "pty")]
    #[arg(long, value_name = "PROGRAM", num_args = 0..=1, default_missing_value = "")]
    shell: Option<std::ffi::OsString>,
}

#[expect(clippy::print_stderr, reason = "a program reports its errors there")]
pub(crate) fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Serve(settings) => serve::serve(&settings),
        Command::Server => paths::from_environment().and_then(|path| serve::server(&path)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fake-herdr: {error:#}");
            ExitCode::FAILURE
        }
    }
}
