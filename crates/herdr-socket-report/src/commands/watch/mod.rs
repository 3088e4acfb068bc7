//! `watch`: a live view of the agents in all panes.

mod picture;
mod play;
mod table;
mod told;

use std::path::PathBuf;

pub(crate) use play::run;

/// Watch the agents in all panes
///
/// Their states, titles, tokens and workspaces, and how long each state has
/// been seen, read from the server once a second. In a terminal it is drawn in
/// place; elsewhere, or with --json, each change is a line. It outlives the
/// server: while that is away, it waits. Ctrl-C ends it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// One JSON object for each change, and one for each agent at the start
    #[arg(long)]
    json: bool,
    /// Exit 3 if no server is reached at the start, instead of waiting
    #[arg(long)]
    strict: bool,
    /// The server's socket
    ///
    /// By default that of `HERDR_SOCKET_PATH`, of the session `HERDR_SESSION`,
    /// or of the default session.
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::FilePath)]
    socket: Option<PathBuf>,
    /// Look also at a server of another user
    #[arg(long)]
    allow_foreign_socket: bool,
}
