//! `exec` where there are no Unix sockets: the command runs, and nothing is
//! reported.

use std::io;
use std::path::Path;
use std::process::Command;

use super::Args;
use crate::commands::settings_that_fit;
use crate::exit::Exit;
use crate::output::say;
use crate::place::Place;
use crate::text::shown;
use crate::words::agent_of;

/// Runs the command and ends as it does.
pub(crate) fn run(args: Args) -> Exit {
    let Some((program, arguments)) = args.command.split_first() else { return Exit::Usage };
    let (_, wrong) = settings_that_fit(args.settings, agent_of(Path::new(program)));
    if let Some(wrong) = wrong {
        say(&wrong);
    }
    match args.pane.find(|name| std::env::var_os(name)) {
        Ok(Place::Outside(_)) => {}
        Ok(_) => say("connect_failed: panes are reached on Linux and macOS only"),
        Err(wrong) => {
            say(&wrong);
            return Exit::Usage;
        }
    }
    match Command::new(program).args(arguments).status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => {
            say(&format!("{}: {error}", shown(&program.to_string_lossy())));
            match error.kind() {
                io::ErrorKind::NotFound => Exit::NotFound,
                _ => Exit::NotExecutable,
            }
        }
    }
}
