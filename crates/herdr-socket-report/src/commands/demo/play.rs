//! From the stage to the end of the play.

use std::time::Duration;

use super::screen::Screen;
use super::stage::Stage;
use super::{Args, picture, plain};
use crate::exit::Exit;
use crate::input::signals::Signals;
use crate::output::say;

/// Smallest terminal that holds the picture: columns, lines.
const ROOM: (u16, u16) = (30, 6);
/// How long the end may take.
const END: Duration = Duration::from_millis(500);

/// Plays the session.
pub(crate) fn run(args: &Args) -> Exit {
    let stage = match Stage::set(args.live, &args.pane) {
        Ok(stage) => stage,
        Err((exit, why)) => {
            say(&why);
            return exit;
        }
    };
    let signals = match Signals::hear() {
        Ok(signals) => signals,
        Err(error) => {
            say(&format!("signals cannot be heard: {error}"));
            return Exit::Usage;
        }
    };
    let reporter = stage.reporter();
    let screen = Some(()).filter(|()| !args.plain);
    let screen =
        screen.and_then(|()| Screen::take(&signals, ROOM, |name| std::env::var(name).ok()));
    match screen {
        Some(screen) => picture::play(&stage, &reporter, &signals, screen),
        // A reader that went away has seen enough; the end is the same.
        None => drop(plain::play(&stage, &reporter, &signals)),
    }
    // The cursor is back, so that an impatient person loses nothing.
    signals.lose_patience_soon();
    let mut diagnostics = reporter.diagnostics();
    reporter.close(END);
    while let Some(diagnostic) = diagnostics.try_recv() {
        say(&format!("{}: {}", diagnostic.kind.as_str(), diagnostic.detail));
    }
    plain::end(&stage)
}
