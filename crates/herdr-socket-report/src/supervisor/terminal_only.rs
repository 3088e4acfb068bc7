//! The supervisor of a process outside Herdr: it reports to the terminal of that process.

use herdr_reporter::Reporter;
use herdr_reporter::sidecar::suspend;

use super::run::{CHECK, CLOSE_LIMIT, announce, close_stdout, inherited_listener};
use super::watched::WaitOutcome;
use super::{Args, Watched, Word};
use crate::control::{Address, Addresses, Admission, Control, Intake, JobState};
use crate::exit::Exit;
use crate::input::signals::Signals;
use crate::program_status::Terminal;
use crate::settings::Settings;

/// Reports to the terminal until the process ends.
pub(super) fn report_to_terminal(
    args: &Args,
    settings: &Settings,
    terminal: Terminal,
    watched: &Watched,
    signals: &Signals,
) -> Exit {
    let pid = watched.pid().unsigned_abs();
    let lease = Terminal::lease(&settings.config);
    let builder = Reporter::builder(&settings.agent).config(settings.config.clone());
    let reporter = terminal.told_by(builder.environment(|_| None)).start();
    let intake = Intake::new(reporter.handle());
    if let Some(state) = args.state {
        intake.begin_with(state);
    }
    let own = lease.supervisor_socket(pid);
    let begun = inherited_listener(&own);
    let addresses = Addresses { pane: lease.control_socket(), own: Some(own), begun };
    let mut control =
        Control::start(addresses, &intake, Admission::of_supervisor(settings, &lease, pid));
    if args.command.is_some() {
        close_stdout();
    } else {
        let _ = control.wait_open(Address::Own, CLOSE_LIMIT);
        announce(Word::Ready);
    }
    while watched.wait(signals, CHECK) == WaitOutcome::TimedOut {
        suspend(&reporter, watched.job_state() == JobState::Stopped);
    }
    control.close();
    // The records cannot be cleared on a terminal that is gone or stopped.
    let _ = reporter.close(CLOSE_LIMIT);
    control.finish();
    Exit::Fine
}
