//! A supervisor's life where there is no pane: it tells its process's terminal.

use herdr_reporter::Reporter;
use herdr_reporter::sidecar::suspend;

use super::keep::{END, LOOK, handed_over, let_go_of_stdout, say};
use super::watched::Seen;
use super::{Args, Watched, Word};
use crate::control::{Address, Addresses, Control, Door, Intake, Standing};
use crate::exit::Exit;
use crate::input::signals::Signals;
use crate::program_status::Terminal;
use crate::settings::Settings;

/// Hears its process and tells the terminal, to the process's end.
pub(super) fn keep_outside(
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
    let begun = handed_over(&own);
    let addresses = Addresses { pane: lease.control_socket(), own: Some(own), begun };
    let mut control =
        Control::start(addresses, &intake, Door::of_supervisor(settings, &lease, pid));
    if args.command.is_some() {
        let_go_of_stdout();
    } else {
        let _ = control.wait_open(Address::Own, END);
        say(Word::Ready);
    }
    while watched.wait(signals, LOOK) == Seen::Nothing {
        suspend(&reporter, watched.standing() == Standing::Stopped);
    }
    control.close();
    // Of a terminal that is gone or stopped nobody can take anything off.
    let _ = reporter.close(END);
    control.finish();
    Exit::Fine
}
