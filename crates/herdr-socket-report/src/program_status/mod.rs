//! The terminal of the reported process, which is told what is reported where it
//! is known to read that (OSC 7501) and the pane's socket is not there.

mod known;
mod tty;

use std::fs::File;
use std::io::{self, Write};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use herdr_proto::PaneId;
use herdr_reporter::sidecar::{Activity, LeaseFile, program_status, tell_terminal};
use herdr_reporter::{AgentEvent, Builder, Config, Role};
use herdr_socket_transport::Endpoint;
use rustix::process::getpgrp;
use rustix::termios::{LocalModes, tcgetattr, tcgetpgrp};

use crate::place::Place;
use crate::settings::Settings;

/// How long a terminal may take what it is told once.
const LIMIT: Duration = Duration::from_millis(500);

/// A terminal that is told.
pub(crate) struct Terminal(File);

impl Terminal {
    /// The terminal of a process, if it is to be told. Without a process it is
    /// that of whoever started this one.
    pub(crate) fn of(settings: &Settings, place: &Place, process: Option<u32>) -> Option<Self> {
        let config = &settings.config;
        let reports = config.enabled && config.role == Role::Interactive;
        let told = reports && told(settings, place).is_ok();
        let terminal = told.then(|| process.map_or_else(tty::of_caller, tty::of)).flatten();
        terminal.map(Self)
    }

    /// Whether a command that is run here tells its terminal, and why.
    pub(crate) fn finding(settings: &Settings, place: &Place) -> String {
        match told(settings, place) {
            Ok(why) if tty::of_caller().is_none() => {
                format!("not told, since this process has none; {why}")
            }
            Ok(why) => format!("told: {why}"),
            Err(why) => format!("not told: {why}"),
        }
    }

    /// Lets a reporter tell it.
    pub(crate) fn told_by(self, builder: Builder) -> Builder {
        tell_terminal(builder, self)
    }

    /// What stands for a pane's lease where there is no pane: what a supervisor
    /// listens at is named after it and the supervised process.
    pub(crate) fn lease(config: &Config) -> LeaseFile {
        let pane = PaneId::parse("terminal").expect("a constant that is an id");
        LeaseFile::of_pane(config, &Endpoint::new("/dev/tty", pane))
    }

    /// Tells it once what these events come to; of parts of the agent nothing is
    /// told, since nobody would take it off.
    pub(crate) fn tell_once(
        mut self,
        settings: &Settings,
        events: impl IntoIterator<Item = AgentEvent>,
    ) {
        let mut activity = Activity::default();
        for event in events {
            // What does not fit has been said, or has nobody to be said to.
            let _ = activity.apply(event);
        }
        let bytes = program_status(&activity, &settings.config, &settings.agent);
        let (ends, ended) = mpsc::channel::<()>();
        thread::spawn(move || {
            let _ends = ends;
            if let Err(error) = self.write_all(&bytes) {
                tracing::debug!(%error, "the terminal cannot be told");
            }
        });
        // A terminal that somebody has stopped blocks whoever writes to it.
        let _ = ended.recv_timeout(LIMIT);
    }
}

fn told(settings: &Settings, place: &Place) -> Result<String, String> {
    known::told(settings.program_status, place, |name| std::env::var_os(name))
}

impl Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // With it set, the terminal stops those of its own session that write to
        // it from the background.
        let behind = tcgetpgrp(&self.0).is_ok_and(|front| front != getpgrp());
        if behind && tcgetattr(&self.0)?.local_modes.contains(LocalModes::TOSTOP) {
            return Err(io::Error::other("the terminal takes nothing from the background"));
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
