//! `tee`: a proxy before Herdr's socket that shows what goes over it.

mod forward;
mod log;
mod redact;
mod serve;

use std::path::PathBuf;

pub(crate) use serve::run;

/// Show what programs say to Herdr, and what it answers
///
/// Listens at a path of its own, forwards every connection to Herdr's socket as
/// it is, and prints each line: the seconds since the start, the number of the
/// connection, `>` for what a client says or `<` for what the server answers,
/// and the line. Start the program that you want to see with
/// `HERDR_SOCKET_PATH` set to that path. Ctrl-C ends it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where to listen; a new socket, for this user alone
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::FilePath)]
    listen: PathBuf,
    /// Show texts, names of files and ids of sessions by their length alone
    #[arg(long)]
    redact: bool,
    /// Herdr's socket
    ///
    /// By default that of `HERDR_SOCKET_PATH`, of the session `HERDR_SESSION`,
    /// or of the default session.
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::FilePath)]
    socket: Option<PathBuf>,
    /// Forward also to a socket that another user serves
    #[arg(long)]
    allow_foreign_socket: bool,
}
