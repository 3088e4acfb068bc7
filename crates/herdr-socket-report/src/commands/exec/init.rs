//! `exec` as the first process of a container. When that process ends, every other process
//! ends, and every process that loses its parent becomes its child.
//!
//! It starts itself once more, and that second process becomes the command as it does
//! everywhere. The first process stays as the parent of the command. Both are in one process
//! group, so the terminal sends its signals to the command directly.

use std::io;
use std::process::exit;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, wait};
use signal_hook::consts::{
    SIGABRT, SIGALRM, SIGCONT, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN,
    SIGTTOU, SIGURG, SIGUSR1, SIGUSR2, SIGVTALRM, SIGWINCH,
};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::raw::WithRawSiginfo;

use crate::input::signals::{ignored_at_the_start, ignores};
use crate::supervisor::ourselves;

const PASSED_ON: [i32; 17] = [
    SIGABRT, SIGALRM, SIGCONT, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN,
    SIGTTOU, SIGURG, SIGUSR1, SIGUSR2, SIGVTALRM, SIGWINCH,
];
/// How long processes that outlive the command may take to end, above all its supervisor.
const LAST: Duration = Duration::from_secs(3);
/// The interval at which they are checked.
const LOOK: Duration = Duration::from_millis(5);

pub(super) fn is_first_process() -> bool {
    std::process::id() == 1
}

/// Runs the command as a child and exits as the child does. Returns only if the child cannot be
/// started.
pub(super) fn stay() -> io::Error {
    let ignored = ignored_at_the_start();
    let heard = PASSED_ON.into_iter().filter(|signal| !ignores(ignored, *signal));
    let signals = match SignalsInfo::<WithRawSiginfo>::new(heard) {
        Ok(signals) => signals,
        Err(error) => return error,
    };
    let command =
        ourselves().and_then(|mut ourselves| ourselves.args(std::env::args_os().skip(1)).spawn());
    let command = match command {
        Ok(command) => Pid::from_child(&command),
        Err(error) => return error,
    };
    thread::spawn(move || pass_on(signals, command));
    let status = loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == command => break status,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return error.into(),
        }
    };
    let end = Instant::now() + LAST;
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(None) if Instant::now() < end => thread::sleep(LOOK),
            Ok(Some(_)) | Err(Errno::INTR) => {}
            // Processes that are left end with this one.
            Ok(None) | Err(_) => exit(code(status)),
        }
    }
}

/// Passes on signals that other processes send. Those of the terminal have already reached the
/// command.
fn pass_on(mut signals: SignalsInfo<WithRawSiginfo>, command: Pid) {
    for signal in &mut signals.forever() {
        let from_a_process = signal.si_code <= 0;
        if let Some(signal) = Signal::from_named_raw(signal.si_signo).filter(|_| from_a_process) {
            let _ = kill_process(command, signal);
        }
    }
}

fn code(status: WaitStatus) -> i32 {
    status.exit_status().or_else(|| Some(128 + status.terminating_signal()?)).unwrap_or(1)
}
