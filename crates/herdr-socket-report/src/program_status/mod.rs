//! Reports to the terminal of the reported process (OSC 7501), where the terminal is known to
//! read them and the pane's socket is not available.

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

/// The time limit for writing a one-shot's report to a terminal.
const LIMIT: Duration = Duration::from_millis(500);

/// A terminal that gets reports.
pub(crate) struct Terminal(File);

impl Terminal {
    /// The terminal of a process, if it is to get reports. Without a process it is the terminal
    /// of the process that started this one.
    pub(crate) fn of(settings: &Settings, place: &Place, process: Option<u32>) -> Option<Self> {
        let config = &settings.config;
        let reports = config.enabled && config.role == Role::Interactive;
        let wanted = reports && decide(settings, place).is_ok();
        let terminal = wanted.then(|| process.map_or_else(tty::of_caller, tty::of)).flatten();
        terminal.map(Self)
    }

    /// Whether a command that is run here reports to its terminal, and why.
    pub(crate) fn finding(settings: &Settings, place: &Place) -> String {
        match decide(settings, place) {
            Ok(why) if tty::of_caller().is_none() => {
                format!("gets no reports, because this process has none; {why}")
            }
            Ok(why) => format!("gets reports: {why}"),
            Err(why) => format!("gets no reports: {why}"),
        }
    }

    /// Makes a reporter report to this terminal.
    pub(crate) fn told_by(self, builder: Builder) -> Builder {
        tell_terminal(builder, self)
    }

    /// Takes the place of a pane's lease where there is no pane. The supervisor's socket is
    /// named after it and the supervised process.
    pub(crate) fn lease(config: &Config) -> LeaseFile {
        let pane = PaneId::parse("terminal").expect("a constant that is an id");
        LeaseFile::of_pane(config, &Endpoint::new("/dev/tty", pane))
    }

    /// Reports once what these events amount to. Parts of the agent, such as subagents, are
    /// left out, because no later report would clear them.
    pub(crate) fn tell_once(
        mut self,
        settings: &Settings,
        events: impl IntoIterator<Item = AgentEvent>,
    ) {
        let mut activity = Activity::default();
        for event in events {
            // A refused event has already been reported, or there is no caller to report it to.
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
        // A terminal that is stopped (Ctrl-S) blocks the writer.
        let _ = ended.recv_timeout(LIMIT);
    }
}

fn decide(settings: &Settings, place: &Place) -> Result<String, String> {
    known::decide(settings.program_status, place, |name| std::env::var_os(name))
}

impl Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // With `tostop` set, the terminal stops a background process of its session that writes
        // to it.
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
