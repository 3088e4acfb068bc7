//! One program in a pseudo-terminal: its screen, its input and its end.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::process::Child;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use pty_process::Size;
use pty_process::blocking::{Command, Pty};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, Signal};

use super::process;
use super::waker::Waker;
use crate::model::Row;

/// The size of a pane in a headless server, in cells.
const ROWS: u16 = 39;
const COLUMNS: u16 = 94;

/// The lines that a terminal keeps above its screen.
const SCROLLBACK: usize = 1000;

/// The most bytes that wait for a program that does not read. Further input is lost.
const TYPED_MAX: usize = 1 << 20;

/// How often to check whether the program has ended. Its terminal can stay open when
/// a job that it has left behind holds it.
const CHECK_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// The time that a program has to end after the hangup.
const GRACE: Duration = Duration::from_secs(2);

pub(super) struct Terminal {
    pty: Arc<Pty>,
    pid: u32,
    screen: Arc<Mutex<vt100::Parser>>,
    input: Arc<Input>,
    thread: JoinHandle<()>,
}

impl std::fmt::Debug for Terminal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Terminal").field("pid", &self.pid).finish_non_exhaustive()
    }
}

impl Terminal {
    /// Runs a command as the leader of a session. `name` is the name of the thread that
    /// serves it, which calls `ended` if the program ends by itself.
    pub(super) fn start(
        command: &[OsString],
        folder: &str,
        variables: Vec<(String, String)>,
        name: String,
        ended: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let other = |error: pty_process::Error| io::Error::other(error);
        let (pty, pts) = pty_process::blocking::open().map_err(other)?;
        pty.resize(Size::new(ROWS, COLUMNS)).map_err(other)?;
        rustix::io::ioctl_fionbio(&pty, true)?;
        default_signals();
        let mut program = Command::new(&command[0]).args(&command[1..]).current_dir(folder);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("HERDR_") {
                program = program.env_remove(name);
            }
        }
        let input = Arc::new(Input { typed: Mutex::default(), waker: Waker::new()? });
        let mut child =
            program.envs(variables).env("TERM", "xterm-256color").spawn(pts).map_err(|error| {
                let program = command[0].display();
                io::Error::other(format!("cannot run {program} in {folder}: {error}"))
            })?;
        let pid = child.id();
        let pty = Arc::new(pty);
        let screen = Arc::new(Mutex::new(vt100::Parser::new(ROWS, COLUMNS, SCROLLBACK)));
        let thread = {
            let (pty, screen, input) = (Arc::clone(&pty), Arc::clone(&screen), Arc::clone(&input));
            thread::Builder::new().name(name).spawn(move || {
                let by_itself = run(&mut child, &pty, &screen, &input);
                // The jobs of a program that has ended by itself may stay.
                let foreground = rustix::termios::tcgetpgrp(&*pty).ok().filter(|_| !by_itself);
                hang_up(&mut child, foreground);
                if by_itself {
                    ended();
                }
            })?
        };
        Ok(Self { pty, pid, screen, input, thread })
    }

    /// The process id of the program.
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// The process group in the foreground.
    pub(super) fn foreground(&self) -> Option<i32> {
        rustix::termios::tcgetpgrp(&*self.pty).ok().map(|group| group.as_raw_nonzero().get())
    }

    /// The rows of the screen, whether the program has asked for bracketed pastes, and
    /// whether it uses the alternate screen.
    pub(super) fn shown(&self) -> (Vec<Row>, bool, bool) {
        let parser = self.screen.lock().unwrap_or_else(PoisonError::into_inner);
        let screen = parser.screen();
        let rows = (0..ROWS).map(|row| read_row(screen, row)).collect();
        (rows, screen.bracketed_paste(), screen.alternate_screen())
    }

    /// Queues bytes, which the program gets as fast as it reads.
    pub(super) fn type_bytes(&self, bytes: &[u8]) {
        let mut typed = self.input.lock();
        let room = TYPED_MAX.saturating_sub(typed.len());
        typed.extend_from_slice(&bytes[..bytes.len().min(room)]);
        drop(typed);
        self.input.waker.wake();
    }

    /// Hangs up. The returned thread ends with the program.
    pub(super) fn end(self) -> JoinHandle<()> {
        self.input.waker.wake_forever();
        self.thread
    }
}

/// One row, without blanks at its end. Only the attributes faint and reverse are kept.
fn read_row(screen: &vt100::Screen, row: u16) -> Row {
    let cells: Vec<&vt100::Cell> = (0..COLUMNS)
        .filter_map(|column| screen.cell(row, column))
        .filter(|cell| !cell.is_wide_continuation())
        .collect();
    let plain = |cell: &vt100::Cell| !cell.has_contents() || cell.contents() == " ";
    let end = cells.iter().rposition(|cell| !plain(cell) || cell.inverse()).map_or(0, |at| at + 1);
    let (mut text, mut ansi, mut last) = (String::new(), String::new(), (false, false));
    for cell in &cells[..end] {
        let look = (cell.dim(), cell.inverse());
        if look != last {
            ansi.push_str("\x1b[0m");
            ansi.push_str(if look.0 { "\x1b[2m" } else { "" });
            ansi.push_str(if look.1 { "\x1b[7m" } else { "" });
            last = look;
        }
        let contents = if cell.has_contents() { cell.contents() } else { " " };
        text.push_str(contents);
        ansi.push_str(contents);
    }
    if last != (false, false) {
        ansi.push_str("\x1b[0m");
    }
    text.truncate(text.trim_end().len());
    Row { text, ansi, wrapped: screen.row_wrapped(row) }
}

/// The input that is not written yet, and the waker for new input and for the end.
#[derive(Debug)]
struct Input {
    typed: Mutex<Vec<u8>>,
    waker: Waker,
}

impl Input {
    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.typed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes as much as the terminal accepts without blocking.
    fn write_to(&self, mut pty: &Pty) {
        let mut typed = self.lock();
        while !typed.is_empty() {
            match pty.write(&typed) {
                Ok(written) => _ = typed.drain(..written),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }
}

/// Passes output to the screen and input to the program, until the program has ended
/// (`true`) or is to be ended (`false`).
fn run(child: &mut Child, pty: &Pty, screen: &Mutex<vt100::Parser>, input: &Input) -> bool {
    let mut bytes = vec![0; 4096];
    loop {
        let waits = !input.lock().is_empty();
        let events = if waits { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let mut ready =
            [PollFd::new(input.waker.receiver(), PollFlags::IN), PollFd::new(pty, events)];
        let _ = rustix::event::poll(&mut ready, Some(&CHECK_INTERVAL));
        if !ready[0].revents().is_empty() && input.waker.drain() {
            return false;
        }
        input.write_to(pty);
        match { pty }.read(&mut bytes) {
            Ok(0) => return true,
            Ok(read) => {
                screen.lock().unwrap_or_else(PoisonError::into_inner).process(&bytes[..read]);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if has_ended(child) {
                    return true;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Reading fails when the last program of a terminal is gone.
            Err(_) => return true,
        }
    }
}

/// Ends a program as when its terminal closes: the leader of the session gets a hangup
/// signal, and when it ends, the kernel sends one to the foreground group. Processes
/// that ignore the signal are killed after [`GRACE`]. Background jobs get no signal
/// and may live on.
fn hang_up(child: &mut Child, foreground: Option<Pid>) {
    if !has_ended(child) {
        let _ = rustix::process::kill_process(Pid::from_child(child), Signal::HUP);
        if !within_grace(|| has_ended(child)) {
            let _ = child.kill();
        }
    }
    let _ = child.wait();
    if let Some(group) = foreground
        && !within_grace(|| !process::is_alive(group))
    {
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
}

fn has_ended(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

fn within_grace(mut reached: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + GRACE;
    while !reached() {
        if Instant::now() >= end {
            return false;
        }
        thread::sleep(Duration::from_millis(2));
    }
    true
}

/// Makes Ctrl-C and the hangup work in the panes even if this process was started in
/// the background or by `nohup`, which ignore these signals. A child inherits an
/// ignored signal, but a handled one has its default action there.
fn default_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT};

    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    for signal in [SIGHUP, SIGINT, SIGQUIT] {
        if ignored & (1 << (signal - 1)) != 0 {
            let _ = signal_hook::flag::register(signal, Arc::default());
        }
    }
}
