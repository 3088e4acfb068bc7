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
#[cfg(unix)]
mod direct;
mod exit;
#[cfg(unix)]
mod guard;
mod input;
mod log;
mod output;
mod place;
mod settings;
mod text;
#[cfg(unix)]
mod wait;
mod words;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    match cli::Cli::try_parse() {
        Ok(cli) => cli.run().into(),
        Err(error) => cli::refuse(&error).into(),
    }
}
