//! The sidecar: reports an agent's state to its Herdr pane from event lines.
#![cfg_attr(
    not(unix),
    allow(dead_code, unused_imports, reason = "without sockets only the flags remain")
)]

#[cfg(unix)]
mod cli;
#[cfg(unix)]
mod commands;
#[cfg(unix)]
mod control;
mod exit;
#[cfg(unix)]
mod input;
#[cfg(unix)]
mod log;
mod output;
#[cfg(unix)]
mod picture;
mod place;
#[cfg(unix)]
mod program_status;
#[cfg(unix)]
mod reach;
mod settings;
#[cfg(unix)]
mod supervisor;
mod text;
#[cfg(not(unix))]
mod unsupported;
#[cfg(unix)]
mod wait;
#[cfg(unix)]
mod words;

use std::process::ExitCode;

#[cfg(unix)]
fn main() -> ExitCode {
    use clap::Parser as _;

    let began = std::time::Instant::now();
    if commands::completions::answered() {
        return ExitCode::SUCCESS;
    }
    // Only this program starts a supervisor, so it is not in the help or the completions.
    if let Some(args) = supervisor::arguments(std::env::args_os()) {
        return supervisor::run(&args).into();
    }
    let exit = match cli::Cli::try_parse() {
        Ok(cli) => cli.run(),
        Err(error) => cli::refuse(error),
    };
    if cli::is_hook_command() {
        input::drain_stdin(began);
    }
    exit.into()
}

#[cfg(not(unix))]
fn main() -> ExitCode {
    unsupported::run().into()
}
