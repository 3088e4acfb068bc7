//! `tee`: a proxy before Herdr's socket that prints what is sent through it.

mod forward;
mod log;
mod redact;

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use herdr_socket_transport::find_socket;
use rustix::net::SocketAddrUnix;
use tokio::net::UnixListener;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::control::{SocketFile, is_ours};
use crate::exit::{Exit, say_why, usage};
use crate::input::signals::Signals;
use crate::output::{Outlet, say};
use crate::wait::runtime;
use forward::{Server, forward};
use log::Log;

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

/// The most connections at a time. Further ones wait in the backlog.
const CONNECTIONS_MAX: usize = 256;
/// The time limit for open connections to end, and then for the log.
const FAREWELL: Duration = Duration::from_millis(200);
/// The pause after a connection could not be accepted.
const AGAIN: Duration = Duration::from_millis(50);

pub(crate) fn run(args: &Args) -> Exit {
    say_why(forward_all(args).map(|()| Exit::Fine).map_err(usage))
}

fn forward_all(args: &Args) -> Result<(), String> {
    let socket = find_socket(args.socket.as_deref(), |name| std::env::var_os(name));
    let socket = socket.map_err(|wrong| wrong.to_string())?;
    let listen = std::path::absolute(&args.listen);
    let named = args.listen.display().to_string();
    let cannot = |error: io::Error| format!("cannot listen at {named:?}: {error}");
    let listen = listen.map_err(cannot)?;
    if is_same(&listen, &socket) {
        return Err(format!("--listen {named:?} is Herdr's own socket; name a new one"));
    }
    let signals = Signals::catch().map_err(|error| format!("signals cannot be heard: {error}"))?;
    let runtime = runtime();
    let runtime = runtime.map_err(|error| format!("there is no runtime: {error}"))?;
    let _inside = runtime.enter();
    SocketAddrUnix::new(listen.as_os_str().as_bytes()).map_err(|_| {
        let length = listen.as_os_str().len();
        format!("cannot listen at {named:?}: the path has {length} bytes, too many for a socket")
    })?;
    let (listener, file) = SocketFile::listen_alone(&listen).map_err(cannot)?;
    let listener = UnixListener::from_std(listener).map_err(cannot)?;
    let (here, there) = (listen.display().to_string(), socket.display().to_string());
    say(&format!("listening at {here:?}, forwarding to {there:?}"));

    let outlet = Outlet::start("log", io::stdout());
    let log = Log::new(outlet.lines(), args.redact);
    let server = Server { socket, may_be_foreign: args.allow_foreign_socket };
    runtime.block_on(async {
        let mut connections = JoinSet::new();
        tokio::select! {
            () = signals.arrived() => {}
            () = accept(&listener, &server, &log, &mut connections) => {}
        }
        drop((listener, file));
        // Lines that are being sent may still arrive.
        let _ = timeout(FAREWELL, async { while connections.join_next().await.is_some() {} }).await;
    });
    match outlet.finish(FAREWELL) {
        0 => {}
        lost => say(&format!("{lost} lines were not read in time and are missing")),
    }
    Ok(())
}

async fn accept(
    listener: &UnixListener,
    server: &Server,
    log: &Log,
    connections: &mut JoinSet<()>,
) {
    let mut number = 0;
    loop {
        tokio::select! {
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            accepted = listener.accept(), if connections.len() < CONNECTIONS_MAX => match accepted {
                Ok((stream, _)) => {
                    number += 1;
                    if is_ours(&stream) {
                        connections.spawn(forward(stream, server.clone(), log.clone(), number));
                    } else {
                        log.note(number, "refused: another user's connection");
                    }
                }
                // Most likely there are no free descriptors. The present connections are still
                // served.
                Err(error) => {
                    tracing::debug!(%error, "a connection cannot be accepted");
                    sleep(AGAIN).await;
                }
            },
        }
    }
}

/// Whether two paths lead to the same file. A proxy to itself would never end.
fn is_same(one: &Path, other: &Path) -> bool {
    let identity = |data: Metadata| (data.dev(), data.ino());
    let file = |path: &Path| fs::metadata(path).ok().map(identity);
    let place = |path: &Path| {
        let folder = fs::metadata(path.parent()?).ok().map(identity)?;
        Some((folder, path.file_name()?.to_owned()))
    };
    (file(one).is_some() && file(one) == file(other))
        || (place(one).is_some() && place(one) == place(other))
}
