//! Real programs in pseudo-terminals behind the panes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use std::process::Child;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle};

use pty_process::Size;
use pty_process::blocking::{Command, Pty};
use rustix::event::{PollFd, PollFlags};

use super::alarm::Alarm;
use super::process;
use super::shared::{Shared, State, environment};

/// The size of a pane in a headless server, in cells.
const ROWS: u16 = 39;
const COLUMNS: u16 = 94;

/// Lines that a terminal keeps above its screen.
const SCROLLBACK: usize = 1000;

/// The programs behind the panes, by the key of the pane.
#[derive(Debug)]
pub(super) struct Terminals {
    command: Vec<OsString>,
    socket: PathBuf,
    server: Weak<Shared>,
    live: BTreeMap<u64, Terminal>,
    /// Threads of programs that are gone.
    leaving: Vec<JoinHandle<()>>,
}

struct Terminal {
    pty: Arc<Pty>,
    child: Arc<Mutex<Child>>,
    pid: u32,
    screen: Arc<Mutex<vt100::Parser>>,
    stop: Arc<Alarm>,
    reader: JoinHandle<()>,
}

impl std::fmt::Debug for Terminal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Terminal").field("pid", &self.pid).finish_non_exhaustive()
    }
}

/// Runs a command behind every pane there is and every one to come.
pub(super) fn run_everywhere(shared: &Arc<Shared>, command: Vec<OsString>) -> io::Result<()> {
    if command.is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the program has no name"));
    }
    let mut state = shared.lock();
    state.terminals = Some(Terminals {
        command,
        socket: shared.path().to_owned(),
        server: Arc::downgrade(shared),
        live: BTreeMap::new(),
        leaving: Vec::new(),
    });
    start_missing(&mut state)
}

/// After something happened to the model: programs for new panes, an end for
/// those of panes that are gone, and what was typed to where it belongs.
pub(super) fn follow(state: &mut State) {
    let Some(terminals) = &mut state.terminals else {
        return;
    };
    let entries = state.model.pane_entries();
    let attached = |key: u64| entries.iter().any(|(pane, .., attached)| *pane == key && *attached);
    let gone: Vec<u64> = terminals.live.keys().copied().filter(|key| !attached(*key)).collect();
    for key in gone {
        if let Some(terminal) = terminals.live.remove(&key) {
            terminals.leaving.push(terminal.end());
        }
    }
    terminals.leaving.retain(|thread| !thread.is_finished());
    for (key, pane, ..) in &entries {
        if let Some(terminal) = terminals.live.get(key) {
            // A program that reads nothing loses what does not fit.
            let _ = { &*terminal.pty }.write_all(&state.model.take_typed(pane));
        }
    }
    // A program that cannot be started leaves its pane without a shell.
    let _ = start_missing(state);
}

/// Before something is asked: what the terminals show and run.
pub(super) fn refresh(state: &mut State) {
    let Some(terminals) = &state.terminals else {
        return;
    };
    for (key, pane, ..) in state.model.pane_entries() {
        let Some(terminal) = terminals.live.get(&key) else {
            continue;
        };
        let shown =
            terminal.screen.lock().unwrap_or_else(PoisonError::into_inner).screen().contents();
        state.model.set_screen(&pane, &shown);
        let foreground = rustix::termios::tcgetpgrp(&*terminal.pty)
            .map(|group| process::of_group(group.as_raw_nonzero().get()));
        state.model.set_processes(&pane, Some(terminal.pid), foreground.unwrap_or_default());
    }
}

/// Ends all programs and their threads.
pub(super) fn end(shared: &Shared) {
    let terminals = shared.lock().terminals.take();
    let Some(terminals) = terminals else {
        return;
    };
    let ending = terminals.live.into_values().map(Terminal::end);
    for thread in ending.chain(terminals.leaving).collect::<Vec<_>>() {
        let _ = thread.join();
    }
}

fn start_missing(state: &mut State) -> io::Result<()> {
    let Some(terminals) = &mut state.terminals else {
        return Ok(());
    };
    for (key, pane, folder, attached) in state.model.pane_entries() {
        if attached {
            continue;
        }
        state.model.attach_terminal(&pane);
        let variables = environment(&state.model, &terminals.socket, &pane).unwrap_or_default();
        let server = terminals.server.clone();
        let terminal = Terminal::start(&terminals.command, &folder, variables, server, key)?;
        terminals.live.insert(key, terminal);
    }
    Ok(())
}

impl Terminal {
    fn start(
        command: &[OsString],
        folder: &str,
        variables: Vec<(String, String)>,
        server: Weak<Shared>,
        key: u64,
    ) -> io::Result<Self> {
        let other = |error: pty_process::Error| io::Error::other(error);
        let (pty, pts) = pty_process::blocking::open().map_err(other)?;
        pty.resize(Size::new(ROWS, COLUMNS)).map_err(other)?;
        rustix::io::ioctl_fionbio(&pty, true)?;
        default_interrupts();
        let mut program = Command::new(&command[0]).args(&command[1..]).current_dir(folder);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("HERDR_") {
                program = program.env_remove(name);
            }
        }
        let child =
            program.envs(variables).env("TERM", "xterm-256color").spawn(pts).map_err(other)?;
        let pid = child.id();
        let pty = Arc::new(pty);
        let child = Arc::new(Mutex::new(child));
        let screen = Arc::new(Mutex::new(vt100::Parser::new(ROWS, COLUMNS, SCROLLBACK)));
        let stop = Arc::new(Alarm::new()?);
        let reader = {
            let (pty, child) = (Arc::clone(&pty), Arc::clone(&child));
            let (screen, stop) = (Arc::clone(&screen), Arc::clone(&stop));
            thread::Builder::new().name(format!("fake-pane-{key}")).spawn(move || {
                let ended = show(&pty, &screen, &stop);
                reap(&child);
                if let Some(server) = server.upgrade().filter(|_| ended) {
                    server.with(|state, now| {
                        let pane =
                            state.model.pane_entries().into_iter().find(|pane| pane.0 == key);
                        pane.map(|(_, pane, ..)| state.model.exit_pane(now, &pane))
                    });
                }
            })?
        };
        Ok(Self { pty, child, pid, screen, stop, reader })
    }

    fn end(self) -> JoinHandle<()> {
        self.stop.ring_for_good();
        let _ = self.child.lock().unwrap_or_else(PoisonError::into_inner).kill();
        self.reader
    }
}

/// Shows what comes from the program until it is over (`true`) or stopped.
fn show(pty: &Pty, screen: &Mutex<vt100::Parser>, stop: &Alarm) -> bool {
    let mut bytes = vec![0; 4096];
    loop {
        let mut ready = [PollFd::new(stop.hear(), PollFlags::IN), PollFd::new(pty, PollFlags::IN)];
        let _ = rustix::event::poll(&mut ready, None);
        if !ready[0].revents().is_empty() {
            return false;
        }
        match { pty }.read(&mut bytes) {
            Ok(0) => return true,
            Ok(read) => {
                screen.lock().unwrap_or_else(PoisonError::into_inner).process(&bytes[..read]);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // What a terminal says when its last program is gone.
            Err(_) => return true,
        }
    }
}

/// A program that let go of its terminal is ended, as a hangup would do.
fn reap(child: &Mutex<Child>) {
    let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = child.kill();
    let _ = child.wait();
}

/// Makes Ctrl-C work in the panes where this process was started in the
/// background, which ignores it and hands that down. What is handled here is at
/// its default in a child; an ignored signal is ignored there too.
fn default_interrupts() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGQUIT] {
        if ignored & (1 << (signal - 1)) != 0 {
            let _ = signal_hook::flag::register(signal, Arc::default());
        }
    }
}
