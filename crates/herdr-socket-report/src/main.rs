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
mod exit;
mod input;
mod log;
mod output;
mod place;
mod settings;
mod text;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    cli::Cli::parse().run().into()
}
