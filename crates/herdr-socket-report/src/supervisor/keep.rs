//! A guard's life: it holds the pane until the process ends.

use std::fs::File;
use std::io::{self, Write};
use std::time::Duration;

use herdr_reporter::{Ended, LeaseFile, Reporter};
use herdr_socket_transport::Endpoint;
use rustix::stdio::{dup2_stdin, dup2_stdout};

use super::launch::step_aside;
use super::stand_by::StandBy;
use super::watched::Seen;
use super::{Args, Watched, Word, note};
use crate::commands::settings_of;
use crate::control::{Control, Intake};
use crate::exit::Exit;
use crate::input::signals::Signals;
use crate::place::Place;
use crate::settings::Loaded;
use crate::words::agent_of;

/// Between two looks at whether the process is stopped.
const LOOK: Duration = Duration::from_millis(500);
/// Between two looks at it while it is not known yet whose the pane is.
const LOOK_OFTEN: Duration = Duration::from_millis(10);
/// How long the end may take. A guard that starts meanwhile waits longer than
/// that for the lease.
const END: Duration = Duration::from_millis(1500);

/// Watches over a process to its end; or, asked to detach, starts the one that
/// does.
pub(crate) fn keep(args: &Args) -> Exit {
    if args.detach {
        return step_aside().map_or(Exit::Usage, |()| Exit::Fine);
    }
    let Ok(watched) = Watched::inherited(args.of, args.since.clone()) else { return Exit::Usage };
    // Whoever launched us has said by now what is wrong with its settings.
    let agent = args.command.as_ref().and_then(|command| agent_of(command.as_ref()));
    let Ok(loaded) = settings_of(args.settings.clone(), agent) else { return Exit::Usage };
    let place = args.pane.find(|name| std::env::var_os(name));
    let (Ok(Place::Pane(pane)), Ok(signals)) = (place, Signals::hear()) else {
        return Exit::Usage;
    };
    let _ = let_go_of_stdin();
    // A folder that somebody wants to unmount is not held either.
    let _ = std::env::set_current_dir("/");
    let lease = LeaseFile::of_pane(&loaded.settings.config, &pane);
    let guard = Guard { watched, signals, lease };
    if leaves_the_state_to_herdr(&loaded) {
        guard.stand_by(&loaded, &pane)
    } else {
        guard.report(args, loaded, pane)
    }
}

/// Herdr watches the agents that it knows; what they do is its own to say
/// unless somebody wants it otherwise.
fn leaves_the_state_to_herdr(loaded: &Loaded) -> bool {
    let label = herdr_proto::AgentLabel::normalize(&loaded.settings.agent);
    !loaded.named && label.is_some_and(|label| label.is_known())
}

struct Guard {
    watched: Watched,
    signals: Signals,
    lease: LeaseFile,
}

impl Guard {
    /// Reports what control clients say, and that the process is stopped.
    fn report(self, args: &Args, loaded: Loaded, pane: Endpoint) -> Exit {
        let mut builder =
            Reporter::builder(loaded.settings.agent).config(loaded.settings.config).endpoint(pane);
        if let Ok(pid) = u32::try_from(self.watched.pid()) {
            builder = builder.process(pid);
        }
        let reporter = builder.start();
        let intake = Intake::new(reporter.handle());
        if let Some(state) = args.state {
            intake.begin_with(state);
        }
        let mut control = Control::start(self.lease.control_socket(), intake);
        let denied = || reporter.holds_lease(Duration::ZERO) == Some(false);
        if self.wait_for_the_pane(&control, denied) {
            while self.watched.wait(&self.signals, LOOK) == Seen::Nothing {
                reporter.suspended(self.watched.is_stopped());
            }
            note::clear(&self.lease);
        }
        // While the lease is still ours, so that nobody finds a dead socket.
        control.close();
        let ended = reporter.close(END);
        control.finish();
        if ended == Ended::NotReleased { Exit::Unreachable } else { Exit::Fine }
    }

    /// Shows titles and tokens, and leaves the state to Herdr.
    fn stand_by(self, loaded: &Loaded, pane: &Endpoint) -> Exit {
        let pid = u32::try_from(self.watched.pid()).ok();
        let Some(stand_by) = StandBy::start(&loaded.settings, pane, &self.lease, pid) else {
            say(Word::Deferred);
            return Exit::Fine;
        };
        let mut control =
            Control::start(self.lease.control_socket(), Intake::standing_by(stand_by.handle()));
        if self.wait_for_the_pane(&control, || false) {
            while self.watched.wait(&self.signals, LOOK) == Seen::Nothing {}
            note::clear(&self.lease);
        }
        control.close();
        stand_by.close(END);
        control.finish();
        Exit::Fine
    }

    /// Waits until the pane is ours and tells whoever waits for it; false if
    /// it will not be, or there is nothing left to watch over.
    fn wait_for_the_pane(&self, control: &Control, denied: impl Fn() -> bool) -> bool {
        let mut seen = Seen::Nothing;
        while seen == Seen::Nothing {
            // A command waits for this one to start, and for the end of a process
            // that has hardly begun nobody does.
            match control.wait_open(LOOK_OFTEN) {
                None if denied() => {
                    say(Word::Deferred);
                    return false;
                }
                None => seen = self.watched.wait(&self.signals, Duration::ZERO),
                // A pane without a control socket is still worth guarding.
                Some(_) => {
                    let _ = note::write(&self.lease, self.watched.pid());
                    say(Word::Ready);
                    return true;
                }
            }
        }
        say(Word::Gone);
        false
    }
}

/// Says the one word that a launcher waits for, and lets go of the pipe. A
/// launcher that has gone is fine.
fn say(word: Word) {
    let _ = io::stdout().write_all(word.line()).and_then(|()| io::stdout().flush());
    let null = File::options().write(true).open("/dev/null");
    let _ = null.map(|null| dup2_stdout(&null));
}

fn let_go_of_stdin() -> io::Result<()> {
    Ok(dup2_stdin(File::open("/dev/null")?)?)
}
