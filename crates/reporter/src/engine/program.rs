//! What the engine's shared state says to a terminal.

use std::time::Duration;

use super::Shared;
use super::shared::State;
use crate::activity::Program;
use crate::status::Status;

/// What a terminal should show now.
#[derive(Debug)]
pub(crate) struct ProgramUpdate {
    /// A different number means that something may have changed.
    pub(crate) version: u64,
    /// `None` while there is no state to show.
    pub(crate) program: Option<Program>,
    /// No other update will follow.
    pub(crate) end: bool,
    /// A newer reporter of this process writes to the terminal from now on.
    pub(crate) succeeded: bool,
}

impl Shared {
    /// Whether a terminal may be written to: the reporter has an engine, or is inert only because
    /// it runs outside Herdr.
    pub(crate) fn has_program_status(&self) -> bool {
        let state = self.lock();
        state.active || state.status == Status::NotInHerdr
    }

    /// What the terminal should show; `None` if nothing is new since the `known` version.
    pub(crate) fn program_update(&self, known: Option<u64>) -> Option<ProgramUpdate> {
        let state = self.lock();
        let end = state.is_over();
        if known == Some(state.version) && !end {
            return None;
        }
        let program = state.activity.program(&self.config);
        let program = if state.suspended { program.map(Program::suspended) } else { program };
        let succeeded = state.retired.is_some();
        Some(ProgramUpdate { version: state.version, program, end, succeeded })
    }

    /// Waits until something is new since the `known` version.
    pub(crate) fn wait_program_update(&self, known: Option<u64>, timeout: Duration) {
        self.wait(timeout, |state| (known != Some(state.version) || state.is_over()).then_some(()));
    }
}

impl State {
    /// Whether no more events count: the reporter is closed, has failed, or has a successor.
    fn is_over(&self) -> bool {
        self.close.is_some() || self.retired.is_some() || (self.active && self.ended.is_some())
    }
}
