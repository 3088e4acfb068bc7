//! `attach` where there are no Unix sockets: it says so.

use super::Args;
use crate::commands::settings;
use crate::exit::Exit;
use crate::output::say;
use crate::place::Place;

/// Supervises nothing.
pub(crate) fn run(args: Args) -> Exit {
    if let Err(exit) = settings(args.settings) {
        return exit;
    }
    match args.pane.find(|name| std::env::var_os(name)) {
        Ok(Place::Outside(_)) => Exit::Fine,
        Ok(_) => {
            say("connect_failed: panes are reached on Linux and macOS only");
            if args.strict { Exit::Unreachable } else { Exit::Fine }
        }
        Err(wrong) => {
            say(&wrong);
            Exit::Usage
        }
    }
}
