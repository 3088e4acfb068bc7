//! `watch`: a live view of the agents in all panes.

mod lines;
mod picture;
mod table;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use herdr_pane_control::Evidence;
use herdr_proto::{PaneId, ProcessInfoGet, SessionSnapshot, Snapshot, strip_controls};
use herdr_socket_transport::{Client, Error, Options, find_socket};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::stdio::stdout;
use tokio::runtime::Runtime;

use crate::exit::{Exit, Stop, say_why, usage};
use crate::input::signals::Signals;
use crate::output::{Outlet, say};
use crate::picture::Screen;
use crate::place::REPLY_MAX;
use crate::wait::runtime;
use table::{Change, Table};

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

/// The interval between two reads.
const INTERVAL: Duration = Duration::from_secs(1);
const FRAME: Duration = Duration::from_millis(250);
/// The time limit for writing the last lines.
const END: Duration = Duration::from_millis(500);
/// The smallest terminal that is drawn on: columns, lines.
const ROOM: (u16, u16) = (30, 4);

/// Watches until a signal arrives or the reader is gone.
pub(crate) fn run(args: &Args) -> Exit {
    say_why(watch(args))
}

fn watch(args: &Args) -> Result<Exit, Stop> {
    let socket = find_socket(args.socket.as_deref(), |name| std::env::var_os(name));
    let watch =
        Watch::begin(&socket.map_err(|wrong| usage(wrong.to_string()))?, args.allow_foreign_socket);
    watch.map_err(|error| usage(format!("the watch cannot begin: {error}")))?.run(args)
}

/// The server's state, and the panes in which only a shell runs.
type Look = (Snapshot, HashSet<PaneId>);

/// Reads the server's state. The processes are read pane by pane, for panes that have an agent
/// on record.
async fn look_at(client: &Client) -> Result<Look, Error> {
    let snapshot = client.call(&SessionSnapshot::default()).await?.snapshot;
    let mut without = HashSet::new();
    for agent in &snapshot.agents {
        // A pane that has just been closed is missing from the next read.
        let reply = client.call(&ProcessInfoGet::new(agent.pane_id.clone())).await;
        let processes = reply.ok().map(|reply| reply.process_info);
        if Evidence::of(Some(agent), processes.as_ref()) == Evidence::OnlyShell {
            without.insert(agent.pane_id.clone());
        }
    }
    Ok((snapshot, without))
}

struct Watch {
    client: Client,
    runtime: Runtime,
    signals: Signals,
    table: Table,
    waiting: Option<String>,
}

impl Watch {
    fn begin(socket: &Path, may_be_foreign: bool) -> io::Result<Self> {
        let options = Options::default().reply_cap(REPLY_MAX);
        let options = options.allow_foreign_socket(may_be_foreign);
        Ok(Self {
            client: Client::new(socket, options),
            runtime: runtime()?,
            signals: Signals::catch()?,
            table: Table::default(),
            waiting: None,
        })
    }

    fn run(self, args: &Args) -> Result<Exit, Stop> {
        let Some(first) = self.look() else { return Ok(Exit::Fine) };
        if args.strict
            && let Err(error) = &first
        {
            return Err(Stop(Exit::Unreachable, error.to_string()));
        }
        match (!args.json).then(|| Screen::take(&self.signals, ROOM)).flatten() {
            Some(screen) => self.draw(screen, first),
            None => self.tell(args.json, first),
        }
        Ok(Exit::Fine)
    }

    /// What the server shows; `None` once a signal has arrived.
    fn look(&self) -> Option<Result<Look, Error>> {
        self.runtime.block_on(async {
            tokio::select! {
                () = self.signals.arrived() => None,
                look = look_at(&self.client) => Some(look),
            }
        })
    }

    fn take(&mut self, look: Result<Look, Error>, now: Instant) -> Vec<Change> {
        match look {
            Ok((snapshot, without_process)) => {
                self.waiting = None;
                self.table.without_process = without_process;
                self.table.take(&snapshot, now)
            }
            Err(error) => {
                self.waiting = Some(strip_controls(&error.to_string()));
                self.table.lose_sight();
                Vec::new()
            }
        }
    }

    fn draw(mut self, mut screen: Screen, first: Result<Look, Error>) {
        let place = format!("at {}", self.client.socket().display());
        let mut look = first;
        loop {
            let looked = Instant::now();
            self.take(look, looked);
            while looked.elapsed() < INTERVAL {
                let (rows, waiting) = (self.table.rows(), self.waiting.as_deref());
                let paper = (screen.room(), screen.colour);
                screen.draw(picture::lines(rows, &place, waiting, paper, Instant::now()));
                if self.signals.arrived_within(FRAME) {
                    return;
                }
                screen.lend_if_stopped(&self.signals);
            }
            let Some(next) = self.look() else { return };
            look = next;
        }
    }

    fn tell(mut self, json: bool, first: Result<Look, Error>) {
        let start = Instant::now();
        let outlet = Outlet::start("stdout", io::stdout());
        let out = outlet.lines();
        let mut look = first;
        loop {
            let now = Instant::now();
            let waited = self.waiting.is_some();
            let changes = self.take(look, now);
            let (text, record) = match &self.waiting {
                Some(why) if !waited => (
                    format!("waiting for the server: {why}"),
                    lines::server_json("waiting", Some(why)),
                ),
                None if waited => {
                    ("the server is back".to_owned(), lines::server_json("back", None))
                }
                _ => Default::default(),
            };
            if !text.is_empty() {
                say(&text);
            }
            if json && !record.is_empty() {
                out.put(&record);
            }
            for change in changes {
                let line = if json { change.json(now) } else { change.plain(now - start, now) };
                out.put(&line);
            }
            if self.signals.arrived_within(INTERVAL) || out.reader_is_gone() || reader_is_gone() {
                break;
            }
            let Some(next) = self.look() else { break };
            look = next;
        }
        outlet.finish(END);
    }
}

/// Whether the reader of a pipe is gone. Without a line to write, nothing else would show that.
fn reader_is_gone() -> bool {
    let out = stdout();
    let mut polled = [PollFd::new(&out, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&now)).is_ok_and(|count| count > 0)
        && polled[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}
