//! The sidecar: reports an agent's state to its Herdr pane from event lines.
#![cfg_attr(
    not(unix),
    allow(
        dead_code,
        unused_imports,
        reason = "without sockets only the settings and texts remain"
    )
)]

mod cli;
mod commands;
#[cfg(unix)]
mod control;
mod exit;
mod input;
mod log;
mod output;
mod place;
#[cfg(unix)]
mod program_status;
#[cfg(unix)]
mod reach;
mod settings;
#[cfg(unix)]
mod supervisor;
mod text;
#[cfg(unix)]
mod wait;
mod words;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    #[cfg(unix)]
    let began = std::time::Instant::now();
    // Nobody is to call it, so no help and no completion knows it.
    #[cfg(unix)]
    if let Some(args) = supervisor::asked_for(std::env::args_os()) {
        return supervisor::keep(&args).into();
    }
    let exit = match cli::Cli::try_parse() {
        Ok(cli) => cli.run(),
        Err(error) => cli::refuse(error),
    };
    #[cfg(unix)]
    if cli::is_of_hooks() {
        input::drain_stdin(began);
    }
    exit.into()
}
