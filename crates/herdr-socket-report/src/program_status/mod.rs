//! The terminal of the reported process, which is told what is reported where it
//! is known to read that (OSC 7501) and the pane's socket is not there.

mod known;
mod tty;

use std::fs::File;
use std::io::{self, Write};

use herdr_proto::PaneId;
use herdr_reporter::sidecar::{Activity, LeaseFile, program_status, tell_terminal};
use herdr_reporter::{AgentEvent, Builder, Config, Role};
use herdr_socket_transport::Endpoint;
use rustix::process::getpgrp;
use rustix::termios::{LocalModes, tcgetattr, tcgetpgrp};

use crate::place::Place;
use crate::settings::Settings;

/// A terminal that is told.
pub(crate) struct Terminal(File);

impl Terminal {
    /// The terminal of a process, if it is to be told. Without a process it is
    /// that of whoever started this one.
    pub(crate) fn of(settings: &Settings, place: &Place, process: Option<u32>) -> Option<Self> {
        let config = &settings.config;
        let reports = config.enabled && config.role == Role::Interactive;
        let told = reports
            && known::is_told(settings.program_status, place, |name| std::env::var_os(name));
        let terminal = told.then(|| process.map_or_else(tty::of_caller, tty::of)).flatten();
        terminal.map(Self)
    }

    /// Lets a reporter tell it.
    pub(crate) fn told_by(self, builder: Builder) -> Builder {
        tell_terminal(builder, self)
    }

    /// What stands for a pane's lease where there is no pane: what a supervisor
    /// listens at is named after it and the supervised process.
    pub(crate) fn lease(config: &Config) -> Option<LeaseFile> {
        let pane = PaneId::parse("terminal").ok()?;
        Some(LeaseFile::of_pane(config, &Endpoint::new("/dev/tty", pane)))
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
        if let Err(error) = self.write_all(&bytes) {
            tracing::debug!(%error, "the terminal cannot be told");
        }
    }
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
