//! What a terminal is told, of all that hosts have said.

use std::time::Duration;

use super::Shared;
use super::shared::State;
use crate::activity::Program;
use crate::status::Status;

/// What there is to tell.
#[derive(Debug)]
pub(crate) struct Outlook {
    /// Another number means that something may have changed.
    pub(crate) version: u64,
    /// `None` while there is no state to tell.
    pub(crate) program: Option<Program>,
    /// There will be nothing more.
    pub(crate) end: bool,
    /// A successor in this process tells the terminal from now on.
    pub(crate) succeeded: bool,
}

impl Shared {
    /// Whether a terminal may be told anything: there is somebody to report for,
    /// with a pane of Herdr's or without one.
    pub(crate) fn tells_terminals(&self) -> bool {
        let state = self.lock();
        state.active || state.status == Status::NotInHerdr
    }

    /// What is to be told; `None` if nothing is new since the `known` version.
    pub(crate) fn outlook(&self, known: Option<u64>) -> Option<Outlook> {
        let state = self.lock();
        let end = state.is_over();
        if known == Some(state.version) && !end {
            return None;
        }
        let program = state.activity.program(&self.config);
        let program = if state.suspended { program.map(Program::suspended) } else { program };
        let succeeded = state.retired.is_some();
        Some(Outlook { version: state.version, program, end, succeeded })
    }

    /// Waits until something is new since the `known` version.
    pub(crate) fn wait_news(&self, known: Option<u64>, timeout: Duration) {
        self.wait(timeout, |state| (known != Some(state.version) || state.is_over()).then_some(()));
    }
}

impl State {
    /// Whether hosts have nothing more to say: the reporter is closed, has
    /// failed, or has a successor.
    fn is_over(&self) -> bool {
        self.close.is_some() || self.retired.is_some() || (self.active && self.ended.is_some())
    }
}
