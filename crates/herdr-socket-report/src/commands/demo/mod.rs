//! `demo`: plays a session and shows the pane as it changes.

mod picture;
mod play;
mod script;
mod stage;

pub(crate) use play::run;

use crate::place::PaneFlags;

/// Play a session and watch the pane change
///
/// A session of thirty events goes through the real reporter and a real socket
/// to a Herdr that is built in, and its pane is drawn as Herdr's sidebar shows
/// one whose settings name all of its parts. Where stdout is not a terminal, or
/// with --plain, it is told line by line. It takes a quarter of a minute, four
/// seconds in plain lines, and leaves nothing behind.
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
