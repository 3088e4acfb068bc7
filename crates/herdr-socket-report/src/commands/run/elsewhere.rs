//! `run` where there are no Unix sockets: it says so once and reads its input.

use std::io;

use super::Args;
use crate::commands::settings;
use crate::exit::Exit;
use crate::output::say;
use crate::place::Place;

/// Reads the input to its end.
pub(crate) fn run(args: Args) -> Exit {
    if let Err(exit) = settings(args.settings) {
        return exit;
    }
    let place = match args.pane.find(|name| std::env::var_os(name)) {
        Ok(place) => place,
        Err(wrong) => {
            say(&wrong);
            return Exit::Usage;
        }
    };
    let inside = !matches!(place, Place::Outside(_));
    if inside {
        say("connect_failed: panes are reached on Linux and macOS only");
    }
    // An input that breaks off has ended.
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    if inside && args.strict { Exit::Unreachable } else { Exit::Fine }
}
