//! `demo`: plays a session and shows the pane as it changes.

mod picture;
mod plain;
mod screen;
mod script;
mod stage;
mod view;

use std::time::Duration;

use crate::exit::Exit;
use crate::input::signals::{Second, Signals};
use crate::output::say;
use crate::place::PaneFlags;
use screen::Screen;
use stage::Stage;

/// Play a session and watch the pane change
///
/// A session of thirty events goes through the real reporter and a real socket
/// to a Herdr that is built in, and its pane is drawn as Herdr's sidebar shows
/// it. Where stdout is no terminal, or with --plain, it is told line by line.
/// It takes about twelve seconds, a quarter of that in plain lines, and leaves
/// nothing behind.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Tell it in plain lines, also in a terminal
    #[arg(long)]
    plain: bool,
    /// Play on the pane this runs in, instead of on the built-in Herdr
    #[arg(long)]
    live: bool,
    #[command(flatten)]
    pane: PaneFlags,
}

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
    let signals = match Signals::hear(Second::CountsLater) {
        Ok(signals) => signals,
        Err(error) => {
            say(&format!("signals cannot be heard: {error}"));
            return Exit::Usage;
        }
    };
    let reporter = stage.reporter();
    let screen = Some(()).filter(|()| !args.plain);
    let screen = screen.and_then(|()| Screen::take(&signals, |name| std::env::var(name).ok()));
    match screen {
        Some(screen) => picture::play(&stage, &reporter, &signals, screen),
        None => plain::play(&stage, &reporter, &signals),
    }
    // The cursor is back, so that an impatient person loses nothing.
    signals.end_at_once_next_time();
    let diagnostics = reporter.diagnostics();
    reporter.close(END);
    while let Some(diagnostic) = diagnostics.try_recv() {
        say(&format!("{}: {}", diagnostic.kind.as_str(), diagnostic.detail));
    }
    plain::end(&stage)
}
